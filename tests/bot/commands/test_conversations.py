"""Direct messages remember: a question follows the person's rounds just before it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.chat import MAX_QUESTION_CHARACTERS, IncomingMessage
from bot.commands.conversations import NEW_QUESTION, STARTED, continue_conversation
from bot.context import AppContext
from council.places import Place
from council.rounds import Question
from tests.bot.app_fakes import ANA, BEN, BUTTONS, FakeChat, an_app
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round

DIRECT = Place("slack", "T1", "D1", private=True)
FIRST = "Which queue?"


async def an_app_after(minutes: float, *places: Place, by: str = ANA.id) -> AppContext:
    """Return an app so long after the end of a round, each asked in one of the places."""
    store = MemoryStore()
    for number, place in enumerate(places or (DIRECT,)):
        round_ = a_closed_round(f"beef{number}")
        asked_at = round_.asked_at + timedelta(minutes=number)
        question = Question(FIRST if number == 0 else f"Question {number}?", by, place=place)
        await store.open(replace(round_, question=question, asked_at=asked_at))
    (newest, *_) = await store.list_summaries(1)
    app = an_app(store=store)
    end = newest.asked_at + timedelta(seconds=newest.seconds or 0)
    app.now = lambda: end + timedelta(minutes=minutes)
    return app


async def context(app: AppContext, text: str = "And for one node?", place: Place = DIRECT) -> str:
    message = IncomingMessage(text, ANA, place, "k", is_direct=place.channel.startswith("D"))
    return (await continue_conversation(app, message)).context


@pytest.mark.parametrize(("minutes", "follows"), [(29, True), (31, False)])
async def test_a_question_follows_an_answer_for_half_an_hour(
    minutes: int, *, follows: bool
) -> None:
    assert (FIRST in await context(await an_app_after(minutes))) is follows


async def test_a_conversation_has_all_its_rounds_oldest_first() -> None:
    found = await context(await an_app_after(1, DIRECT, DIRECT))

    assert found.index(FIRST) < found.index("Question 1?")


@pytest.mark.parametrize(
    "elsewhere",
    [
        pytest.param(replace(DIRECT, channel="D2"), id="other channel"),
        pytest.param(replace(DIRECT, thread="1.5"), id="thread"),
    ],
)
async def test_rounds_elsewhere_are_no_context(elsewhere: Place) -> None:
    assert await context(await an_app_after(1, elsewhere)) == ""


async def test_rounds_of_others_are_no_context() -> None:
    assert await context(await an_app_after(1, by=BEN.id)) == ""


async def test_threads_and_channels_have_no_conversation() -> None:
    app = await an_app_after(1, replace(DIRECT, channel="C1"))

    assert await context(app, place=replace(DIRECT, channel="C1")) == ""
    assert await context(await an_app_after(1), place=replace(DIRECT, thread="1.5")) == ""


async def test_new_question_ends_the_conversation_and_says_so_in_one_sentence() -> None:
    app, chat = await an_app_after(1), FakeChat()
    pressed = IncomingMessage("", ANA, DIRECT, "k", is_direct=True)

    await BUTTONS.handlers[NEW_QUESTION](app, chat, pressed, "beef0")

    assert chat.said == [STARTED]
    assert await context(app) == ""


async def test_a_forgotten_round_gives_no_context() -> None:
    app = await an_app_after(1)
    await app.store.forget("beef0", app.now(), "00")

    assert await context(app) == ""


async def test_a_long_question_leaves_out_what_does_not_fit() -> None:
    long = "q" * (MAX_QUESTION_CHARACTERS - 20)

    assert len(await context(await an_app_after(1), long)) <= 20
