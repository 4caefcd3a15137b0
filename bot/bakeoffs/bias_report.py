"""The bias of judges over the rounds that are wanted, counted beside the event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.bakeoffs.leaderboard import (
    LeaderboardQuery,
    LeaderboardQueryError,
    choices_of,
    parse_query,
)
from bot.bakeoffs.records import RecordSources, Tell, logged, uncollected, votes_up_to_date
from bot.render.bias_view import ShownBias, shown
from bot.render.leaderboard_tables import Coverage
from council.bakeoffs.ports import EVERY_RECORD, RecordQuery
from council.bias.measurement import measured
from council.bias.report import BiasReport
from council.bias.vote_arrays import blocks

# --- The bias of judges over the rounds that are wanted, counted beside the event loop.


async def bias_report(
    parts: RecordSources, wanted: RecordQuery = EVERY_RECORD, tell: Tell = logged
) -> BiasReport:
    """Give the bias of every judge over the closed rounds that are wanted.

    Of rounds that are not counted yet the numbers are made first; `tell` hears of those that
    cannot be. Where no round fits, the report has no judges.
    """
    await votes_up_to_date(parts, tell)
    with uncollected():
        kept = await parts.bakeoff_stores.votes.recent(wanted)
        return await asyncio.to_thread(lambda: measured(blocks(kept)))


# --- Bias as people are shown it: the rounds that are meant, measured, and what there is to choos

Names = Mapping[str, str]
Measure = Callable[[RecordSources, RecordQuery], Awaitable[BiasReport]]


@dataclass(frozen=True, slots=True)
class BiasPage:
    """Bias as it is shown, and by option what other rounds can be chosen."""

    shown: ShownBias
    choices: Mapping[str, tuple[str, ...]]


def bias_sought(given: Mapping[str, str], now: datetime) -> LeaderboardQuery:
    """Return the query that the options suite, panel, category, since and until mean."""
    sought = parse_query(given, now)
    if sought.version:
        raise LeaderboardQueryError(
            "Bias is measured over every version of a suite: name the suite without a version."
        )
    return sought


async def shown_bias(
    parts: RecordSources, sought: LeaderboardQuery, names: Names, measure: Measure
) -> ShownBias:
    """Give the bias of judges over the rounds that are sought; a sentence where none fits."""
    report = await measure(parts, sought.wanted)
    return shown(report, _coverage(sought, report.rounds), names)


async def bias_shelf(
    parts: RecordSources, sought: LeaderboardQuery, names: Names, measure: Measure
) -> BiasPage:
    """Give the bias that is sought, and what there is to choose from."""
    found = await shown_bias(parts, sought, names, measure)
    every = await parts.bakeoff_stores.records.recent(RecordQuery(scope=sought.scope))
    return BiasPage(found, choices_of(every, sought.suite))


def _coverage(sought: LeaderboardQuery, rounds: int) -> Coverage:
    return Coverage(
        rounds=rounds,
        suite=sought.suite,
        panel=sought.panel,
        category=sought.category,
        since=sought.since,
        before=sought.before,
    )
