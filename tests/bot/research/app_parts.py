"""What the laboratory adds to an app over fakes."""

from bot.context import AppContext
from bot.research.parts import ResearchService, ResearchStores, WeightedBoards
from tests.fakes.memory_store import MemoryStore
from tests.fakes.research.memory_experiments import MemoryExperiments

STORES = ResearchStores


def add_parts(app: AppContext, _: MemoryStore) -> None:
    experiments = MemoryExperiments()
    app.parts.add(ResearchStores(lambda: experiments))
    app.parts.add(WeightedBoards())
    app.parts.add(ResearchService(app))
