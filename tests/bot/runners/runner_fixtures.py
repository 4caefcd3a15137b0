"""Test harness of runners: one stored round, fake gateways, and failing stores."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from bot.ports import RoundSnapshot, Runner
from council.answers import Call, Reply, Role
from council.errors import StoreError
from council.panel import Panel
from council.ports import Store
from council.rounds import Artefact, Round
from storage.rounds import SqlRoundStore
from tests.builders import GPT, a_round
from tests.fakes.gateway import FakeGateway, Hangs, read_prompt
from tests.fakes.memory_store import MemoryStore


class ManualClock:
    """A clock that a test moves by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass(eq=False)
class WritingGateway(FakeGateway):
    """Streams the synthesis in pieces; a number among them moves the clock by seconds."""

    pieces: tuple[str | float, ...] = ()
    ticks: ManualClock = field(default_factory=ManualClock)

    async def complete(self, call: Call) -> Reply:
        reply = await super().complete(call)
        if read_prompt(call.prompt).role is not Role.SYNTHESIS or not call.on_text:
            return reply
        text = ""
        for piece in self.pieces:
            if isinstance(piece, float):
                self.ticks.now += piece
                continue
            text += piece
            call.on_text(text)
            await asyncio.sleep(0)
        return Reply(text)


class Refuses:
    """Makes a store refuse its next saves, as often as `failures_left` says."""

    failures_left = 0

    async def save(self, round_id: str, *artefacts: Artefact) -> None:
        if self.failures_left:
            self.failures_left -= 1
            raise StoreError("The disk is full.")
        await super().save(round_id, *artefacts)  # type: ignore[misc]  # of the store


class RefusingStore(Refuses, MemoryStore): ...


class RefusingSqlStore(Refuses, SqlRoundStore): ...


async def prepare_nothing(_: Panel) -> None: ...


@dataclass(slots=True)
class RunnerHarness:
    """A runner with one stored round, its gateway and its store."""

    gateway: FakeGateway
    store: Store
    runner: Runner
    round_: Round = field(default_factory=a_round)

    async def collect_snapshots(self) -> list[RoundSnapshot]:
        """Follow the round to its end."""
        return await collect_snapshots(self.runner)

    async def wait_until(self, holds: Callable[[Round], bool]) -> Round:
        """Follow the round until a condition holds."""
        return await wait_until(self.runner, holds)


async def collect_snapshots(runner: Runner, round_id: str = "r1") -> list[RoundSnapshot]:
    """Follow a round to its end."""
    async with asyncio.timeout(20), runner.subscribe(round_id) as snapshots:
        return [snapshot async for snapshot in snapshots]


async def wait_until(runner: Runner, holds: Callable[[Round], bool], round_id: str = "r1") -> Round:
    """Follow a round until a condition holds."""
    async with asyncio.timeout(20), runner.subscribe(round_id) as snapshots:
        async for snapshot in snapshots:
            if holds(snapshot.round_):
                return snapshot.round_
    pytest.fail("the round ended before that")


def gateway_with_hanging_model() -> FakeGateway:
    return FakeGateway(answers={GPT: Hangs()})


def has_two_answers(round_: Round) -> bool:
    # An answer is saved once more when the names in it have been found.
    return [answer.scrubbed is not None for answer in round_.answers] == [True, True]


def rounds_in(snapshots: list[RoundSnapshot]) -> list[Round]:
    return [snapshot.round_ for snapshot in snapshots]
