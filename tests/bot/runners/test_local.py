"""The runner of one machine: what it promises beside what every runner does."""

import asyncio

import pytest

from bot.ports import RoundStoppedError
from bot.runners.local import LocalRunner
from council.rounds import Round, Stage
from tests.bot.runners.runner_fixtures import (
    ManualClock,
    RunnerHarness,
    WritingGateway,
    gateway_with_hanging_model,
    prepare_nothing,
    rounds_in,
)
from tests.builders import a_round
from tests.fakes.gateway import FailingStore, FakeGateway, PowerCutError
from tests.fakes.memory_store import MemoryStore
from tests.wire.looking import until


async def new_harness(
    gateway: FakeGateway | None = None,
    store: MemoryStore | None = None,
    ticks: ManualClock | None = None,
) -> RunnerHarness:
    gateway, store = gateway or FakeGateway(), store or MemoryStore()
    harness = RunnerHarness(
        gateway, store, LocalRunner(store, gateway, prepare_nothing, clock=ticks or ManualClock())
    )
    await store.open(harness.round_)
    return harness


async def test_every_subscriber_gets_every_snapshot_in_order() -> None:
    harness = await new_harness()
    harness.runner.start(harness.round_)

    seen = await asyncio.gather(*(harness.collect_snapshots() for _ in range(20)))

    first = rounds_in(seen[0])
    # Opened, three answers, the draw, three ballots, the tally, the synthesis, the end.
    assert [round_.stage for round_ in first] == [Stage.OPEN] * 4 + [Stage.ANSWERED] * 4 + [
        Stage.RANKED
    ] * 2 + [Stage.CLOSED]
    assert all(rounds_in(sights) == first for sights in seen)
    assert first[-1] == await harness.store.load("r1")


async def test_an_unexpected_error_is_published_and_the_runner_still_works() -> None:
    harness = await new_harness(store=FailingStore(4))
    harness.runner.start(harness.round_)

    with pytest.raises((PowerCutError, ExceptionGroup)):
        await harness.collect_snapshots()

    assert not harness.runner.latest("r1")


async def test_close_stops_every_round() -> None:
    gateway, store = gateway_with_hanging_model(), MemoryStore()
    runner, first = LocalRunner(store, gateway, prepare_nothing), a_round()
    other = Round("r2", first.question, first.panel, "s", first.asked_at)
    for round_ in (first, other):
        await store.open(round_)
        runner.start(round_)

    await runner.close()

    assert [runner.latest(key) for key in ("r1", "r2")] == [None, None]
    await runner.close()


async def test_a_round_cancelled_before_it_begins_can_be_started_again() -> None:
    harness = await new_harness()
    runner = harness.runner
    assert isinstance(runner, LocalRunner)
    runner.start(harness.round_)
    async with runner.subscribe("r1") as sights:
        runner.cancel("r1")
        with pytest.raises(RoundStoppedError):
            _ = [sight async for sight in sights]

    runner.start(harness.round_)

    assert rounds_in(await harness.collect_snapshots())[-1].closing


async def test_starting_a_round_that_has_just_closed_publishes_nothing_twice() -> None:
    closed: list[Round] = []
    gateway, store = FakeGateway(), MemoryStore()
    harness = RunnerHarness(
        gateway, store, LocalRunner(store, gateway, prepare_nothing, on_closed=closed.append)
    )
    await store.open(harness.round_)
    harness.runner.start(harness.round_)
    await harness.collect_snapshots()
    await until(lambda: not harness.runner.latest("r1"), 5, list)

    harness.runner.start(harness.round_)  # as it was before it closed

    assert rounds_in(await harness.collect_snapshots())[-1] == await store.load("r1")
    assert len(closed) == 1


async def drafts(*pieces: str | float) -> list[str]:
    """Return each new draft that a subscriber gets while the synthesis is streamed."""
    gateway = WritingGateway(pieces=pieces)
    harness = await new_harness(gateway, ticks=gateway.ticks)
    harness.runner.start(harness.round_)
    seen = [sight.draft for sight in await harness.collect_snapshots() if sight.draft]
    return list(dict.fromkeys(seen))


async def test_a_draft_is_shown_a_few_times_a_second() -> None:
    seen = await drafts("a", "b", 0.05, "c", 0.06, "d", "e", 0.11, "f")

    assert seen == ["a", "abcd", "abcdef"]


async def test_a_draft_never_shows_the_object_at_its_end() -> None:
    object_ = '\n\n{"drawn_on": ["K"], "departs": false, "why": ""}'
    pieces = [piece for sign in "Yes." + object_ for piece in (sign, 1.0)]

    assert await drafts(*pieces) == ["Y", "Ye", "Yes", "Yes."]
