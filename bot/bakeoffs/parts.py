"""Parts of an application that bake-offs add and use: their stores, registry and settings."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.bakeoffs.registry import BakeoffRegistry
from bot.plugins import HasParts, RecordSources
from council.bakeoffs.ports import BakeoffStores, RecordQuery

if TYPE_CHECKING:  # every start of the program imports this module
    from bot.bakeoffs.render.leaderboard_tables import Leaderboard
    from council.bakeoffs.bias.report import BiasReport

SCHEDULES = "schedules"  # the topic that announces a changed schedule

MeasureBias = Callable[[RecordSources, RecordQuery], Awaitable["BiasReport"]]


@dataclass(slots=True)
class BakeoffSettings:
    """How biases are measured, how many rounds of one bake-off run at once, and the time zone.

    `zone` is that of schedules that name none.
    """

    measure_bias: MeasureBias
    rounds_at_once: int = 2
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class OutcomeCache:
    """Outcomes of bake-offs that have ended, by id and end; the oldest are dropped."""

    sentences: OrderedDict[tuple[str, str], str] = field(default_factory=OrderedDict)


class BoardAdditions:
    """What other plug-ins add to leaderboards; the official standings do not change."""

    async def add_to_leaderboard(
        self, sources: RecordSources, query: RecordQuery, weights: str, board: "Leaderboard"
    ) -> "Leaderboard":
        """Return the leaderboard with the additions."""
        return board


def bakeoff_stores(sources: HasParts) -> BakeoffStores:
    """Return the stores of bake-offs, suites, schedules and records."""
    return sources.parts.get(BakeoffStores)


def bakeoff_registry(app: HasParts) -> BakeoffRegistry:
    """Return the registry of the bake-offs that run in this process."""
    return app.parts.get(BakeoffRegistry)


def bakeoff_settings(app: HasParts) -> BakeoffSettings:
    """Return how bake-offs run."""
    return app.parts.get(BakeoffSettings)


async def add_to_leaderboard(
    sources: RecordSources, query: RecordQuery, weights: str, board: "Leaderboard"
) -> "Leaderboard":
    """Return the leaderboard with what other plug-ins add to it."""
    for additions in sources.parts.all(BoardAdditions):
        board = await additions.add_to_leaderboard(sources, query, weights, board)
    return board
