"""`/council forget ROUND`: only for the asker, and not while the round runs."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from bot.chat import Asker, IncomingMessage, MessageGoneError, Post, SentMessage
from bot.commands.buttons import repeat_question
from bot.commands.retraction import retract_forgotten
from bot.commands.round_delivery import follow_and_deliver
from bot.context import AppContext
from bot.outbox import Outbox
from council.integrity.erasure import removable_texts
from council.places import Place
from council.rounds import Question
from tests.bot.app_fakes import ANA as CHANNEL_ASKER
from tests.bot.app_fakes import HERE, Room, an_app, replies_to
from tests.builders import ASKED_AT, CLAUDE, a_panel, a_round
from tests.fakes.gateway import FakeGateway, Hangs
from tests.fakes.memory_outbox import MemoryOutbox
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
    assert "texts deleted" in await send(app, f"/council forget {ROUND_ID} yes")

    assert removable_texts(await app.store.load(ROUND_ID)) == ()
    assert "already forgotten" in await send(app, f"/council forget {ROUND_ID} yes")


async def test_nobody_else_may(app: AppContext) -> None:
    line = await send(app, f"/council forget {ROUND_ID}", BEN)

    assert line == "Only the person who asked can forget a round."
    assert removable_texts(await app.store.load(ROUND_ID))


async def test_a_round_under_way_has_to_be_stopped_first(app: AppContext) -> None:
    question = Question("Why?", ANA.id, place=PAGE)
    round_ = replace(a_round(a_panel(3), question=question), id="beef3")
    await app.store.open(round_)
    app.runner.start(round_)
    await asyncio.sleep(0)  # its task has begun

    refused = await send(app, "/council forget beef3")
    await app.runner.stop("beef3")

    assert refused == "This round is still running. Cancel it first, then forget it."
    assert "deleted" in await send(app, "/council forget beef3 yes")


async def test_a_forgotten_round_is_shown_and_listed_as_one(app: AppContext) -> None:
    await send(app, "/council forget last yes")

    shown = await send(app, f"/council show {ROUND_ID}")

    assert "A forgotten question" in shown
    assert "of 6 points" in shown
    assert "Answer 0" not in shown
    assert "forgotten" in await send(app, "/council rounds")


async def test_without_yes_it_asks_first(app: AppContext) -> None:
    reply = await send(app, "/council forget last")

    assert reply.startswith("Forget “Why?”?")
    assert f"`forget {ROUND_ID} yes`" in reply
    assert removable_texts(await app.store.load(ROUND_ID))


async def test_it_says_how_many_rounds_of_others_lose_what_they_quote(app: AppContext) -> None:
    question = Question("And then?", BEN.id, "A quote.", PAGE, quotes=(ROUND_ID,))
    await app.store.open(replace(a_closed_round("beef2"), question=question))

    asked = await send(app, f"/council forget {ROUND_ID}")
    done = await send(app, f"/council forget {ROUND_ID} yes")

    sentence = "1 round of other people follows up this one or repeats it. What it quotes of it"
    assert f"{sentence} is deleted too." in asked
    assert f"{sentence} was deleted too." in done
    assert (await app.store.load("beef2")).question.context == ""


@pytest.mark.parametrize(("asker", "quotes"), [(ANA, ()), (BEN, (ROUND_ID,))])
async def test_a_round_run_again_by_somebody_else_notes_what_it_repeats(
    app: AppContext, asker: Asker, quotes: tuple[str, ...]
) -> None:
    message, _ = await repeat_question(app, IncomingMessage("", asker, PAGE, "k"), ROUND_ID)

    assert message.quotes == quotes


@dataclass(slots=True)
class Channel(Room):
    """A chat that remembers what was deleted and renamed, and which messages are gone."""

    retracted: list[SentMessage] = field(default_factory=list)
    renamed: list[tuple[SentMessage, str]] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)

    async def edit(self, sent: SentMessage, post: Post) -> None:
        if sent.message in self.gone:
            raise MessageGoneError
        await Room.edit(self, sent, post)

    async def delete(self, sent: SentMessage) -> None:
        self.retracted.append(sent)

    async def rename_thread(self, root: SentMessage, name: str) -> None:
        self.renamed.append((root, name))


@dataclass(slots=True)
class Posted:
    """A round that was posted in a channel, and forgotten in the store."""

    app: AppContext
    chat: Channel
    root: SentMessage
    rows: MemoryOutbox


@pytest.fixture
async def posted() -> Posted:
    chat, store, rows = Channel(), MemoryStore(), MemoryOutbox()
    question = Question("Why?", CHANNEL_ASKER.id, place=HERE)
    await store.open(replace(a_closed_round(ROUND_ID), question=question))
    app = an_app(FakeGateway(), store)
    app.outbox, app.chats["slack"] = Outbox(rows, app.now), lambda _: chat
    root = await app.outbox.send(chat, ROUND_ID, "0", Post((), "Why?"), HERE)
    for part in (1, 2):
        reply = replace(HERE, thread=root.message)
        await app.outbox.send(chat, ROUND_ID, part, Post((), str(part)), reply)
    rows.forgotten.add(ROUND_ID)
    return Posted(app, chat, root, rows)


async def test_what_was_posted_is_deleted_and_the_first_message_blanked(posted: Posted) -> None:
    reply = await replies_to(posted.app, "forget last yes", CHANNEL_ASKER, HERE)

    assert "deleted" in reply
    assert {one.place.thread for one in posted.chat.retracted} == {posted.root.message}
    assert len(posted.chat.retracted) == 2
    assert posted.chat.renamed == [(posted.root, "A forgotten question")]
    assert "forgotten on" in posted.chat.edited[-1]
    assert "[" not in posted.chat.edited[-1]  # no button
    assert await posted.rows.list_forgotten(ASKED_AT) == ()


async def test_a_round_forgotten_elsewhere_is_retracted_once_its_chat_is_connected(
    posted: Posted,
) -> None:
    await posted.app.store.forget(ROUND_ID, ASKED_AT, "salt")
    connected = posted.app.chats.pop("slack")
    await retract_forgotten(posted.app)
    assert len(await posted.rows.list_forgotten(ASKED_AT)) == 3

    posted.app.chats["slack"] = connected
    posted.chat.gone.add(posted.root.message)  # somebody deleted it
    await retract_forgotten(posted.app)

    assert posted.root in posted.chat.retracted
    assert await posted.rows.list_forgotten(ASKED_AT) == ()


@dataclass(slots=True)
class Impatient(Channel):
    """A channel in which somebody forgets the round while its replies are posted."""

    app: AppContext | None = None
    rows: MemoryOutbox = field(default_factory=MemoryOutbox)

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        if place.thread and self.app:
            await replies_to(self.app, "forget last yes", CHANNEL_ASKER, HERE)
            self.rows.forgotten.add(ROUND_ID)
        return await Channel.send(self, place, post, key)


async def test_a_round_forgotten_while_it_is_posted_leaves_nothing() -> None:
    chat, store = Impatient(), MemoryStore()
    question = Question("Why?", CHANNEL_ASKER.id, place=HERE)
    round_ = replace(a_closed_round(ROUND_ID), question=question)
    await store.open(round_)
    chat.app = app = an_app(FakeGateway(), store)
    app.outbox, app.chats["slack"] = Outbox(chat.rows, app.now), lambda _: chat

    await follow_and_deliver(app, chat, HERE, round_)

    assert "forgotten on" in chat.edited[-1]
    assert len([place for place, _ in chat.posted if place.thread]) == 1
    assert [one.place.thread is not None for one in chat.retracted] == [True]
    assert await chat.rows.list_forgotten(ASKED_AT) == ()


async def test_a_message_that_was_sent_but_never_marked_is_found_and_deleted(
    posted: Posted,
) -> None:
    key = f"slack/T1/C1/{ROUND_ID}/3"
    await posted.rows.claim(key, ROUND_ID, ASKED_AT)
    posted.chat.keys.append(key)  # it arrived, and the process died
    posted.app.outbox = Outbox(posted.rows, lambda: ASKED_AT + timedelta(minutes=2))

    await retract_forgotten(posted.app)

    assert key in [one.message for one in posted.chat.retracted]
    assert await posted.rows.list_forgotten(ASKED_AT) == ()
