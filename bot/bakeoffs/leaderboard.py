"""Leaderboard queries: parse the filter, select the records, count them in a thread."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from bot.bakeoffs.records import garbage_collection_paused
from bot.bakeoffs.render.leaderboard_tables import Coverage, Leaderboard
from bot.coordination.clock import MomentError, parse_moment
from bot.render.formatting import panel_seat_names
from council.bakeoffs.changes import Changes, TrendRun, compare_with_past, share_trend, trend_of
from council.bakeoffs.council_value import measure_council_value
from council.bakeoffs.grade_comparison import answer_grades
from council.bakeoffs.leaderboard import (
    Board,
    JudgeBoard,
    RankedBy,
    build_judge_board,
    find_absences,
)
from council.bakeoffs.leaderboard import build_leaderboard as board_of
from council.bakeoffs.pairwise import MIN_ROUNDS
from council.bakeoffs.ports import BakeoffStores, RecordQuery
from council.bakeoffs.record_arrays import Columns, record_columns
from council.bakeoffs.records import TRIAL, PackedRecord
from council.errors import BakeoffError, CouncilError

# How judges may be weighed in the unofficial leaderboard; `AppContext.research` makes it.
WEIGHTS = ("uniform", "consistency", "human", "family", "peerrank", "independence")
Names = Mapping[str, str]
Choices = Mapping[str, tuple[str, ...]]  # for each filter option


class LeaderboardQueryError(CouncilError):
    """The options of a leaderboard or bias report are not valid."""


@dataclass(frozen=True, slots=True)
class LeaderboardQuery:
    """Which rounds a leaderboard counts, whether it ranks judges, and how judges are weighted.

    Without a version it counts the one that was run last. `scope` None covers every workspace.
    Without `weights` there is only the official count.
    """

    suite: str = ""
    version: str = ""
    panel: str = ""
    category: str = ""
    since: datetime | None = None
    before: datetime | None = None
    as_judge: bool = False
    scope: str | None = None
    weights: str = ""

    @property
    def wanted(self) -> RecordQuery:
        """Return the query for its records, of every version of the suite."""
        return RecordQuery(
            scope=self.scope,
            suite=self.suite,
            panel=self.panel,
            category=self.category,
            since=self.since,
            before=self.before,
        )


def parse_query(options: Mapping[str, str], now: datetime) -> LeaderboardQuery:
    """Parse options of a command, a form or a URL; empty options are ignored.

    They are suite (`sql` or `sql@3f2a`), version, panel, category, since, until, as and weights.
    Raise LeaderboardQueryError if one is not valid.
    """
    view = (options.get("as") or "author").lower()
    if view not in {"author", "judge"}:
        raise LeaderboardQueryError(
            f"A leaderboard ranks models as:author or as:judge, not as:{view}."
        )
    weights = options.get("weights", "").strip().lower()
    if weights not in {"", *WEIGHTS}:
        raise LeaderboardQueryError(
            f"Judges can be weighted by {', '.join(WEIGHTS)}, not by {weights[:20]!r}."
        )
    suite, _, version = options.get("suite", "").partition("@")
    since, until = options.get("since", ""), options.get("until", "")
    return LeaderboardQuery(
        suite.strip(),
        version.strip().lower() or options.get("version", "").strip().lower(),
        options.get("panel", ""),
        options.get("category", ""),
        parse_since(since, now) if since else None,
        parse_until(until, now) if until else None,
        as_judge=view == "judge",
        weights=weights,
    )


def parse_since(text: str, now: datetime) -> datetime:
    """Parse the start of a time window; raise LeaderboardQueryError if the text is not valid."""
    try:
        return parse_moment(text, now)
    except MomentError as error:
        raise LeaderboardQueryError(str(error)) from None


def parse_until(text: str, now: datetime) -> datetime:
    """Parse the end of a time window; a date means the end of that day. Raise likewise."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return parse_since(text, now)
    return datetime.combine(day, time(), UTC) + timedelta(days=1)


def select_records(
    records: Sequence[PackedRecord], query: LeaderboardQuery
) -> tuple[Sequence[PackedRecord], Coverage]:
    """Return the records that count, oldest first, and a summary of what they cover.

    Only one version of a suite counts: the one in the query, else the one that was run last.
    """
    version, counted, left_out = query.version, [*records], Counter[str]()
    if query.suite:
        left_out.update(record.suite_version for record in records)
        held = records[-1].suite_version if records else ""
        version = next((one for one in left_out if version and one.startswith(version)), version)
        version = version or held
        counted = [record for record in records if record.suite_version == version]
        left_out.pop(version, None)
    suites = Counter((record.suite, record.suite_version) for record in counted)
    return counted, Coverage(
        rounds=len(counted),
        suite=query.suite,
        version=version,
        panel=query.panel,
        category=query.category,
        first=counted[0].asked_at if counted else None,
        last=counted[-1].asked_at if counted else None,
        panels=tuple(sorted({record.panel for record in counted})),
        suites=tuple((*key, number) for key, number in sorted(suites.items())),
        left_out=tuple(left_out.items()),
        since=query.since,
        before=query.before,
    )


def filter_choices(every: Sequence[PackedRecord], suite: str = "") -> Choices:
    """Return the choices for each filter option; versions and categories are those of a suite."""
    kinds = {(x.suite, x.suite_version, x.panel, x.category) for x in every}
    choices = {
        "suite": {name for name, _, _, _ in kinds},
        "version": {v for name, v, _, _ in kinds if suite and name == suite},
        "panel": {panel for _, _, panel, _ in kinds},
        "category": {c for name, _, _, c in kinds if suite in {"", name}},
    }
    return {name: tuple(sorted(values - {""})) for name, values in choices.items()}


async def load_leaderboard(
    stores: BakeoffStores, query: LeaderboardQuery, names: Names
) -> Leaderboard:
    """Return the leaderboard of a query; without rows if no round matches."""
    with garbage_collection_paused():
        records = await stores.records.list_recent(query.wanted)
        board = await asyncio.to_thread(count_records, records, query, names)
        return await _with_candidates(stores, records, board)


async def load_leaderboard_page(
    stores: BakeoffStores, query: LeaderboardQuery, names: Names
) -> tuple[Leaderboard, Choices]:
    """Return the leaderboard of a query, and the choices for each filter option."""
    with garbage_collection_paused():
        every = await stores.records.list_recent(RecordQuery(scope=query.scope))
        board, choices = await asyncio.to_thread(_page, every, query, names)
        return await _with_candidates(stores, every, board), choices


async def _with_candidates(
    stores: BakeoffStores, records: Sequence[PackedRecord], board: Leaderboard
) -> Leaderboard:
    """Return a board with the names of models that no panel has, from the trials that asked them.

    The newest trial names a model.
    """
    names = dict(board.names)
    nameless = {line.member for line in board.board.rows} - {*names}
    trials = dict.fromkeys(x.bakeoff for x in reversed(records) if x.panel.endswith(TRIAL))
    for id_ in trials if nameless else ():
        with suppress(BakeoffError):  # it was deleted
            found = panel_seat_names([(await stores.bakeoffs.load(id_)).panel])
            for key in nameless & {*found}:
                is_taken = found[key] in names.values()
                names[key] = f"{found[key]} ({key})" if is_taken else found[key]
            nameless -= {*found}
    return replace(board, names=names)


def _page(
    every: Sequence[PackedRecord], query: LeaderboardQuery, names: Names
) -> tuple[Leaderboard, Choices]:
    wanted = query.wanted
    is_all = wanted == RecordQuery(scope=query.scope)
    records = every if is_all else [record for record in every if wanted.admits(record)]
    board = count_records(records, query, names)
    return board, filter_choices(every, query.suite)


def count_records(
    records: Sequence[PackedRecord], query: LeaderboardQuery, names: Names
) -> Leaderboard:
    """Count records, oldest first, into a leaderboard; slow if there are many."""
    kept, coverage = select_records(records, query)
    arrays = record_columns(kept)
    is_one_suite = len({suite for suite, _, _ in coverage.suites if suite}) == 1
    board = board_of(arrays, 0 if query.suite else MIN_ROUNDS)
    return Leaderboard(
        coverage,
        board,
        build_judge_board(arrays) if query.as_judge else JudgeBoard((), 0),
        measure_council_value(arrays),
        _trend(arrays, board) if is_one_suite else (),
        _changes_since_earlier_runs(kept) if query.suite else None,
        names,
        absences=find_absences(arrays),
    )


def _trend(columns: Columns, board: Board) -> tuple[TrendRun, ...]:
    """Return the newest runs by what the board is ranked by."""
    if board.ranked_by is RankedBy.GRADES:
        return trend_of(columns, answer_grades(columns))
    return share_trend(columns)


def _changes_since_earlier_runs(records: Sequence[PackedRecord]) -> Changes | None:
    """Return what changed from earlier runs to the newest; None with fewer than two runs."""
    of_runs = [x for x in records if x.bakeoff and not x.panel.endswith(TRIAL)]
    newest = next(reversed(dict.fromkeys(record.bakeoff for record in of_runs)), "")
    now = [record for record in of_runs if record.bakeoff == newest]
    return compute_changes(now, [record for record in of_runs if record.bakeoff != newest])


def compute_changes(now: Sequence[PackedRecord], before: Sequence[PackedRecord]) -> Changes | None:
    """Return what changed; None if there is nothing to compare."""
    if not now or not before:
        return None
    return compare_with_past(record_columns(now), record_columns(before))
