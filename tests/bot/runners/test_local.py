"""The runner of one machine: what it promises beside what every runner does."""

import asyncio

import pytest

from bot.ports import RoundStoppedError
from bot.runners.local import LocalRunner
from council.rounds import Round, Stage
from storage.memory import MemoryStore
from tests.bot.runners.houses import House, Ticks, WritingGateway, one_hangs, ready, rounds_of
from tests.builders import a_round
from tests.fakes.gateway import FailingStore, FakeGateway, PowerCutError
from tests.wire.looking import until


async def a_house(
    gateway: FakeGateway | None = None,
    store: MemoryStore | None = None,
    ticks: Ticks | None = None,
) -> House:
    gateway, store = gateway or FakeGateway(), store or MemoryStore()
    house = House(gateway, store, LocalRunner(store, gateway, ready, clock=ticks or Ticks()))
    await store.open(house.round_)
    return house


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


async def test_what_nobody_foresaw_is_told_too_and_leaves_the_runner_whole() -> None:
    house = await a_house(store=FailingStore(4))
    house.runner.start(house.round_)

    with pytest.raises((PowerCutError, ExceptionGroup)):
        await house.watched()

    assert not house.runner.latest("r1")


async def test_close_stops_every_round() -> None:
    gateway, store = one_hangs(), MemoryStore()
    runner, first = LocalRunner(store, gateway, ready), a_round()
    other = Round("r2", first.question, first.panel, "s", first.asked_at)
    for round_ in (first, other):
        await store.open(round_)
        runner.start(round_)

    await runner.close()

    assert [runner.latest(key) for key in ("r1", "r2")] == [None, None]
    await runner.close()


async def test_a_round_that_is_cut_before_it_begins_can_be_started_again() -> None:
    house = await a_house()
    runner = house.runner
    assert isinstance(runner, LocalRunner)
    runner.start(house.round_)
    async with runner.subscribe("r1") as sights:
        runner.cancel("r1")
        with pytest.raises(RoundStoppedError):
            _ = [sight async for sight in sights]

    runner.start(house.round_)

    assert rounds_of(await house.watched())[-1].closing


async def test_whoever_starts_what_has_just_closed_sees_its_end_and_nothing_is_told_twice() -> None:
    closed: list[Round] = []
    gateway, store = FakeGateway(), MemoryStore()
    house = House(gateway, store, LocalRunner(store, gateway, ready, on_closed=closed.append))
    await store.open(house.round_)
    house.runner.start(house.round_)
    await house.watched()
    await until(lambda: not house.runner.latest("r1"), 5, list)

    house.runner.start(house.round_)  # as it was before it closed

    assert rounds_of(await house.watched())[-1] == await store.load("r1")
    assert len(closed) == 1


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
