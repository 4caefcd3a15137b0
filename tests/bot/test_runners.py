"""Every runner: a round is carried once, whoever watches and whether anybody does."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from bot.ports import RoundStoppedError
from bot.runners.cluster import ClusterRunner
from bot.runners.local import LocalRunner, Prepare
from council.answers import Role
from council.errors import PanelError
from council.panel import Panel
from council.rounds import Stage
from storage.engine import open_engine
from tests.bot.cluster.processes import start_process
from tests.bot.runners.runner_fixtures import (
    RefusingSqlStore,
    RefusingStore,
    RunnerHarness,
    gateway_with_hanging_model,
    has_two_answers,
    prepare_nothing,
    rounds_in,
)
from tests.builders import CLAUDE
from tests.fakes.gateway import FakeGateway

MakeHarness = Callable[..., Awaitable[RunnerHarness]]


@pytest.fixture(params=["local", "cluster"])
def server_url(request: pytest.FixtureRequest) -> str | None:
    """Return the URL of a database server; None for the local runner."""
    if request.param == "local":
        return None
    found: str = request.getfixturevalue("migrated_url")
    return found


@pytest.fixture
async def new_harness(
    server_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MakeHarness]:
    """Return a function that makes a harness with a stored round."""
    async with AsyncExitStack() as stack:

        async def make_harness(
            gateway: FakeGateway | None = None,
            *,
            refusals: int = 0,
            prepare: Prepare = prepare_nothing,
        ) -> RunnerHarness:
            gateway = gateway or FakeGateway()
            if server_url:
                harness = await in_a_cluster(stack, server_url, gateway, prepare)
            else:
                store = RefusingStore()
                runner = LocalRunner(store, gateway, prepare)
                stack.push_async_callback(runner.close)
                harness = RunnerHarness(gateway, store, runner)
            await harness.store.open(harness.round_)
            harness.store.failures_left = refusals  # type: ignore[attr-defined]
            return harness

        yield make_harness
        monkeypatch.setattr("bot.runners.local.GRACE_SECONDS", 0.0)  # nobody waits for what hangs


async def in_a_cluster(
    stack: AsyncExitStack, url: str, gateway: FakeGateway, prepare: Prepare
) -> RunnerHarness:
    engine = open_engine(url)
    stack.push_async_callback(engine.dispose)
    process = await stack.enter_async_context(start_process(url))
    store = RefusingSqlStore(engine)
    runner = ClusterRunner(store, gateway, prepare, process.job_queue, process.pubsub)
    await stack.enter_async_context(runner.running())
    return RunnerHarness(gateway, store, runner)


async def test_a_round_runs_once_however_often_it_is_started(
    new_harness: MakeHarness,
) -> None:
    harness = await new_harness()

    for _ in range(3):
        harness.runner.start(harness.round_)
    await harness.collect_snapshots()

    assert set(harness.gateway.times_asked().values()) == {1}


async def test_a_round_runs_without_subscribers(new_harness: MakeHarness) -> None:
    harness = await new_harness()

    harness.runner.start(harness.round_)
    # Nobody watches, so nothing tells.
    while await harness.runner.is_running("r1"):  # noqa: ASYNC110
        await asyncio.sleep(0.005)

    assert (await harness.store.load("r1")).stage is Stage.CLOSED


async def test_every_subscriber_sees_the_round_grow_and_its_end(new_harness: MakeHarness) -> None:
    harness = await new_harness()
    harness.runner.start(harness.round_)

    seen = await asyncio.gather(*(harness.collect_snapshots() for _ in range(5)))

    stages = [[round_.stage for round_ in rounds_in(sights)] for sights in seen]
    assert all(found == sorted(found, key=list(Stage).index) for found in stages)
    stored = await harness.store.load("r1")
    assert all(rounds_in(sights)[-1] == stored for sights in seen)
    assert stored.stage is Stage.CLOSED


async def test_a_late_subscriber_gets_the_latest_snapshot_first(new_harness: MakeHarness) -> None:
    harness = await new_harness(gateway_with_hanging_model())
    harness.runner.start(harness.round_)
    newest = await harness.wait_until(has_two_answers)

    async with harness.runner.subscribe("r1") as sights:
        first = await anext(sights)

    assert first.round_ == newest


async def test_a_round_that_does_not_run_is_returned_as_stored(
    new_harness: MakeHarness,
) -> None:
    harness = await new_harness()

    assert rounds_in(await harness.collect_snapshots()) == [harness.round_]


async def test_unsubscribing_stops_nothing(new_harness: MakeHarness) -> None:
    harness = await new_harness()
    harness.runner.start(harness.round_)

    watcher = asyncio.create_task(harness.collect_snapshots())
    await asyncio.sleep(0)
    watcher.cancel()
    await asyncio.wait([watcher])

    assert await harness.runner.is_running("r1")
    assert (await harness.collect_snapshots())[-1].round_.stage is Stage.CLOSED


async def test_a_stopped_round_keeps_its_parts_and_can_be_started_again(
    new_harness: MakeHarness,
) -> None:
    harness = await new_harness(gateway_with_hanging_model())
    harness.runner.start(harness.round_)
    await harness.wait_until(has_two_answers)

    await harness.runner.stop("r1")
    kept = await harness.store.load("r1")
    harness.gateway.answers = {}
    harness.runner.start(kept)
    await harness.collect_snapshots()

    assert has_two_answers(kept)
    assert (await harness.store.load("r1")).stage is Stage.CLOSED
    assert harness.gateway.times_asked()[CLAUDE, Role.ANSWER] == 1


async def test_subscribers_of_a_stopped_round_get_an_error(new_harness: MakeHarness) -> None:
    harness = await new_harness(gateway_with_hanging_model())
    harness.runner.start(harness.round_)
    watchers = [asyncio.create_task(harness.collect_snapshots()) for _ in range(2)]
    await harness.wait_until(has_two_answers)

    await harness.runner.stop("r1")

    for watcher in watchers:
        with pytest.raises(RoundStoppedError, match="Round r1 was stopped before it finished"):
            await watcher


async def test_a_round_stopped_before_it_began_does_not_run(new_harness: MakeHarness) -> None:
    harness = await new_harness()

    harness.runner.start(harness.round_)
    await harness.runner.stop("r1")

    assert not harness.runner.latest("r1")
    assert not await harness.runner.is_running("r1")


async def test_stopping_a_round_that_does_not_run_is_no_error(new_harness: MakeHarness) -> None:
    harness = await new_harness()

    await harness.runner.stop("r1")
    await harness.runner.stop("r2")

    assert not await harness.runner.is_running("r1")


async def test_every_subscriber_gets_an_error_and_the_round_can_be_started_again(
    new_harness: MakeHarness,
) -> None:
    harness = await new_harness(refusals=1)
    harness.runner.start(harness.round_)

    subscribers = (harness.collect_snapshots(), harness.collect_snapshots())
    errors = await asyncio.gather(*subscribers, return_exceptions=True)
    harness.runner.start(harness.round_)
    await harness.collect_snapshots()

    assert [str(error) for error in errors] == ["The disk is full."] * 2
    assert (await harness.store.load("r1")).stage is Stage.CLOSED


async def test_if_models_cannot_be_prepared_no_model_is_called(
    new_harness: MakeHarness,
) -> None:
    async def prepare(_: Panel) -> None:
        raise PanelError("The models cannot be fetched.")

    harness = await new_harness(prepare=prepare)
    harness.runner.start(harness.round_)

    with pytest.raises(PanelError, match="cannot be fetched"):
        await harness.collect_snapshots()

    assert (harness.gateway.asked, harness.runner.latest("r1")) == ([], None)
