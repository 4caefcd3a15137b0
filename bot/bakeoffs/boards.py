"""The leaderboard of the rounds that are wanted, counted beside the event loop."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.bakeoffs.choosing import choices_of, chosen
from bot.bakeoffs.sought import Sought
from bot.bakeoffs.uncollected import uncollected
from bot.render.leaderboard_tables import Leaderboard
from council.bakeoffs.changes import Changes, changes, trend
from council.bakeoffs.council_value import worth
from council.bakeoffs.leaderboard import JudgeBoard, judge_board
from council.bakeoffs.leaderboard import leaderboard as board_of
from council.bakeoffs.ports import Bench, WantedRecords
from council.bakeoffs.record_arrays import columns
from council.bakeoffs.records import Packed

Names = Mapping[str, str]

NO_JUDGES = JudgeBoard((), 0)


@dataclass(frozen=True, slots=True)
class Shelf:
    """A leaderboard, and by option what other ones can be chosen from."""

    shown: Leaderboard
    choices: Mapping[str, tuple[str, ...]]


async def leaderboard(
    bench: Bench, sought: Sought, names: Names, *, whole: bool = True
) -> Leaderboard:
    """Give the leaderboard that is sought; one without rows where no round fits.

    Where it need not be whole, one of authors has no judges.
    """
    with uncollected():
        records = await bench.records.recent(sought.wanted)
        return await asyncio.to_thread(counted, records, sought, names, whole=whole)


async def shelf(bench: Bench, sought: Sought, names: Names) -> Shelf:
    """Give the leaderboard that is sought, and what there is to choose from."""
    with uncollected():
        every = await bench.records.recent(WantedRecords(scope=sought.scope))
        return await asyncio.to_thread(_shelf, every, sought, names)


def _shelf(every: Sequence[Packed], sought: Sought, names: Names) -> Shelf:
    wanted = sought.wanted
    is_all = wanted == WantedRecords(scope=sought.scope)
    records = every if is_all else [record for record in every if wanted.admits(record)]
    return Shelf(counted(records, sought, names, whole=False), choices_of(every, sought.suite))


def counted(
    records: Sequence[Packed], sought: Sought, names: Names, *, whole: bool = True
) -> Leaderboard:
    """Give the leaderboard of records, oldest first; it takes a moment where they are many."""
    kept, coverage = chosen(records, sought)
    arrays = columns(kept)
    return Leaderboard(
        coverage,
        board_of(arrays),
        judge_board(arrays) if whole or sought.as_judge else NO_JUDGES,
        worth(arrays),
        trend(arrays) if len({suite for suite, _, _ in coverage.suites if suite}) == 1 else (),
        _news_of(kept) if sought.suite else None,
        names,
    )


def _news_of(records: Sequence[Packed]) -> Changes | None:
    """Give what changed from the runs before to the newest; None with fewer than two runs."""
    runs = dict.fromkeys(record.bakeoff for record in records if record.bakeoff)
    if len(runs) < 2:  # noqa: PLR2004
        return None
    newest = [*runs][-1]
    now = [record for record in records if record.bakeoff == newest]
    return changed(now, [record for record in records if record.bakeoff not in {newest, ""}])


def changed(now: Sequence[Packed], before: Sequence[Packed]) -> Changes | None:
    """Give what changed; None where there is nothing to compare."""
    return changes(columns(now), columns(before)) if now and before else None
