"""The runner of one machine: drafts, file claims, and calls that end before it closes."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from bot.coordination.locks import FileClaims
from bot.ports import RoundStoppedError
from bot.runners import local
from bot.runners.local import DrainableGateway, LocalRunner
from council.answers import Call, Prompt, Reply
from council.budget import Budget
from council.budget_caps import Account, Caps, CapUsage, Scope
from council.money import FREE, Price
from council.panel import Member, Panel
from council.rounds import Round, Stage
from storage.engine import open_engine
from storage.rounds import SqlRoundStore
from tests.bot.runners.runner_fixtures import (
    ManualClock,
    RunnerHarness,
    WritingGateway,
    collect_snapshots,
    gateway_with_hanging_model,
    prepare_nothing,
    rounds_in,
)
from tests.builders import CLAUDE, GPT, TERMS, a_panel, a_round
from tests.fakes.gateway import FailingStore, FakeGateway, PowerCutError
from tests.fakes.memory_ledger import MemoryLedger
from tests.fakes.memory_store import MemoryStore
from tests.sqlite import new_file
from tests.wire.faults import until


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
    # Begun, three answers, the draw, three ballots, the tally, the synthesis with the end.
    assert [round_.stage for round_ in first] == [Stage.OPEN] * 4 + [Stage.ANSWERED] * 4 + [
        Stage.RANKED
    ] + [Stage.CLOSED]
    assert all(rounds_in(sights) == first for sights in seen)
    assert first[-1] == await harness.store.load("r1")


async def test_the_clock_says_the_seconds_that_the_round_took() -> None:
    gateway = WritingGateway(pieces=("So", 5.0, "."))
    harness, prepared = await new_harness(gateway, ticks=gateway.ticks), asyncio.Event()

    async def prepare_slowly(_: Panel) -> None:
        gateway.ticks.now += 12.0
        await prepared.wait()

    runner = harness.runner = LocalRunner(
        harness.store, gateway, prepare_slowly, clock=gateway.ticks
    )
    runner.start(harness.round_)
    async with runner.subscribe("r1") as snapshots:
        waiting = await anext(snapshots)
        prepared.set()
        begun, *_, last = [snapshot async for snapshot in snapshots]

    assert (waiting.seconds, begun.seconds, last.seconds) == (None, 0.0, 5.0)
    assert last.round_.closing
    assert last.round_.closing.seconds == last.seconds


async def test_who_opens_a_running_round_finds_its_clock_on_time() -> None:
    ticks = ManualClock()
    harness = await new_harness(gateway_with_hanging_model(), ticks=ticks)
    harness.runner.start(harness.round_)
    await harness.wait_until(lambda round_: len(round_.answers) == 2)

    ticks.now += 30

    async with harness.runner.subscribe("r1") as snapshots:
        assert (await anext(snapshots)).seconds == 30.0
    await harness.runner.stop("r1")


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

    async def on_closed(round_: Round) -> None:
        closed.append(round_)

    gateway, store = FakeGateway(), MemoryStore()
    runner = LocalRunner(store, gateway, prepare_nothing, on_closed=on_closed)
    harness = RunnerHarness(gateway, store, runner)
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


TAKE = """
import sys, time
from pathlib import Path
from bot.coordination.locks import FileClaims
print(FileClaims(Path(sys.argv[1])).take(sys.argv[2]), flush=True)
sys.stdin.read()
"""


def other(file: Path, name: str) -> subprocess.Popen[str]:
    """Start a process that claims a name and keeps it until it is killed or its stdin closes."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    words = [sys.executable, "-c", TAKE, str(file), name]
    return subprocess.Popen(words, text=True, **pipes)  # type: ignore[call-overload, no-any-return]


def got(process: subprocess.Popen[str]) -> bool:
    assert process.stdout
    return process.stdout.readline() == "True\n"


def test_a_claimed_name_is_refused_to_other_processes(tmp_path: Path) -> None:
    claims = FileClaims(tmp_path / "lock")
    assert claims.take("r1")

    with other(tmp_path / "lock", "r1") as one, other(tmp_path / "lock", "r2") as two:
        assert (got(one), got(two)) == (False, True)
        assert not claims.take("r2")


def test_a_freed_name_can_be_taken(tmp_path: Path) -> None:
    claims = FileClaims(tmp_path / "lock")
    claims.take("r1")
    claims.take("r2")
    claims.free("r1")

    with other(tmp_path / "lock", "r1") as one, other(tmp_path / "lock", "r2") as two:
        assert (got(one), got(two)) == (True, False)


def test_a_dead_process_has_no_claims(tmp_path: Path) -> None:
    claims = FileClaims(tmp_path / "lock")
    with other(tmp_path / "lock", "r1") as process:
        assert got(process)
        assert not claims.take("r1")
        process.kill()

    assert claims.take("r1")


def test_all_names_are_taken_unless_another_process_has_one(tmp_path: Path) -> None:
    claims = FileClaims(tmp_path / "lock")
    with other(tmp_path / "lock", "r1") as process:
        assert got(process)
        assert not claims.take_all()
        process.kill()

    assert claims.take_all()
    with other(tmp_path / "lock", "r2") as process:
        assert not got(process)


CALL = Call(a_panel(3).members[0], Prompt("", "Why?"))


class SlowGateway:
    """Replies once it may."""

    def __init__(self) -> None:
        self.may_reply = asyncio.Event()
        self.calls = 0
        self.versions = {"slow": "1"}

    async def complete(self, call: Call) -> Reply:
        self.calls += 1
        await self.may_reply.wait()
        return Reply("Because.")

    def context_tokens(self, member_key: str) -> int | None:
        return 8

    async def price(self, seat: Member) -> Price | None:
        return FREE

    async def sees_images(self, seat: Member) -> bool:
        return False


async def test_a_running_call_ends_normally() -> None:
    gateway = SlowGateway()
    tap = DrainableGateway(gateway)
    call = asyncio.create_task(tap.complete(CALL))
    await asyncio.sleep(0)
    closing = asyncio.create_task(tap.close(grace_seconds=30))
    await asyncio.sleep(0)
    gateway.may_reply.set()

    await closing

    assert (await call).text == "Because."


async def test_a_closed_gateway_starts_no_call() -> None:
    gateway = SlowGateway()
    tap = DrainableGateway(gateway)
    await tap.close(grace_seconds=30)

    call = asyncio.create_task(tap.complete(CALL))
    await asyncio.sleep(0)

    assert (gateway.calls, call.done()) == (0, False)
    call.cancel()


async def test_the_grace_period_ends() -> None:
    tap = DrainableGateway(SlowGateway())
    call = asyncio.create_task(tap.complete(CALL))
    await asyncio.sleep(0)

    await tap.close(grace_seconds=0.01)

    assert not call.done()
    call.cancel()


# --- Late replies

GRACE = replace(TERMS, grace_seconds=0.02)


class SlowestGateway(FakeGateway):
    """The first answer of one member comes once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_reply = asyncio.Event()
        self.is_first = True

    async def complete(self, call: Call) -> Reply:
        if call.member.key == GPT and self.is_first:
            self.is_first = False
            await self.may_reply.wait()
        return await super().complete(call)


async def closed_with_a_late_call(
    gateway: FakeGateway, budget: Budget | None = None
) -> RunnerHarness:
    store = MemoryStore()
    paying = budget.paying if budget else lambda _, gateway: nullcontext(gateway)
    runner = LocalRunner(store, gateway, prepare_nothing, paying=paying)
    harness = RunnerHarness(gateway, store, runner, a_round(a_panel(4, terms=GRACE)))
    await store.open(harness.round_)
    harness.runner.start(harness.round_)
    assert (await harness.collect_snapshots())[-1].round_.closing
    return harness


async def test_a_late_reply_is_stored_after_the_round_was_published() -> None:
    gateway = SlowestGateway()
    harness = await closed_with_a_late_call(gateway)

    gateway.may_reply.set()
    await until(lambda: not harness.runner.latest("r1"), 5, list)

    assert [late.member for late in (await harness.store.load("r1")).late] == [GPT]


async def test_stopping_a_closed_round_gives_up_its_late_calls() -> None:
    harness = await closed_with_a_late_call(SlowestGateway())

    async with asyncio.timeout(5):
        await harness.runner.stop("r1")

    assert not harness.runner.latest("r1")
    assert (await harness.store.load("r1")).late == ()


async def test_closing_stores_a_late_reply_that_comes_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local, "LATE_SECONDS", 60.0)  # no clock ends it before the reply
    gateway = SlowestGateway()
    harness = await closed_with_a_late_call(gateway)
    assert isinstance(harness.runner, LocalRunner)
    closing = asyncio.create_task(harness.runner.close())
    await asyncio.sleep(0)

    gateway.may_reply.set()
    await closing

    assert [late.member for late in (await harness.store.load("r1")).late] == [GPT]


async def test_closing_books_a_late_call_at_the_most_it_can_cost_and_waits_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local, "LATE_SECONDS", 0.0)
    monkeypatch.setattr(local, "GRACE_SECONDS", 3_600.0)  # that of rounds without an answer
    budget = Budget(MemoryLedger(), Caps(), lambda: datetime(2026, 11, 21, tzinfo=UTC))
    gateway = SlowestGateway()
    gateway.prices = {GPT: Price(0, 1e-6, 100)}
    harness = await closed_with_a_late_call(gateway, budget)

    assert isinstance(harness.runner, LocalRunner)
    async with asyncio.timeout(60):
        await harness.runner.close()

    replies = [call for call in gateway.asked if call.member.key == GPT]  # each costs as much
    used = (await budget.ledger.usage(Account("", date(2026, 11, 21))))[Scope.DAY]
    assert used == CapUsage((len(replies) + 1) * 100)
    assert (await harness.store.load("r1")).late == ()


async def test_late_calls_keep_no_other_round_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.runners.local.MAX_ROUNDS", 1)
    harness = await closed_with_a_late_call(SlowestGateway())
    second = replace(harness.round_, id="r2", panel=a_panel(3))
    await harness.store.open(second)

    harness.runner.start(second)

    assert (await collect_snapshots(harness.runner, "r2"))[-1].round_.closing


async def test_a_chairmans_usual_time_is_known_after_thirty_calls() -> None:
    store, seen = MemoryStore(), list[float]()
    gateway = FakeGateway(chairmen={CLAUDE: Reply("So.", seconds=3.0)})
    runner = LocalRunner(store, gateway, prepare_nothing)
    for number in range(31):
        round_ = replace(a_round(), id=f"r{number}")
        await store.open(round_)
        runner.start(round_)
        await collect_snapshots(runner, round_.id)
        await runner.stop(round_.id)
        seen.append(runner._patience(CLAUDE))

    assert seen[28:] == [20.0, 3.0, 3.0]


# --- A full disk


async def limit_pages(engine: AsyncEngine, pages: int) -> None:
    """Limit the database to so many pages; with fewer than it has, it cannot grow at all."""
    async with engine.connect() as connection:  # the only one of the pool
        await connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")


@asynccontextmanager
async def a_round_that_waits_for_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[LocalRunner, SqlRoundStore, FakeGateway]]:
    """Yield a runner whose round has long answers and no room for them."""
    monkeypatch.setattr(local, "ROOM_SECONDS", 0.01)
    engine = open_engine(new_file(folder))
    store, gateway = SqlRoundStore(engine), FakeGateway(answers={GPT: "Yes. " * 1_500})
    runner = LocalRunner(store, gateway, prepare_nothing, waits_for_room=True)
    await store.open(a_round())
    await limit_pages(engine, 1)
    with capture_logs() as logged:
        runner.start(a_round())
        try:
            await until(lambda: "round_waits_for_room" in str(logged), 20, list)
            yield runner, store, gateway
        finally:
            await runner.close()
            await engine.dispose()


async def test_a_round_continues_once_a_full_disk_has_room_and_asks_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_round_that_waits_for_room(tmp_path, monkeypatch) as (runner, store, gateway):
        assert await runner.is_running("r1")
        await limit_pages(store.engine, 100_000)
        last = (await collect_snapshots(runner))[-1]

    assert last.round_.stage is Stage.CLOSED
    assert len(last.round_.answers) == 3
    assert set(gateway.times_asked().values()) == {1}


async def test_a_round_that_waits_for_room_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_round_that_waits_for_room(tmp_path, monkeypatch) as (runner, store, _):
        await runner.stop("r1")

        assert not await runner.is_running("r1")
        assert not (await store.load("r1")).closing
