"""Outbox: every message is sent once and in order, even across crashes."""

import asyncio
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.chat import (
    Chat,
    ChatUnreachableError,
    DeliveryUnknownError,
    IncomingMessage,
    Line,
    Post,
    SentMessage,
)
from bot.outbox import GRACE_SECONDS, SETTLE_SECONDS, Outbox
from council.places import Place
from council.ports import OutboxStore
from storage.engine import open_engine
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from tests.bot.file_chat import FileChat
from tests.builders import ASKED_AT, a_round
from tests.fakes.memory_outbox import MemoryOutbox
from tests.sqlite import new_file

PassTime = Callable[[timedelta], Awaitable[None]]
HERE = Place("fake", "team", "general")
POST = Post((Line("Hello"),), "Hello")


class ChatDownError(Exception):
    """The chat did not take the message, or did not say so."""


TROUBLES: dict[str, type[Exception]] = {
    "before": ChatDownError,
    "away": ChatUnreachableError,
    "lost before": DeliveryUnknownError,
}


@dataclass
class FakeChat(Chat):
    """Records what was sent; `fails` lists how the next sends fail."""

    sent: list[str] = field(default_factory=list)
    fails: list[str] = field(default_factory=list)
    late: str = ""
    looks_until_late: int = 0

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        how = self.fails.pop(0) if self.fails else ""
        if how in TROUBLES:
            raise TROUBLES[how]
        if how == "late":
            self.looks_until_late = 2
            self.late = key
            raise DeliveryUnknownError
        await asyncio.sleep(0)
        self.sent.append(key)
        if how == "after":
            raise ChatDownError
        if how == "lost after":
            raise DeliveryUnknownError
        return SentMessage(place, f"at {key}")

    async def find(
        self, place: Place, key: str, age_seconds: float | None = None
    ) -> SentMessage | None:
        self.looks_until_late -= 1
        if not self.looks_until_late:
            self.sent.append(self.late)
        return SentMessage(place, f"at {key}") if key in self.sent else None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        raise NotImplementedError

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        raise NotImplementedError


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, tzinfo=UTC)
        self.slept: list[float] = []

    def __call__(self) -> datetime:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        for _ in range(20):  # whatever is being sent meanwhile has time to arrive
            await asyncio.sleep(0)
        self.now += timedelta(seconds=seconds)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def rows(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[OutboxStore]:
    if request.param == "memory":
        yield MemoryOutbox()
        return
    is_server = request.param == "postgres"
    url = request.getfixturevalue("migrated_url") if is_server else new_file(tmp_path)
    engine = open_engine(url)
    await SqlRoundStore(engine).open(a_round())
    yield SqlOutbox(engine)
    await engine.dispose()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pass_time(rows: OutboxStore, clock: Clock) -> PassTime:
    """Return a function that moves every clock, the server's included."""

    async def passed(by: timedelta) -> None:
        clock.now += by
        if isinstance(rows, SqlOutbox) and rows.engine.dialect.name == "postgresql":
            older = text("UPDATE outgoing SET claimed_at = claimed_at - CAST(:by AS interval)")
            async with rows.engine.begin() as connection:
                await connection.execute(older, {"by": by})

    return passed


@pytest.fixture
def outbox(rows: OutboxStore, clock: Clock) -> Outbox:
    return Outbox(rows, clock, clock.sleep)


async def test_each_part_is_sent_once_in_each_place(outbox: Outbox) -> None:
    chat = FakeChat()

    first = await outbox.send(chat, "r1", 0, POST, HERE)
    again = await outbox.send(chat, "r1", 0, POST, HERE)
    await outbox.send(chat, "r1", 1, POST, HERE)
    await outbox.send(chat, "r1", 0, POST, Place("fake", "team", "random"))

    assert first == again
    assert len(chat.sent) == len(set(chat.sent)) == 3


async def test_a_message_left_without_a_mark_is_looked_up_first(
    outbox: Outbox, clock: Clock
) -> None:
    chat = FakeChat(fails=["after"])
    with pytest.raises(ChatDownError):
        await outbox.send(chat, "r1", 0, POST, HERE)

    await outbox.send(chat, "r1", 0, POST, HERE)

    assert len(chat.sent) == 1
    assert clock.slept == []


@pytest.mark.parametrize(
    ("passed", "slept"),
    [(timedelta(0), GRACE_SECONDS), (timedelta(hours=1), 0), (timedelta(days=-1), GRACE_SECONDS)],
    ids=["new", "old", "clock-set-back"],
)
async def test_one_that_is_not_found_is_sent_after_the_grace(
    outbox: Outbox, clock: Clock, pass_time: PassTime, passed: timedelta, slept: float
) -> None:
    chat = FakeChat(fails=["before"])
    with pytest.raises(ChatDownError):
        await outbox.send(chat, "r1", 0, POST, HERE)
    await pass_time(passed)

    await outbox.send(chat, "r1", 0, POST, HERE)

    assert len(chat.sent) == 1
    assert clock.slept == [pytest.approx(slept, abs=2)]


async def test_a_lone_process_waits_for_no_dead_process(rows: OutboxStore, clock: Clock) -> None:
    chat = FakeChat(fails=["before"])
    with pytest.raises(ChatDownError):
        await Outbox(rows, clock, clock.sleep).send(chat, "r1", 0, POST, HERE)

    await Outbox(rows, clock, clock.sleep, alone=True).send(chat, "r1", 0, POST, HERE)

    assert len(chat.sent) == 1
    assert clock.slept == [SETTLE_SECONDS]


async def test_an_unreachable_chat_is_retried_until_it_answers(
    outbox: Outbox, clock: Clock
) -> None:
    chat = FakeChat(fails=["away"] * 100)

    await outbox.send(chat, "r1", 0, POST, HERE)

    assert len(chat.sent) == 1
    assert max(clock.slept) == 60.0


@pytest.mark.parametrize("fails", [["lost before"] * 3, ["lost after"] * 3, ["late"]])
async def test_a_lost_connection_neither_loses_nor_doubles(
    outbox: Outbox, fails: list[str]
) -> None:
    chat = FakeChat(fails=[*fails])

    await outbox.send(chat, "r1", 0, POST, HERE)

    assert len(chat.sent) == 1


async def test_of_two_processes_that_find_a_claim_one_sends(
    rows: OutboxStore, clock: Clock
) -> None:
    chat = FakeChat(fails=["before"])
    one, other = Outbox(rows, clock, clock.sleep), Outbox(rows, clock, clock.sleep)
    with pytest.raises(ChatDownError):
        await one.send(chat, "r1", 0, POST, HERE)

    sent = await asyncio.gather(*(box.send(chat, "r1", 0, POST, HERE) for box in (one, other)))

    assert len(chat.sent) == 1
    assert sent[0] == sent[1]


async def test_the_messages_of_forgotten_rounds_are_listed_replies_first_until_removed(
    outbox: Outbox, rows: OutboxStore, clock: Clock, pass_time: PassTime
) -> None:
    chat = FakeChat()
    for part in (0, 1, "alone 1"):
        await outbox.send(chat, "r1", part, POST, HERE)
    await rows.claim("fake/team/general/r1/2", "r1", clock())  # and perhaps sent
    assert await outbox.list_forgotten() == []

    if isinstance(rows, MemoryOutbox):
        rows.forgotten.add("r1")
    elif isinstance(rows, SqlOutbox):
        await SqlRoundStore(rows.engine).forget("r1", ASKED_AT, "salt")
    listed = await outbox.list_forgotten()
    await pass_time(timedelta(minutes=2))
    later = await outbox.list_forgotten()
    for posted in later:
        await outbox.remove(posted)

    assert [one.part for one in listed] == ["alone 1", "1", "0"]
    assert [(one.part, bool(one.sent.message)) for one in later] == [
        ("alone 1", True),
        ("2", False),
        ("1", True),
        ("0", True),
    ]
    assert {one.sent.place for one in listed} == {HERE}
    assert await outbox.list_forgotten() == []


async def test_the_messages_of_one_round_keep_the_order_they_were_asked_for(
    outbox: Outbox,
) -> None:
    chat = FakeChat()

    await asyncio.gather(*(outbox.send(chat, "r1", part, POST, HERE) for part in range(9)))

    assert [int(key.rpartition("/")[2]) for key in chat.sent] == [*range(9)]


def test_kills_neither_lose_nor_double_a_message(tmp_path: Path) -> None:
    file, rng = tmp_path / "chat", random.Random(7)
    words = (
        "-m",
        "tests.bot.outbox_process",
        f"sqlite+aiosqlite:///{tmp_path}/council.db",
        str(file),
    )
    rounds, parts, kills = 6, 8, 0

    def start() -> subprocess.Popen[bytes]:
        counts = (str(rounds), str(parts), "0.2")
        return subprocess.Popen([sys.executable, *words, *counts], cwd=Path(__file__).parents[2])

    for _ in range(2):
        process = start()
        try:
            process.wait(timeout=rng.uniform(0.7, 1.3))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
    assert start().wait(timeout=60) == 0

    keys = FileChat(file).keys
    assert len(keys) == len(set(keys)) == rounds * parts
    assert kills
