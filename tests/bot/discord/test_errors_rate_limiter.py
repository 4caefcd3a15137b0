"""However many rounds share a channel, each has room for its answer's edit whenever it comes."""

import asyncio
from dataclasses import dataclass, field

import pytest

from bot.discord.errors import (
    ANSWER_SECONDS,
    EDIT_WINDOW_SECONDS,
    MAX_CALLS_PER_SECOND,
    MAX_EDITS,
    MESSAGE_EXPIRY_SECONDS,
    EditRateLimiter,
)


@dataclass(slots=True)
class Clock:
    """The time; whoever sleeps moves it."""

    now: float = 100.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@dataclass(slots=True)
class HeldClock:
    """The time, moved by hand; whoever sleeps waits for it."""

    now: float = 100.0
    sleeping: list[tuple[float, asyncio.Event]] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self.sleeping.append((self.now + seconds, woken))
        await woken.wait()

    async def advance(self, seconds: float) -> None:
        self.now += seconds
        for until, woken in self.sleeping:
            if until <= self.now:
                woken.set()
        for _ in range(10):
            await asyncio.sleep(0)


def a_pace() -> tuple[EditRateLimiter, Clock]:
    clock = Clock()
    return EditRateLimiter(clock, clock.sleep), clock


@pytest.mark.parametrize("rounds", range(1, MAX_EDITS))
async def test_progress_leaves_room_for_every_answer(rounds: int) -> None:
    edits, clock = a_pace()
    for number in range(rounds):
        await edits.acquire_edit("C1", f"m{number}")

    at: list[float] = []
    for number in range(20):
        await edits.acquire_edit("C1", f"m{number % rounds}")
        at.append(clock.now)

    most = max(sum(start <= t < start + EDIT_WINDOW_SECONDS for t in at) for start in at)
    assert most <= MAX_EDITS - rounds
    assert clock.now - 100 <= 25 * EDIT_WINDOW_SECONDS


async def test_progress_waits_while_all_edits_are_reserved_for_answers() -> None:
    clock = HeldClock()
    edits = EditRateLimiter(clock, clock.sleep)
    waiting = [
        asyncio.create_task(edits.acquire_edit("C1", f"m{number}")) for number in range(MAX_EDITS)
    ]
    await clock.advance(0)
    before = sum(task.done() for task in waiting)
    for _ in range(4):
        await clock.advance(EDIT_WINDOW_SECONDS)
    assert sum(task.done() for task in waiting) == before

    edits.record_answer("C1", "m0")
    for _ in range(4):
        await clock.advance(EDIT_WINDOW_SECONDS)

    assert sum(task.done() for task in waiting) > before
    for task in waiting:
        task.cancel()


async def test_an_answers_edit_counts_towards_the_rate_limit() -> None:
    edits, clock = a_pace()
    for _ in range(MAX_EDITS - 1):
        edits.record_answer("C1", "gone")

    await edits.acquire_edit("C1", "m1")

    assert clock.now == 100 + EDIT_WINDOW_SECONDS


async def test_channels_do_not_wait_for_each_other() -> None:
    edits, clock = a_pace()
    for number in range(10):
        await edits.acquire_edit(f"C{number}", "m")

    assert clock.slept == []


async def test_a_message_without_edits_expires() -> None:
    edits, clock = a_pace()
    for number in range(MAX_EDITS - 1):
        await edits.acquire_edit("C1", f"lost{number}")
    clock.now += MESSAGE_EXPIRY_SECONDS + 1
    clock.slept.clear()

    for _ in range(MAX_EDITS - 1):
        await edits.acquire_edit("C1", "m1")

    assert clock.slept == []


async def test_other_calls_wait_for_an_answer() -> None:
    edits, clock = a_pace()
    edits.record_answer("C1", "m1")

    await edits.acquire_call()
    await edits.acquire_edit("C2", "m2")

    assert clock.slept == [pytest.approx(ANSWER_SECONDS)]


async def test_other_calls_leave_time_for_answers() -> None:
    edits, clock = a_pace()

    for _ in range(10 * MAX_CALLS_PER_SECOND):
        await edits.acquire_call()

    assert clock.now - 100 == pytest.approx(10, abs=1)
