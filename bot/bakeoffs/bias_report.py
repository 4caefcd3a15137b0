"""Bias reports: measure how biased the judges are, in a thread, and prepare them for display.

Also how much the judges' errors correlate, which the verdicts of new rounds assume.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.bakeoffs.leaderboard import (
    Choices,
    LeaderboardQuery,
    LeaderboardQueryError,
    filter_choices,
    parse_query,
)
from bot.bakeoffs.parts import MeasureBias, bakeoff_stores
from bot.bakeoffs.records import Report, garbage_collection_paused, log_uncounted, update_votes
from bot.bakeoffs.render.bias_tables import BiasView, make_bias_view
from bot.bakeoffs.render.leaderboard_tables import Coverage, Leaderboard
from bot.context import AppContext
from bot.plugins import RecordSources
from council.bakeoffs.bias.chairmen import chairman_biases
from council.bakeoffs.bias.measurement import measure_bias
from council.bakeoffs.bias.report import BiasReport
from council.bakeoffs.bias.shared_error import (
    MIN_ROUNDS,
    estimate_rho,
    graded_rounds,
    grades_by_round,
)
from council.bakeoffs.bias.verdict_value import preferred_answers, verdict_values
from council.bakeoffs.bias.vote_arrays import vote_blocks
from council.bakeoffs.ports import ALL_RECORDS, RecordQuery
from council.bakeoffs.record_arrays import record_columns
from council.bakeoffs.records import PackedRecord
from council.errors import StoreError
from council.tally.chance_rule import DEFAULT_RULE, ChanceRule

SETTLED_SECONDS, DAY_SECONDS = 60, 24 * 3600  # the first rounds after a start do not wait for it


async def bias_report(
    sources: RecordSources, query: RecordQuery = ALL_RECORDS, tell: Report = log_uncounted
) -> BiasReport:
    """Return the bias of every judge over the closed rounds that match the query.

    Missing votes are stored first; `tell` gets a line for each round whose votes cannot be. If no
    round matches, the report has no judges.
    """
    await update_votes(sources, tell)
    return await _measure_stored(sources, query)


async def _measure_stored(sources: RecordSources, query: RecordQuery) -> BiasReport:
    with garbage_collection_paused():
        votes = await bakeoff_stores(sources).votes.list_recent(query)
        records = await bakeoff_stores(sources).records.list_recent(query)
        preferred = preferred_answers(await sources.store.votes())
        return await asyncio.to_thread(_measure, votes, records, preferred)


def _measure(
    votes: Sequence[PackedRecord], records: Sequence[PackedRecord], preferred: Mapping[str, str]
) -> BiasReport:
    columns = record_columns(records)
    return replace(
        measure_bias(vote_blocks(votes)),
        verdicts=verdict_values(columns, preferred),
        chairmen=chairman_biases(columns, preferred),
    )


def parse_bias_query(options: Mapping[str, str], now: datetime) -> LeaderboardQuery:
    """Parse the options suite, panel, category, since and until; raise LeaderboardQueryError."""
    query = parse_query(options, now)
    if query.version:
        raise LeaderboardQueryError(
            "Bias is measured over every version of a suite. Name the suite without a version."
        )
    return query


async def load_bias(
    sources: RecordSources, query: LeaderboardQuery, names: Mapping[str, str], measure: MeasureBias
) -> BiasView:
    """Return the bias report of a query, ready for display."""
    report = await measure(sources, query.wanted)
    coverage = Coverage(
        rounds=report.rounds,
        suite=query.suite,
        panel=query.panel,
        category=query.category,
        since=query.since,
        before=query.before,
    )
    return make_bias_view(report, coverage, names)


async def mark_biased_judges(
    sources: RecordSources, query: LeaderboardQuery, board: Leaderboard
) -> Leaderboard:
    """Return a leaderboard of judges that marks those which its bias report finds biased.

    It does not wait for votes that are still missing.
    """
    if not query.as_judge:
        return board
    report = await _measure_stored(sources, query.wanted)
    biased = frozenset(judge.judge for judge in report.judges if judge.is_position_biased)
    return replace(board, biased=biased)


async def load_bias_page(
    sources: RecordSources, query: LeaderboardQuery, names: Mapping[str, str], measure: MeasureBias
) -> tuple[BiasView, Choices]:
    """Return the bias report of a query, and the choices for each filter option."""
    found = await load_bias(sources, query, names, measure)
    every = await bakeoff_stores(sources).records.list_recent(RecordQuery(scope=query.scope))
    return found, filter_choices(every, query.suite)


async def estimate_shared_error(sources: RecordSources) -> float | None:
    """Return ρ from all graded rounds; None if they are too few, and then the default stands."""
    records = await bakeoff_stores(sources).records.list_recent()
    grades = await asyncio.to_thread(grades_by_round, records)
    if len(grades) < MIN_ROUNDS:
        return None
    votes = await bakeoff_stores(sources).votes.list_recent()
    return await asyncio.to_thread(lambda: estimate_rho(graded_rounds(grades, votes)))


async def measure_shared_error_daily(
    app: AppContext, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Set the ρ of new rounds a minute after the start and then once a day, until cancelled."""
    wait = SETTLED_SECONDS
    while True:
        await sleep(wait)
        wait = DAY_SECONDS
        try:
            rho = await estimate_shared_error(app)
        except StoreError as error:
            log_uncounted(str(error))
            continue
        app.chance_rule = DEFAULT_RULE if rho is None else ChanceRule(rho=rho)
