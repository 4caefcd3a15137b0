"""A house with one stored round and a runner, of one process or of a cluster."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from bot.ports import RoundSnapshot, Runner
from council.answers import Call, Reply, Role
from council.errors import StoreError
from council.panel import Panel
from council.ports import Store
from council.rounds import Artefact, Round
from storage.memory import MemoryStore
from storage.rounds import SqlStore
from tests.builders import GPT, a_round
from tests.fakes.gateway import FakeGateway, Hangs, read


class Ticks:
    """The loop's clock, moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass(eq=False)
class WritingGateway(FakeGateway):
    """Writes the synthesis in pieces; a number among them is the seconds that pass."""

    pieces: tuple[str | float, ...] = ()
    ticks: Ticks = field(default_factory=Ticks)

    async def complete(self, call: Call) -> Reply:
        reply = await super().complete(call)
        if read(call.prompt).role is not Role.SYNTHESIS or not call.on_text:
            return reply
        written = ""
        for piece in self.pieces:
            if isinstance(piece, float):
                self.ticks.now += piece
                continue
            written += piece
            call.on_text(written)
            await asyncio.sleep(0)
        return Reply(written)


class RefusingStore(MemoryStore):
    """A store that cannot save for so many times."""

    left = 0

    async def save(self, round_id: str, artefact: Artefact) -> None:
        if self.left:
            self.left -= 1
            raise StoreError("The disk is full.")
        await super().save(round_id, artefact)


class RefusingSqlStore(SqlStore):
    """A store on a server that cannot save for so many times."""

    left = 0

    async def save(self, round_id: str, artefact: Artefact) -> None:
        if self.left:
            self.left -= 1
            raise StoreError("The disk is full.")
        await super().save(round_id, artefact)


async def ready(_: Panel) -> None: ...


@dataclass(slots=True)
class House:
    """A runner with one stored round, and what it has to do with."""

    gateway: FakeGateway
    store: Store
    runner: Runner
    round_: Round = field(default_factory=a_round)

    async def watched(self) -> list[RoundSnapshot]:
        """Watch the round to its end."""
        return await watched(self.runner)

    async def until(self, holds: Callable[[Round], bool]) -> Round:
        """Watch the round until something holds of it."""
        return await until(self.runner, holds)


async def watched(runner: Runner, round_id: str = "r1") -> list[RoundSnapshot]:
    """Watch a round to its end."""
    async with asyncio.timeout(20), runner.subscribe(round_id) as sights:
        return [sight async for sight in sights]


async def until(runner: Runner, holds: Callable[[Round], bool], round_id: str = "r1") -> Round:
    """Watch a round until something holds of it."""
    async with asyncio.timeout(20), runner.subscribe(round_id) as sights:
        async for sight in sights:
            if holds(sight.round_):
                return sight.round_
    pytest.fail("the round ended before that")


def one_hangs() -> FakeGateway:
    return FakeGateway(answers={GPT: Hangs()})


def has_two_answers(round_: Round) -> bool:
    return len(round_.answers) == 2


def rounds_of(sights: list[RoundSnapshot]) -> list[Round]:
    return [sight.round_ for sight in sights]


@contextmanager
def no_grace() -> Iterator[None]:
    """Have a runner that closes not wait for calls under way."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("bot.runners.local.GRACE_SECONDS", 0.0)
        yield
