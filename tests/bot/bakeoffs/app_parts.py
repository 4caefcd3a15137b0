"""What bake-offs add to an app over fakes."""

from bot.bakeoffs.bias_report import bias_report
from bot.bakeoffs.parts import BakeoffSettings, OutcomeCache
from bot.bakeoffs.registry import BakeoffRegistry
from bot.bakeoffs.service import BakeoffService
from bot.context import AppContext
from council.bakeoffs.ports import BakeoffStores
from tests.fakes.bakeoffs.memory_bakeoffs import memory_bench
from tests.fakes.memory_store import MemoryStore

STORES = BakeoffStores


def add_parts(app: AppContext, store: MemoryStore) -> None:
    app.parts.add(memory_bench(store))
    app.parts.add(BakeoffRegistry())
    app.parts.add(BakeoffSettings(bias_report))
    app.parts.add(OutcomeCache())
    app.parts.add(BakeoffService(app))
