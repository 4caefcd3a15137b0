"""Who holds a bake-off: one process at a time, and one task in it."""

import asyncio

import pytest

from bot.coordination.bakeoff_registry import BakeoffRegistry, RunningBakeoff, RunningElsewhereError
from council.bakeoffs.models import Progress
from council.errors import BakeoffError
from tests.bot.bakeoffs.kitchen import a_bakeoff


class Taken:
    """Claims of which another process has all, or none."""

    def __init__(self, *, by_another: bool = False) -> None:
        self.by_another = by_another
        self.names: list[str] = []

    def take(self, name: str) -> bool:
        self.names.append(name)
        return not self.by_another

    def free(self, name: str) -> None:
        self.names.remove(name)


async def test_what_another_process_holds_is_left_to_it() -> None:
    holds = BakeoffRegistry(Taken(by_another=True))

    with pytest.raises(RunningElsewhereError, match="held by another process"):
        holds.start(a_bakeoff(), never)


async def never(_: RunningBakeoff) -> None:
    await asyncio.Event().wait()


async def test_it_is_held_once_however_often_it_is_begun() -> None:
    begun: list[RunningBakeoff] = []
    claims = Taken()
    holds = BakeoffRegistry(claims)

    async def carry(held: RunningBakeoff) -> None:
        begun.append(held)

    for _ in range(3):
        holds.start(a_bakeoff(), carry)
    assert [progress async for progress in holds.subscribe("bo:beef")] == [Progress(a_bakeoff())]

    assert len(begun) == 1
    assert claims.names == []
    assert holds.latest("bo:beef") is None


async def test_whoever_watches_hears_what_went_wrong() -> None:
    async def fails(_: RunningBakeoff) -> None:
        raise BakeoffError("The oven is cold.")

    holds = BakeoffRegistry()
    holds.start(a_bakeoff(), fails)

    with pytest.raises(BakeoffError, match="The oven is cold"):
        async for _ in holds.subscribe("bo:beef"):
            pass


async def test_only_what_reports_to_a_chat_is_let_go_with_it() -> None:
    holds = BakeoffRegistry()
    holds.start(a_bakeoff(), never)
    await asyncio.sleep(0)

    await holds.let_go("discord")
    assert holds.latest("bo:beef")
    await holds.let_go("slack")

    assert holds.latest("bo:beef") is None


async def test_one_that_is_let_go_before_its_task_began_can_be_held_again() -> None:
    begun: list[RunningBakeoff] = []
    claims = Taken()
    holds = BakeoffRegistry(claims)

    async def carry(held: RunningBakeoff) -> None:
        begun.append(held)

    holds.start(a_bakeoff(), carry)
    await holds.let_go()
    assert claims.names == []
    holds.start(a_bakeoff(), carry)
    assert [progress async for progress in holds.subscribe("bo:beef")] == [Progress(a_bakeoff())]

    assert len(begun) == 1


async def test_whoever_watches_hears_that_it_was_let_go() -> None:
    holds = BakeoffRegistry()
    holds.start(a_bakeoff(), never)
    seen = holds.subscribe("bo:beef")
    await anext(seen)

    await holds.let_go()

    with pytest.raises(BakeoffError, match="was interrupted; a restart goes on"):
        await anext(seen)
