"""The runner of many machines: a round goes on wherever there is a process, and is paid once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.cluster.connection import ClusterTimings
from bot.cluster.connection import clock as awake
from bot.cluster.job_queue import ClusterJobQueue
from bot.ports import RoundSnapshot, RoundStoppedError
from bot.runners.cluster import (
    MAX_DRAFT_CHARACTERS,
    ClusterRunner,
    RoundEvent,
    RoundFailedError,
    decode_event,
    encode_event,
    error_of,
    job_of,
    locked_in_cluster,
)
from bot.runners.local import LocalRunner, RoundElsewhereError
from council.answers import Call, Exchange, Prompt, Reply, Role
from council.errors import BudgetError, CouncilError
from council.ports import Gateway
from council.rounds import Round, Stage
from storage.engine import open_engine
from storage.rounds import SqlRoundStore
from tests.bot.cluster.processes import QUICK, Clock, Process, start_process, wait_until
from tests.bot.runners import runner_fixtures
from tests.bot.runners.runner_fixtures import (
    collect_snapshots,
    gateway_with_hanging_model,
    has_two_answers,
    prepare_nothing,
    rounds_in,
)
from tests.builders import CLAUDE, GPT, a_panel, a_question, an_answer
from tests.fakes.gateway import FakeGateway, read_prompt
from tests.postgres import Server

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def a_round(round_id: str = "r1", bakeoff: str = "") -> Round:
    """Return a round of the page that is old enough for the sweep to enqueue it."""
    question = replace(a_question(), place=replace(a_question().place, chat="web"))
    return Round(round_id, question, a_panel(), "seed", LONG_AGO, bakeoff=bakeoff)


@dataclass(slots=True)
class Member:
    """One process of a cluster with its runner, its own way to the rows and to models."""

    process: Process
    store: SqlRoundStore
    gateway: FakeGateway
    runner: ClusterRunner
    leave: Callable[[], Coroutine[Any, Any, None]]


Join = Callable[..., Awaitable[Member]]


@pytest.fixture
async def join(migrated_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Join]:
    """Return a function that starts one more process of the cluster."""
    async with AsyncExitStack() as stack:

        async def joined(
            gateway: FakeGateway | None = None,
            store: type[SqlRoundStore] = SqlRoundStore,
            clock: Callable[[], float] = awake,
            timings: ClusterTimings = QUICK,
            **more: object,
        ) -> Member:
            own = await stack.enter_async_context(AsyncExitStack())
            engine = open_engine(migrated_url)
            own.push_async_callback(engine.dispose)
            process = await own.enter_async_context(start_process(migrated_url, timings, clock))
            rounds, models = store(engine), gateway or FakeGateway()
            runner = ClusterRunner(
                rounds,
                models,
                prepare_nothing,
                process.job_queue,
                process.pubsub,
                **more,  # type: ignore[arg-type]
            )
            await own.enter_async_context(runner.running())
            return Member(process, rounds, models, runner, own.aclose)

        yield joined
        monkeypatch.setattr("bot.runners.local.GRACE_SECONDS", 0.0)  # nobody waits for what hangs


async def join_with_answers(join: Join, gateway: FakeGateway, **more: object) -> Member:
    """Start a process of the cluster that runs a round, which has two answers."""
    member = await join(gateway, **more)
    await member.store.open(a_round())
    member.runner.start(a_round())
    await runner_fixtures.wait_until(member.runner, has_two_answers)
    return member


def times_asked(*members: Member) -> dict[tuple[str, Role], int]:
    """Count the calls of each seat in each role, over all processes."""
    counts = [member.gateway.times_asked() for member in members]
    return dict(sum(counts[1:], counts[0]))


async def test_another_process_can_follow_a_round_to_its_end(join: Join) -> None:
    one, other = await join(), await join()
    await one.store.open(a_round())
    one.runner.start(a_round())
    await asyncio.wait_for(_carried(other.runner), 10)

    seen = rounds_in(await collect_snapshots(other.runner))

    assert seen[-1] == await one.store.load("r1")
    assert seen[-1].stage is Stage.CLOSED
    assert set(times_asked(one, other).values()) == {1}


async def _carried(runner: ClusterRunner) -> None:
    while not await runner.is_running("r1"):  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.005)


async def test_a_round_is_stopped_from_another_process_and_goes_on_there(join: Join) -> None:
    one = await join_with_answers(join, gateway_with_hanging_model())
    other = await join()
    watcher = asyncio.create_task(collect_snapshots(other.runner))
    await runner_fixtures.wait_until(other.runner, has_two_answers)

    await other.runner.stop("r1")
    stopped = not one.runner.latest("r1")
    with pytest.raises(RoundStoppedError, match="was stopped before it finished"):
        await watcher
    await one.leave()
    other.runner.start(a_round())
    ended = rounds_in(await collect_snapshots(other.runner))[-1]

    assert stopped
    assert ended.stage is Stage.CLOSED
    assert times_asked(one, other)[GPT, Role.ANSWER] == 2


async def test_a_round_of_a_killed_process_resumes_and_repeats_only_calls_in_flight(
    join: Join,
) -> None:
    killed = await join_with_answers(join, gateway_with_hanging_model())
    other = await join()

    killed.process.kill()
    ended = rounds_in(await collect_snapshots(other.runner))[-1]

    assert ended.stage is Stage.CLOSED
    again = {key for key, count in times_asked(killed, other).items() if count > 1}
    assert again == {(GPT, Role.ANSWER)}


@dataclass(eq=False)
class Held(FakeGateway):
    """Answers GPT's question once it may, as a call does that is under way."""

    may_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, call: Call) -> Reply:
        if call.member.key == GPT and read_prompt(call.prompt).role is Role.ANSWER:
            self.asked.append(call)
            await self.may_go.wait()
            return Reply("Late, and paid for.")
        return await super().complete(call)


async def test_a_running_call_ends_before_its_process_shuts_down(join: Join) -> None:
    leaving = await join_with_answers(join, Held())

    going = asyncio.create_task(leaving.leave())
    await asyncio.sleep(0.05)
    leaving.gateway.may_go.set()  # type: ignore[attr-defined]
    await going
    other = await join()
    await collect_snapshots(other.runner)

    assert times_asked(leaving, other)[GPT, Role.ANSWER] == 1


async def test_a_frozen_process_spends_nothing_more(join: Join) -> None:
    clock = Clock()
    frozen = await join_with_answers(join, Held(), clock=clock)
    asked = len(frozen.gateway.asked)

    clock.now += 60
    frozen.process.job_queue.stop_serving("rounds")  # what it lost it would take again
    frozen.gateway.may_go.set()  # type: ignore[attr-defined]
    frozen.process.job_queue.worker.freeze_detector.check()
    await wait_until(lambda: frozen.runner.latest("r1") is None)

    assert len(frozen.gateway.asked) == asked
    assert (await frozen.store.load("r1")).stage is Stage.OPEN


async def test_no_call_starts_after_a_freeze(join: Join) -> None:
    clock = Clock()
    frozen = await join_with_answers(join, Held(), clock=clock)
    asked = len(frozen.gateway.asked)

    frozen.process.job_queue.worker.freeze_detector.stop()  # nobody has looked yet
    clock.now += 60
    frozen.gateway.may_go.set()  # type: ignore[attr-defined]
    await wait_until(lambda: _answers(frozen) == 3)
    await asyncio.sleep(0.1)

    assert len(frozen.gateway.asked) == asked


def _answers(member: Member) -> int:
    sight = member.runner.latest("r1")
    return len(sight.round_.answers) if sight else 0


async def test_a_server_that_restarts_in_mid_round_costs_nothing(
    join: Join, postgres: Server
) -> None:
    timings = replace(QUICK, settle_seconds=1.5)
    one, other = await join(Held(), timings=timings), await join(Held(), timings=timings)
    await one.store.open(a_round())
    one.runner.start(a_round())
    await runner_fixtures.wait_until(one.runner, has_two_answers)
    watcher = asyncio.create_task(collect_snapshots(other.runner))
    await runner_fixtures.wait_until(other.runner, has_two_answers)

    restarting = asyncio.create_task(asyncio.to_thread(postgres.restart))
    for member in (one, other):
        member.gateway.may_go.set()  # type: ignore[attr-defined]
    await restarting

    assert rounds_in(await watcher)[-1].stage is Stage.CLOSED
    assert set(times_asked(one, other).values()) == {1}


async def test_unfinished_rounds_of_its_chats_go_on(join: Join) -> None:
    one = await join()
    await one.store.open(a_round())

    await one.runner.resume(("web",))

    assert rounds_in(await collect_snapshots(one.runner))[-1].stage is Stage.CLOSED


@pytest.mark.parametrize(
    ("round_", "chats"),
    [
        pytest.param(a_round(), ("slack",), id="of-another-chat"),
        pytest.param(a_round(bakeoff="bo"), ("web",), id="of-a-bake-off"),
    ],
)
async def test_other_rounds_are_left_alone(
    join: Join, round_: Round, chats: tuple[str, ...]
) -> None:
    one = await join()
    await one.store.open(round_)

    await one.runner.resume(chats)

    assert not await one.runner.is_running("r1")


async def test_a_new_round_is_left_to_the_process_that_got_the_question(join: Join) -> None:
    one = await join()
    await one.store.open(replace(a_round(), asked_at=datetime.now(UTC)))

    await one.runner.resume(("web",))

    assert not await one.runner.is_running("r1")


async def test_a_stopped_round_is_not_resumed(join: Join) -> None:
    one = await join()
    await one.store.open(a_round())
    await one.store.pause("r1", paused=True)

    await one.runner.resume(("web",))
    await one.process.job_queue.enqueue(job_of("r1"))  # as by a sweep that looked before
    while await one.runner.is_running("r1"):  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.005)

    assert one.gateway.asked == []


async def test_a_failed_round_is_retried_when_it_is_started(join: Join) -> None:
    refusing = await join(store=runner_fixtures.RefusingSqlStore)
    refusing.store.failures_left = 1  # type: ignore[attr-defined]
    await refusing.store.open(a_round())
    refusing.runner.start(a_round())
    with pytest.raises(Exception, match="disk is full"):
        await collect_snapshots(refusing.runner)
    await refusing.leave()

    other = await join()
    await other.runner.resume(("web",))

    assert rounds_in(await collect_snapshots(other.runner))[-1].stage is Stage.CLOSED


@dataclass(eq=False)
class Writing(FakeGateway):
    """Writes the synthesis in two pieces; the second once it may."""

    may_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, call: Call) -> Reply:
        reply = await super().complete(call)
        if read_prompt(call.prompt).role is Role.SYNTHESIS and call.on_text:
            call.on_text("Use Postgres")
            await self.may_go.wait()
        return reply


async def test_a_draft_and_its_time_are_seen_from_another_process(join: Join) -> None:
    one = await join(Writing())
    await one.store.open(a_round())
    one.runner.start(a_round())
    await wait_until(lambda: _draft(one) == "Use Postgres")
    other = await join()

    async with other.runner.subscribe("r1") as sights:
        first = await anext(sights)
        await one.process.pubsub.publish("round r1", '{"parts": 8, "seconds": 7.5, "draft": "Use"}')
        draft = await anext(sights)
        one.gateway.may_go.set()  # type: ignore[attr-defined]
        last = [sight async for sight in sights][-1]

    assert first.seconds is not None
    assert 0 < first.seconds < 60
    assert (draft.draft, draft.seconds) == ("Use", 7.5)
    assert last.round_.stage is Stage.CLOSED


def _draft(member: Member) -> str:
    sight: RoundSnapshot | None = member.runner.latest("r1")
    return sight.draft if sight else ""


def a_lone_runner(member: Member, works: ClusterJobQueue, gateway: Gateway) -> LocalRunner:
    return LocalRunner(
        store=member.store,
        gateway=gateway,
        prepare=prepare_nothing,
        paying=locked_in_cluster(works, lambda _, gateway: nullcontext(gateway)),
    )


async def test_a_command_does_not_run_a_round_of_the_cluster(join: Join, migrated_url: str) -> None:
    one = await join_with_answers(join, gateway_with_hanging_model())

    async with start_process(migrated_url) as command:
        gateway = FakeGateway()
        lone = a_lone_runner(one, command.job_queue, gateway)
        lone.start(a_round())
        with pytest.raises(RoundElsewhereError, match="is running in another process"):
            await collect_snapshots(lone)

    assert gateway.asked == []


async def test_the_cluster_does_not_run_a_round_of_a_command(join: Join, migrated_url: str) -> None:
    one = await join()
    await one.store.open(a_round())

    async with start_process(migrated_url) as command:
        gateway = Held()
        lone = a_lone_runner(one, command.job_queue, gateway)
        lone.start(a_round())
        await runner_fixtures.wait_until(lone, has_two_answers)
        await one.runner.resume(("web",))
        gateway.may_go.set()
        await collect_snapshots(lone)
        await lone.close()

    assert one.gateway.asked == []
    assert not await one.runner.is_running("r1")


def test_an_event_survives_the_round_trip() -> None:
    asked = Exchange("critique", CLAUDE, Prompt("", ""), Reply("Too short."))
    snapshot = RoundSnapshot(a_round().with_(an_answer()).with_(asked), "Use Postgres", 2.5)

    assert decode_event(encode_event(snapshot)) == RoundEvent(2, 2.5, "Use Postgres")


def test_a_draft_that_is_too_long_is_left_out() -> None:
    snapshot = RoundSnapshot(a_round(), "x" * (MAX_DRAFT_CHARACTERS + 1), 2.5)

    assert decode_event(encode_event(snapshot)) == RoundEvent(0, 2.5, None)


@pytest.mark.parametrize(
    "text", ["", "{}", "7", "[]", '{"parts": "many", "seconds": 1}', '{"parts": 1}']
)
def test_an_unknown_message_is_no_event(text: str) -> None:
    assert decode_event(text) is None


def test_unknown_fields_are_ignored() -> None:
    assert decode_event('{"parts": 1, "seconds": 2, "draft": null, "mood": "good"}') == RoundEvent(
        1, 2.0, None
    )


@pytest.mark.parametrize(
    ("fault", "kind", "sentence"),
    [
        pytest.param(None, RoundStoppedError, "Round r1 was stopped before it finished.", id=""),
        pytest.param({"kind": "BudgetError", "why": "No."}, BudgetError, "No.", id="known"),
        pytest.param({"kind": "NewError", "why": "No."}, RoundFailedError, "No.", id="unknown"),
        pytest.param({"kind": "", "why": "Ref."}, RoundFailedError, "Ref.", id="unforeseen"),
    ],
)
def test_a_fault_becomes_the_original_error(
    fault: dict[str, str] | None, kind: type[CouncilError], sentence: str
) -> None:
    error = error_of(fault, "r1")

    assert (type(error), str(error)) == (kind, sentence)
