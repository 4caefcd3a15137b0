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
from tests.bot.cluster.processes import a_process
from tests.bot.runners.houses import (
    House,
    RefusingSqlStore,
    RefusingStore,
    has_two_answers,
    one_hangs,
    ready,
    rounds_of,
)
from tests.builders import CLAUDE
from tests.fakes.gateway import FakeGateway

Furnish = Callable[..., Awaitable[House]]


@pytest.fixture(params=["local", "cluster"])
def server_url(request: pytest.FixtureRequest) -> str | None:
    """Give the address of a server's database; None for a runner without one."""
    if request.param == "local":
        return None
    found: str = request.getfixturevalue("migrated_url")
    return found


@pytest.fixture
async def a_house(
    server_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Furnish]:
    """Give what furnishes a house with a stored round."""
    async with AsyncExitStack() as stack:

        async def furnish(
            gateway: FakeGateway | None = None, *, refusals: int = 0, prepare: Prepare = ready
        ) -> House:
            gateway = gateway or FakeGateway()
            if server_url:
                house = await in_a_cluster(stack, server_url, gateway, prepare)
            else:
                store = RefusingStore()
                runner = LocalRunner(store, gateway, prepare)
                stack.push_async_callback(runner.close)
                house = House(gateway, store, runner)
            await house.store.open(house.round_)
            house.store.left = refusals  # type: ignore[attr-defined]
            return house

        yield furnish
        monkeypatch.setattr("bot.runners.local.GRACE_SECONDS", 0.0)  # nobody waits for what hangs


async def in_a_cluster(
    stack: AsyncExitStack, url: str, gateway: FakeGateway, prepare: Prepare
) -> House:
    engine = open_engine(url)
    stack.push_async_callback(engine.dispose)
    process = await stack.enter_async_context(a_process(url))
    store = RefusingSqlStore(engine)
    runner = ClusterRunner(store, gateway, prepare, process.job_queue, process.pubsub)
    await stack.enter_async_context(runner.carrying())
    return House(gateway, store, runner)


async def test_a_round_is_carried_once_however_often_it_is_started(a_house: Furnish) -> None:
    house = await a_house()

    for _ in range(3):
        house.runner.start(house.round_)
    await house.watched()

    assert set(house.gateway.times_asked().values()) == {1}


async def test_nobody_need_watch(a_house: Furnish) -> None:
    house = await a_house()

    house.runner.start(house.round_)
    # Nobody watches, so nothing tells.
    while await house.runner.is_running("r1"):  # noqa: ASYNC110
        await asyncio.sleep(0.005)

    assert (await house.store.load("r1")).stage is Stage.CLOSED


async def test_every_watcher_sees_the_round_grow_and_its_end(a_house: Furnish) -> None:
    house = await a_house()
    house.runner.start(house.round_)

    seen = await asyncio.gather(*(house.watched() for _ in range(5)))

    stages = [[round_.stage for round_ in rounds_of(sights)] for sights in seen]
    assert all(found == sorted(found, key=list(Stage).index) for found in stages)
    stored = await house.store.load("r1")
    assert all(rounds_of(sights)[-1] == stored for sights in seen)
    assert stored.stage is Stage.CLOSED


async def test_a_late_watcher_sees_the_newest_state_first(a_house: Furnish) -> None:
    house = await a_house(one_hangs())
    house.runner.start(house.round_)
    newest = await house.until(has_two_answers)

    async with house.runner.subscribe("r1") as sights:
        first = await anext(sights)

    assert first.round_ == newest


async def test_a_round_that_is_not_carried_is_seen_as_it_is_stored(a_house: Furnish) -> None:
    house = await a_house()

    assert rounds_of(await house.watched()) == [house.round_]


async def test_leaving_off_watching_stops_nothing(a_house: Furnish) -> None:
    house = await a_house()
    house.runner.start(house.round_)

    watcher = asyncio.create_task(house.watched())
    await asyncio.sleep(0)
    watcher.cancel()
    await asyncio.wait([watcher])

    assert await house.runner.is_running("r1")
    assert (await house.watched())[-1].round_.stage is Stage.CLOSED


async def test_stop_keeps_what_is_there_and_the_round_can_be_started_again(
    a_house: Furnish,
) -> None:
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


async def test_whoever_watches_a_round_that_is_stopped_is_told(a_house: Furnish) -> None:
    house = await a_house(one_hangs())
    house.runner.start(house.round_)
    watchers = [asyncio.create_task(house.watched()) for _ in range(2)]
    await house.until(has_two_answers)

    await house.runner.stop("r1")

    for watcher in watchers:
        with pytest.raises(RoundStoppedError, match="Round r1 was stopped before its end"):
            await watcher


async def test_a_round_stopped_before_it_began_is_not_carried(a_house: Furnish) -> None:
    house = await a_house()

    house.runner.start(house.round_)
    await house.runner.stop("r1")

    assert not house.runner.latest("r1")
    assert not await house.runner.is_running("r1")


async def test_stopping_what_is_not_carried_is_no_fault(a_house: Furnish) -> None:
    house = await a_house()

    await house.runner.stop("r1")
    await house.runner.stop("r2")

    assert not await house.runner.is_running("r1")


async def test_an_error_is_told_to_every_watcher_and_the_round_can_be_started_again(
    a_house: Furnish,
) -> None:
    house = await a_house(refusals=1)
    house.runner.start(house.round_)

    told = await asyncio.gather(house.watched(), house.watched(), return_exceptions=True)
    house.runner.start(house.round_)
    await house.watched()

    assert [str(error) for error in told] == ["The disk is full."] * 2
    assert (await house.store.load("r1")).stage is Stage.CLOSED


async def test_models_that_cannot_be_made_ready_are_told_and_nobody_is_asked(
    a_house: Furnish,
) -> None:
    async def prepare(_: Panel) -> None:
        raise PanelError("The models cannot be fetched.")

    house = await a_house(prepare=prepare)
    house.runner.start(house.round_)

    with pytest.raises(PanelError, match="cannot be fetched"):
        await house.watched()

    assert (house.gateway.asked, house.runner.latest("r1")) == ([], None)
