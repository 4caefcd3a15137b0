"""The runner of one machine: a round is carried once, whoever watches and whether anybody does."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from bot.ports import RoundStoppedError, Sight
from bot.runners.local import LocalRunner, Prepare
from council.answers import Role
from council.calls import Call, Reply
from council.errors import PanelError, StoreError
from council.panel import Panel
from council.rounds import Artefact, Round, Stage
from storage.memory import MemoryStore
from tests.builders import CLAUDE, GPT, a_round
from tests.fakes import FailingStore, FakeGateway, Hangs, PowerCutError, read


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

    def __init__(self, refusals: int) -> None:
        super().__init__()
        self.left = refusals

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
    store: MemoryStore
    runner: LocalRunner
    round_: Round = field(default_factory=a_round)

    async def watched(self) -> list[Sight]:
        """Watch the round to its end."""
        async with self.runner.watching("r1") as sights:
            return [sight async for sight in sights]

    async def until(self, holds: Callable[[Round], bool]) -> Round:
        """Watch the round until something holds of it."""
        async with self.runner.watching("r1") as sights:
            async for sight in sights:
                if holds(sight.round_):
                    return sight.round_
        pytest.fail("the round ended before that")


async def a_house(
    gateway: FakeGateway | None = None,
    store: MemoryStore | None = None,
    *,
    prepare: Prepare = ready,
    ticks: Ticks | None = None,
) -> House:
    gateway, store = gateway or FakeGateway(), store or MemoryStore()
    house = House(gateway, store, LocalRunner(store, gateway, prepare, clock=ticks or Ticks()))
    await store.open(house.round_)
    return house


def one_hangs() -> FakeGateway:
    return FakeGateway(answers={GPT: Hangs()})


def has_two_answers(round_: Round) -> bool:
    return len(round_.answers) == 2


def rounds_of(sights: list[Sight]) -> list[Round]:
    return [sight.round_ for sight in sights]


async def test_a_round_is_carried_once_however_often_it_is_started() -> None:
    house = await a_house()

    for _ in range(3):
        house.runner.start(house.round_)
    await house.watched()

    assert set(house.gateway.times_asked().values()) == {1}


async def test_nobody_need_watch() -> None:
    house = await a_house()

    house.runner.start(house.round_)
    # Nobody watches, so nothing tells.
    while house.runner.seen("r1"):  # noqa: ASYNC110
        await asyncio.sleep(0)

    assert (await house.store.load("r1")).stage is Stage.CLOSED


async def test_every_watcher_sees_every_state_in_order_and_the_end() -> None:
    house = await a_house()
    house.runner.start(house.round_)

    seen = await asyncio.gather(*(house.watched() for _ in range(20)))

    first = rounds_of(seen[0])
    # Opened, three answers, the draw, three ballots, the tally, the synthesis, the end.
    assert [round_.stage for round_ in first] == [Stage.OPEN] * 4 + [Stage.ANSWERED] * 4 + [
        Stage.RANKED
    ] * 2 + [Stage.CLOSED]
    assert all(rounds_of(sights) == first for sights in seen)
    assert first[-1] == await house.store.load("r1")


async def test_a_late_watcher_sees_the_newest_state_first() -> None:
    house = await a_house(one_hangs())
    house.runner.start(house.round_)
    newest = await house.until(has_two_answers)

    async with house.runner.watching("r1") as sights:
        first = await anext(sights)

    assert first.round_ == newest
    await house.runner.close()


async def test_a_round_that_is_not_carried_is_seen_as_it_is_stored() -> None:
    house = await a_house()

    assert rounds_of(await house.watched()) == [house.round_]


async def test_leaving_off_watching_stops_nothing() -> None:
    house = await a_house()
    house.runner.start(house.round_)

    watcher = asyncio.create_task(house.watched())
    await asyncio.sleep(0)
    watcher.cancel()
    await asyncio.wait([watcher])

    assert house.runner.seen("r1")
    assert (await house.watched())[-1].round_.stage is Stage.CLOSED


async def test_stop_keeps_what_is_there_and_the_round_can_be_started_again() -> None:
    house = await a_house(one_hangs())
    house.runner.start(house.round_)
    await house.until(has_two_answers)

    await house.runner.stop("r1")
    kept = await house.store.load("r1")
    house.gateway.answers = {}
    house.runner.start(kept)
    await house.watched()

    assert has_two_answers(kept)
    assert (await house.store.load("r1")).stage is Stage.CLOSED
    assert house.gateway.times_asked()[CLAUDE, Role.ANSWER] == 1


async def test_whoever_watches_a_round_that_is_stopped_is_told() -> None:
    house = await a_house(one_hangs())
    house.runner.start(house.round_)
    watchers = [asyncio.create_task(house.watched()) for _ in range(2)]
    await house.until(has_two_answers)

    await house.runner.stop("r1")

    for watcher in watchers:
        with pytest.raises(RoundStoppedError, match="Round r1 was stopped before its end"):
            await watcher


async def test_a_round_stopped_before_it_began_is_not_carried() -> None:
    house = await a_house()

    house.runner.start(house.round_)
    await house.runner.stop("r1")

    assert not house.runner.seen("r1")
    assert rounds_of(await house.watched())[0].id == "r1"


async def test_stopping_what_is_not_carried_is_no_fault() -> None:
    house = await a_house()

    await house.runner.stop("r1")
    await house.runner.stop("r2")

    assert not house.runner.seen("r1")


async def test_an_error_is_told_to_every_watcher_and_the_round_can_be_started_again() -> None:
    house = await a_house(store=RefusingStore(1))
    house.runner.start(house.round_)

    told = await asyncio.gather(house.watched(), house.watched(), return_exceptions=True)
    house.runner.start(house.round_)
    await house.watched()

    assert [str(error) for error in told] == ["The disk is full."] * 2
    assert (await house.store.load("r1")).stage is Stage.CLOSED


async def test_what_nobody_foresaw_is_told_too_and_leaves_the_runner_whole() -> None:
    house = await a_house(store=FailingStore(4))
    house.runner.start(house.round_)

    with pytest.raises((PowerCutError, ExceptionGroup)):
        await house.watched()

    assert not house.runner.seen("r1")


async def test_models_that_cannot_be_made_ready_are_told_and_nobody_is_asked() -> None:
    async def prepare(_: Panel) -> None:
        raise PanelError("The models cannot be fetched.")

    house = await a_house(prepare=prepare)
    house.runner.start(house.round_)

    with pytest.raises(PanelError, match="cannot be fetched"):
        await house.watched()

    assert (house.gateway.asked, house.runner.seen("r1")) == ([], None)


async def test_close_stops_every_round() -> None:
    house = await a_house(one_hangs())
    other = Round("r2", house.round_.question, house.round_.panel, "s", house.round_.asked_at)
    await house.store.open(other)
    for round_ in (house.round_, other):
        house.runner.start(round_)

    await house.runner.close()

    assert [house.runner.seen(key) for key in ("r1", "r2")] == [None, None]
    await house.runner.close()


async def drafts(*pieces: str | float) -> list[str]:
    """Give each new draft that a watcher sees while the synthesis is written so."""
    gateway = WritingGateway(pieces=pieces)
    house = await a_house(gateway, ticks=gateway.ticks)
    house.runner.start(house.round_)
    seen = [sight.draft for sight in await house.watched() if sight.draft]
    return list(dict.fromkeys(seen))


async def test_a_draft_is_shown_a_few_times_a_second() -> None:
    seen = await drafts("a", "b", 0.05, "c", 0.06, "d", "e", 0.11, "f")

    assert seen == ["a", "abcd", "abcdef"]


async def test_a_draft_never_shows_the_object_at_its_end() -> None:
    object_ = '\n\n{"drawn_on": ["K"], "departs": false, "why": ""}'
    pieces = [piece for sign in "Yes." + object_ for piece in (sign, 1.0)]

    assert await drafts(*pieces) == ["Y", "Ye", "Yes", "Yes."]
