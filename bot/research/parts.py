"""Parts of an application that the laboratory adds: its stores, and what it does to rounds.

Each start of the program imports this module, so what only some of them need is imported late.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.bakeoffs.parts import BoardAdditions
from bot.context import AppContext
from bot.plugins import HasParts, RecordSources
from bot.services import Service
from bot.settings import PanelConfig, Settings
from council.bakeoffs.ports import RecordQuery
from council.rounds import Round

if TYPE_CHECKING:
    from bot.bakeoffs.render.leaderboard_tables import Leaderboard
    from council.research.experiment import ExperimentStore


def open_stores(engine: AsyncEngine, _: Settings) -> tuple[object, ...]:
    """Return the store of experiments, and what the laboratory adds to leaderboards."""

    def experiments() -> "ExperimentStore":
        from storage.research.experiments import SqlExperiments

        return SqlExperiments(engine)

    return ResearchStores(experiments), WeightedBoards()


async def open_service(app: AppContext, _: PanelConfig) -> "ResearchService":
    """Return what the laboratory does while the program runs."""
    return ResearchService(app)


@dataclass(frozen=True, slots=True)
class ResearchStores:
    """The stores of the laboratory, opened when they are used."""

    open_experiments: Callable[[], "ExperimentStore"]


def experiment_store(app: HasParts) -> "ExperimentStore":
    """Return the store of experiments."""
    return app.parts.get(ResearchStores).open_experiments()


class WeightedBoards(BoardAdditions):
    """Weighted judges on leaderboards, and how far judges agree with people."""

    async def add_to_leaderboard(
        self, sources: RecordSources, wanted: RecordQuery, weights: str, board: "Leaderboard"
    ) -> "Leaderboard":
        """Return the leaderboard with its additions, if any; the official standings do not change.

        These are the leaderboard by weighted judges, and, from twenty blind votes of people on, how
        far judges agree with them.
        """
        from bot.research.services import add_weighted_board

        return await add_weighted_board(sources, wanted, weights, board)


class ResearchService(Service):
    """Stores in new rounds what earlier ones tell of their judges."""

    def __init__(self, app: AppContext) -> None:
        self._app = app

    async def opening_versions(self, round_: Round) -> Mapping[str, str]:
        """Return the rule of canaries, and the known history of pairs, of panels with these."""
        terms = round_.panel.terms
        if not (terms.canary_share or terms.text_checks):
            return {}
        from bot.research.services import research_versions

        return await research_versions(self._app, round_)
