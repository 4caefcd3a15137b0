"""Delivery of a round by one process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bot.chat import Post, SentMessage
from bot.commands import round_delivery
from bot.commands.round_delivery import follow_and_deliver
from bot.ports import RoundSnapshot, RoundSnapshots
from bot.runners.local import LocalRunner
from council.ports import RoundQuery
from council.rounds import Closing, Question, Round
from storage.transactions import DiskFullError, retried_and_shielded
from tests.bot.app_fakes import ANA, HERE, Room, an_app, ready
from tests.builders import a_round
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore


class FullStore(MemoryStore):
    """A store that finds the disk full twice when a round is marked as delivered."""

    refusals = 2

    @retried_and_shielded
    async def deliver(self, round_id: str, *, delivered: bool) -> None:
        if self.refusals:
            self.refusals -= 1
            raise DiskFullError("The disk is full.")
        await super().deliver(round_id, delivered=delivered)


async def test_a_delivery_that_finds_the_disk_full_continues_once_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(round_delivery, "ROOM_SECONDS", 0.0)
    store = FullStore()
    app, round_ = (
        an_app(FakeGateway(), store),
        a_round(question=Question("Why?", ANA.id, place=HERE)),
    )
    await store.open(round_)

    closed = await follow_and_deliver(app, Room(), HERE, round_)

    assert closed.closing
    assert store.refusals == 0
    assert await store.ids(wanted=RoundQuery(undelivered=True)) == ()


class LateStarter(LocalRunner):
    """Shows a round that has run for 42 seconds, until its progress was shown."""

    def __init__(self, round_: Round, shown: asyncio.Event) -> None:
        super().__init__(MemoryStore(), FakeGateway(), ready)
        self.round_, self.shown = round_, shown

    def start(self, round_: Round) -> None:
        """Start nothing."""

    @asynccontextmanager
    async def subscribe(self, round_id: str) -> AsyncIterator[RoundSnapshots]:
        async def snapshots() -> RoundSnapshots:
            yield RoundSnapshot(self.round_, seconds=42.0)
            await self.shown.wait()
            yield RoundSnapshot(self.round_.with_(Closing(42.0, "Nobody answered.")), seconds=42.0)

        yield snapshots()


async def test_the_running_clock_is_that_of_the_round_whenever_it_was_joined() -> None:
    shown = asyncio.Event()

    class Reader(Room):
        async def show_progress(self, sent: SentMessage, post: Post) -> None:
            await Room.show_progress(self, sent, post)
            shown.set()

    chat, app = Reader(), an_app()
    round_ = a_round(question=Question("Why?", ANA.id, place=HERE))
    await app.store.open(round_)
    app = replace(app, runner=LateStarter(round_, shown))

    await follow_and_deliver(app, chat, HERE, round_)

    assert "42 s" in chat.progress[0]
