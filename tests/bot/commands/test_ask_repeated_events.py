"""Repeated, late and reordered deliveries of one event make one round."""

import asyncio
import random

import pytest

from bot.chat import Asker, Attachment, IncomingMessage
from bot.commands.dispatch import handle_message
from council.answers import Role
from council.places import Place
from tests.bot.app_fakes import FakeChat, an_app
from tests.fakes.gateway import FakeGateway

EVENTS = 10
ASKER, PLACE = Asker("u1", "Ann"), Place("fake", "team", "general")


@pytest.mark.parametrize("count", [100, pytest.param(1_000, marks=pytest.mark.nightly)])
async def test_repeated_deliveries_of_ten_events_make_ten_rounds(count: int) -> None:
    gateway, chat = FakeGateway(), FakeChat()
    app = an_app(gateway)
    deliveries = [f"team:general:{i % EVENTS}" for i in range(count)]
    random.Random(3).shuffle(deliveries)

    await asyncio.gather(
        *(
            handle_message(app, chat, IncomingMessage("Which queue?", ASKER, PLACE, key))
            for key in deliveries
        )
    )

    members = len(app.panel(None, PLACE).members)
    assert len(await app.store.list_summaries()) == EVENTS
    assert len(gateway.of(Role.ANSWER)) == EVENTS * members
    assert len(chat.keys) == len(set(chat.keys)) == EVENTS  # the answer, once


async def test_the_files_of_a_repeated_event_are_not_downloaded_again() -> None:
    app, chat = an_app(FakeGateway()), FakeChat()
    downloads: list[str] = []

    async def download() -> bytes:
        downloads.append("a.txt")
        return b"some text"

    file = Attachment("a.txt", 9, download)
    message = IncomingMessage("Which queue?", ASKER, PLACE, "event", files=(file,))

    await handle_message(app, chat, message)
    await handle_message(app, chat, message)

    assert downloads == ["a.txt"]
    assert len(await app.store.list_summaries()) == 1
