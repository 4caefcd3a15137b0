"""Delivery of a round by one process."""

import pytest

from bot.commands import round_delivery
from bot.commands.round_delivery import follow_and_deliver
from council.ports import RoundQuery
from council.rounds import Question
from storage.transactions import DiskFullError, retried_and_shielded
from tests.bot.app_fakes import ANA, HERE, Room, an_app
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
