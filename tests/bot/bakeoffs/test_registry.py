"""Bake-off registry: one process at a time runs a bake-off, in one task."""

import asyncio

import pytest

from bot.bakeoffs.registry import BakeoffRegistry, RunningBakeoff, RunningElsewhereError
from council.bakeoffs.models import BakeoffProgress
from council.errors import BakeoffError
from tests.bot.bakeoffs.fakes import a_bakeoff


class FakeClaims:
    """Claims that another process has all of, or none."""

    def __init__(self, *, by_another: bool = False) -> None:
        self.by_another = by_another
        self.names: list[str] = []

    def take(self, name: str) -> bool:
        self.names.append(name)
        return not self.by_another

    def free(self, name: str) -> None:
        self.names.remove(name)


async def test_a_bake_off_of_another_process_cannot_be_started() -> None:
    registry = BakeoffRegistry(FakeClaims(by_another=True))

    with pytest.raises(
        RunningElsewhereError, match="is already running in another process on this machine"
    ):
        registry.start(a_bakeoff(), run_forever)


async def run_forever(_: RunningBakeoff) -> None:
    await asyncio.Event().wait()


async def test_starting_it_repeatedly_runs_it_once() -> None:
    started: list[RunningBakeoff] = []
    claims = FakeClaims()
    registry = BakeoffRegistry(claims)

    async def run(running: RunningBakeoff) -> None:
        started.append(running)

    for _ in range(3):
        registry.start(a_bakeoff(), run)
    assert [progress async for progress in registry.subscribe("bo:beef")] == [
        BakeoffProgress(a_bakeoff())
    ]

    assert len(started) == 1
    assert claims.names == []
    assert registry.latest("bo:beef") is None


async def test_subscribers_get_the_error() -> None:
    async def fail(_: RunningBakeoff) -> None:
        raise BakeoffError("The oven is cold.")

    registry = BakeoffRegistry()
    registry.start(a_bakeoff(), fail)

    with pytest.raises(BakeoffError, match="The oven is cold"):
        async for _ in registry.subscribe("bo:beef"):
            pass


async def test_only_the_bake_offs_of_a_chat_are_stopped_with_it() -> None:
    registry = BakeoffRegistry()
    registry.start(a_bakeoff(), run_forever)
    await asyncio.sleep(0)

    await registry.stop("discord")
    assert registry.latest("bo:beef")
    await registry.stop("slack")

    assert registry.latest("bo:beef") is None


async def test_one_stopped_before_its_first_step_can_be_started_again() -> None:
    started: list[RunningBakeoff] = []
    claims = FakeClaims()
    registry = BakeoffRegistry(claims)

    async def run(running: RunningBakeoff) -> None:
        started.append(running)

    registry.start(a_bakeoff(), run)
    await registry.stop()
    assert claims.names == []
    registry.start(a_bakeoff(), run)
    assert [progress async for progress in registry.subscribe("bo:beef")] == [
        BakeoffProgress(a_bakeoff())
    ]

    assert len(started) == 1


async def test_subscribers_get_an_error_when_it_is_stopped() -> None:
    registry = BakeoffRegistry()
    registry.start(a_bakeoff(), run_forever)
    seen = registry.subscribe("bo:beef")
    await anext(seen)

    await registry.stop()

    with pytest.raises(BakeoffError, match="was interrupted"):
        await anext(seen)
