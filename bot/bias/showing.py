"""Bias as people are shown it: the rounds that are meant, measured, and what there is to choose."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.bakeoffs.choosing import choices_of
from bot.bakeoffs.keeping import Parts
from bot.bakeoffs.sought import Sought, SoughtError, sought_by
from bot.render.bias_view import ShownBias, shown
from bot.render.leaderboard_tables import Coverage
from council.bakeoffs.ports import WantedRecords
from council.bias.report import BiasReport

Names = Mapping[str, str]
Measure = Callable[[Parts, WantedRecords], Awaitable[BiasReport]]


@dataclass(frozen=True, slots=True)
class BiasShelf:
    """Bias as it is shown, and by option what other rounds can be chosen."""

    shown: ShownBias
    choices: Mapping[str, tuple[str, ...]]


def bias_sought(given: Mapping[str, str], now: datetime) -> Sought:
    """Give which rounds options mean: suite, panel, category, since and until; SoughtError."""
    sought = sought_by(given, now)
    if sought.version:
        raise SoughtError(
            "Bias is measured over every version of a suite: name the suite without a version."
        )
    return sought


async def shown_bias(parts: Parts, sought: Sought, names: Names, measure: Measure) -> ShownBias:
    """Give the bias of judges over the rounds that are sought; a sentence where none fits."""
    report = await measure(parts, sought.wanted)
    return shown(report, _coverage(sought, report.rounds), names)


async def bias_shelf(parts: Parts, sought: Sought, names: Names, measure: Measure) -> BiasShelf:
    """Give the bias that is sought, and what there is to choose from."""
    found = await shown_bias(parts, sought, names, measure)
    every = await parts.bench.records.recent(WantedRecords(scope=sought.scope))
    return BiasShelf(found, choices_of(every, sought.suite))


def _coverage(sought: Sought, rounds: int) -> Coverage:
    return Coverage(
        rounds=rounds,
        suite=sought.suite,
        panel=sought.panel,
        category=sought.category,
        since=sought.since,
        before=sought.before,
    )
