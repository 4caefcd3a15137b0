"""`/council forget ROUND`: only for the asker, and not while the round runs."""

import asyncio
from dataclasses import replace

import pytest

from bot.chat import Asker
from bot.context import AppContext
from council.integrity.erasure import removable_texts
from council.places import Place
from council.rounds import Question
from tests.bot.app_fakes import an_app, replies_to
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


async def send(app: AppContext, text: str, asker: Asker = ANA) -> str:
    return await replies_to(app, text, asker, PAGE)


async def test_the_asker_may_forget_a_round(app: AppContext) -> None:
    assert f"Round {ROUND_ID} is forgotten" in await send(app, f"/council forget {ROUND_ID}")

    assert removable_texts(await app.store.load(ROUND_ID)) == ()
    assert "forgotten before" in await send(app, f"/council forget {ROUND_ID}")


async def test_nobody_else_may(app: AppContext) -> None:
    line = await send(app, f"/council forget {ROUND_ID}", BEN)

    assert line == "Only the one who asked can have a round forgotten."
    assert removable_texts(await app.store.load(ROUND_ID))


async def test_a_round_under_way_has_to_be_stopped_first(app: AppContext) -> None:
    question = Question("Why?", ANA.id, place=PAGE)
    round_ = replace(a_round(a_panel(3), question=question), id="beef3")
    await app.store.open(round_)
    app.runner.start(round_)
    await asyncio.sleep(0)  # its task has begun

    refused = await send(app, "/council forget beef3")
    await app.runner.stop("beef3")

    assert refused == "Round beef3 is under way: stop it first, then forget it."
    assert "is forgotten" in await send(app, "/council forget beef3")


async def test_a_forgotten_round_is_shown_and_listed_as_one(app: AppContext) -> None:
    await send(app, f"/council forget {ROUND_ID}")

    shown = await send(app, f"/council show {ROUND_ID}")

    assert "A forgotten question" in shown
    assert "Response" in shown
    assert "Answer 0" not in shown
    assert "forgotten" in await send(app, "/council rounds")
