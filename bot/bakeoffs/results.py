"""What a bake-off came to: its leaderboard, what changed since the runs before, and its rounds."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.bakeoffs.boards import changed, counted
from bot.bakeoffs.house import House
from bot.bakeoffs.keeping import records_up_to_date
from bot.bakeoffs.sought import Sought
from bot.chat import Post, Thread
from bot.observability.logs import unforeseen
from bot.render.bakeoffs import failure_post, result_thread, title_of
from bot.render.formatting import known_names
from bot.render.leaderboard import board_thread, picture_of
from bot.render.leaderboard_tables import Leaderboard
from bot.render.leaderboard_text import delta_post
from council.bakeoffs.models import Bakeoff, Progress, Schedule
from council.bakeoffs.ports import WantedRecords
from council.bakeoffs.records import Packed
from council.ports import Wanted
from council.rounds import Round


@dataclass(frozen=True, slots=True)
class Result:
    """What is told at the end; `news` is a message of its own, None where nothing changed."""

    thread: Thread
    news: Post | None = None


async def board_of(house: House, bakeoff: Bakeoff) -> Leaderboard:
    """Give the leaderboard of one bake-off's rounds, compared with the runs before it."""
    await records_up_to_date(house)
    now = await records_of(house, bakeoff)
    before = await _before(house, bakeoff)
    suite = bakeoff.suite
    sought = Sought(suite.name, suite.version, bakeoff.panel.name, scope=bakeoff.place.scope)
    names = known_names((*house.panels.values(), bakeoff.panel))
    board = await asyncio.to_thread(counted, now, sought, names)
    return replace(board, changes=await asyncio.to_thread(changed, now, before))


async def records_of(house: House, bakeoff: Bakeoff) -> Sequence[Packed]:
    """Give the records of a bake-off's rounds."""
    return await house.bench.records.recent(WantedRecords(bakeoff=bakeoff.id))


async def _before(house: House, bakeoff: Bakeoff) -> Sequence[Packed]:
    """Give the records of earlier runs of the same suite, in this version, by the same panel."""
    wanted = WantedRecords(
        scope=bakeoff.place.scope,
        suite=bakeoff.suite.name,
        suite_version=bakeoff.suite.version,
        panel=bakeoff.panel.name,
        before=bakeoff.at,
    )
    found = await house.bench.records.recent(wanted)
    return [record for record in found if record.bakeoff not in {"", bakeoff.id}]


async def result_of(
    house: House, progress: Progress, *, pictured: bool = False, linked: bool = False
) -> Result:
    """Give the result as it is posted; a board that cannot be made costs nobody the rest."""
    bakeoff = progress.bakeoff
    try:
        board = await board_of(house, bakeoff)
        picture = await _picture(board) if pictured else b""
        news = await _news(house, bakeoff, board) if progress.is_whole else None
    # What was paid for must be told, whatever is wrong with how it is counted.
    except Exception as error:  # noqa: BLE001
        unforeseen("board_failed", error, bakeoff_id=bakeoff.id)
        return Result(result_thread(progress, None, linked=linked))
    shown = board_thread(board, picture) if board.board.rows else None
    return Result(result_thread(progress, shown, linked=linked), news)


async def _picture(board: Leaderboard) -> bytes:
    return await asyncio.to_thread(picture_of, board) if board.board.rows else b""


async def _news(house: House, bakeoff: Bakeoff, board: Leaderboard) -> Post | None:
    """Give what changed, for those who subscribed to its schedule; None where nothing did."""
    if not bakeoff.schedule or not board.changes or not board.changes.is_news:
        return None
    schedule = await _schedule(house, bakeoff)
    title = schedule.name if schedule else title_of(bakeoff)
    subscribers = schedule.subscribers if schedule else ()
    return delta_post(board.changes, board.names, title, subscribers)


async def failure_of(house: House, progress: Progress, why: str) -> Post:
    """Give why a bake-off ended early as a post of its own, as loud as news."""
    schedule = await _schedule(house, progress.bakeoff)
    return failure_post(progress, why, schedule.subscribers if schedule else ())


async def _schedule(house: House, bakeoff: Bakeoff) -> Schedule | None:
    """Give the schedule that a bake-off is of; None for one that is of none, or of one removed."""
    if not bakeoff.schedule:
        return None
    schedules = await house.bench.schedules.every()
    return next((one for one in schedules if one.id == bakeoff.schedule), None)


async def closed_rounds(house: House, bakeoff: Bakeoff) -> tuple[Round, ...]:
    """Give the rounds that are over, in the order of the suite."""
    lines = await house.store.recent(wanted=Wanted(bakeoff=bakeoff.id))
    there = {line.id for line in lines if line.seconds is not None}
    ids = map(bakeoff.round_id, range(1, len(bakeoff.suite.questions) + 1))
    return tuple([await house.store.load(id_) for id_ in ids if id_ in there])


def shares_in(round_: Round) -> dict[str, float]:
    """Give each ranked member's share in one round."""
    if not round_.tally or not round_.draw:
        return {}
    author_of = round_.draw.labels.author_of
    return {
        author_of(line.label): line.share
        for line in round_.tally.standings
        if line.share is not None
    }
