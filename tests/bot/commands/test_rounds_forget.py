"""`/council forget ROUND`: only for the asker, and not while the round runs."""

import asyncio
from dataclasses import replace

import pytest

from bot.chat import Asker, IncomingMessage
from bot.commands.dispatch import handle_message
from bot.context import AppContext
from council.integrity.erasure import removable_texts
from council.places import Place
from council.rounds import Question
from tests.bot.app_fakes import FakeChat, an_app
from tests.builders import CLAUDE, a_panel, a_round
from tests.fakes.gateway import FakeGateway, Hangs
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round

ROUND_ID = "beef1"
PAGE = Place("web")
ANA, BEN = Asker("web:ana", "Ana"), Asker("web:ben", "Ben")


@pytest.fixture
async def app() -> AppContext:
    store, gateway = MemoryStore(), FakeGateway({CLAUDE: Hangs()})
    question = Question("Why?", ANA.id, place=PAGE)
    await store.open(replace(a_closed_round(ROUND_ID), question=question))
    return an_app(gateway, store)


async def a_message(app: AppContext, text: str, asker: Asker = ANA, place: Place = PAGE) -> str:
    chat = FakeChat()
    await handle_message(app, chat, IncomingMessage(text, asker, place, "k"))
    return chat.said[-1]


async def test_the_asker_may_forget_a_round(app: AppContext) -> None:
    assert f"Round {ROUND_ID} is forgotten" in await a_message(app, f"/council forget {ROUND_ID}")

    assert removable_texts(await app.store.load(ROUND_ID)) == ()
    assert "forgotten before" in await a_message(app, f"/council forget {ROUND_ID}")


async def test_nobody_else_may(app: AppContext) -> None:
    line = await a_message(app, f"/council forget {ROUND_ID}", BEN)

    assert line == "Only the one who asked can have a round forgotten."
    assert removable_texts(await app.store.load(ROUND_ID))


async def test_a_private_round_of_another_is_as_if_it_were_not_there(app: AppContext) -> None:
    private = Question("Why?", ANA.id, place=replace(PAGE, private=True))
    await app.store.open(replace(a_closed_round("beef2"), question=private))

    line = await a_message(app, "/council forget beef", BEN)

    assert line == "There is no round 'beef' here: `/council rounds` lists those there are."


async def test_a_round_under_way_has_to_be_stopped_first(app: AppContext) -> None:
    question = Question("Why?", ANA.id, place=PAGE)
    round_ = replace(a_round(a_panel(3), question=question), id="beef3")
    await app.store.open(round_)
    app.runner.start(round_)
    await asyncio.sleep(0)  # its task has begun

    refused = await a_message(app, "/council forget beef3")
    await app.runner.stop("beef3")

    assert refused == "Round beef3 is under way: stop it first, then forget it."
    assert "is forgotten" in await a_message(app, "/council forget beef3")


async def test_a_forgotten_round_is_shown_and_listed_as_one(app: AppContext) -> None:
    await a_message(app, f"/council forget {ROUND_ID}")

    chat = FakeChat()
    await handle_message(app, chat, IncomingMessage(f"/council show {ROUND_ID}", ANA, PAGE, "k"))

    assert "A forgotten question" in chat.said[0]
    assert "Response" in chat.said[1]
    assert "Answer 0" not in "".join(chat.said)
    assert "forgotten" in await a_message(app, "/council rounds")


async def test_help_names_it(app: AppContext) -> None:
    assert "/council forget ROUND" in await a_message(app, "/council help")
