"""Confirmation of a press: the cost, what stays, or why there is nothing to do."""

from dataclasses import replace

import pytest

from bot.access import NotYoursError
from bot.chat import Asker, Button, Buttons, IncomingMessage, Post
from bot.commands.buttons import confirmation_post
from council.errors import CouncilError
from council.places import Place
from council.rounds import Question, Round
from tests.bot.app_fakes import BUTTONS, an_app
from tests.bot.rounds import words_of
from tests.builders import ASKED_AT, CLAUDE, GPT, a_round, an_answer
from tests.storage.builders import a_closed_round

HERE = Place("discord", "G1", "C1")
ANA, BEN = Asker("U1", "Ana"), Asker("U2", "Ben")


def said(asker: Asker = ANA) -> IncomingMessage:
    return IncomingMessage("", asker, HERE, "k")


def here(round_: Round) -> Round:
    return replace(round_, question=Question("Why?", ANA.id, place=HERE))


def buttons_of(post: Post) -> list[Button]:
    rows = [part for part in post.parts if isinstance(part, Buttons)]
    return [button for row in rows for button in row.buttons]


async def test_running_again_is_asked_about_with_its_cost_and_its_receivers() -> None:
    app = an_app()
    await app.store.open(here(a_closed_round("beef1")))

    post = await confirmation_post(app, said(BEN), "again", "beef1")

    assert "Sent only to" in words_of(post)
    assert "It costs nothing" in words_of(post)
    assert [(b.action, b.value) for b in buttons_of(post)] == [
        ("yes_again", "beef1"),
        ("no_again", "beef1"),
    ]


async def test_cancelling_is_confirmed_with_the_results_so_far() -> None:
    app = an_app()
    answers = (an_answer(CLAUDE), an_answer(GPT))
    await app.store.open(here(replace(a_round(), id="beef1", answers=answers)))

    post = await confirmation_post(app, said(), "cancel", "beef1")

    assert "2 of 3 answers are saved" in words_of(post)
    assert [button.action for button in buttons_of(post)] == ["yes_cancel", "no_cancel"]
    with pytest.raises(NotYoursError):
        await confirmation_post(app, said(BEN), "cancel", "beef1")
    await app.store.open(here(a_closed_round("beef2")))
    closed = await confirmation_post(app, said(), "cancel", "beef2")
    assert ("has already finished" in words_of(closed), buttons_of(closed)) == (True, [])


async def test_a_forgotten_question_cannot_be_put_again() -> None:
    app = an_app()
    await app.store.open(here(a_closed_round("beef1")))
    await app.store.forget("beef1", ASKED_AT, "salt")

    with pytest.raises(CouncilError, match="forgotten"):
        await confirmation_post(app, said(), "again", "beef1")


@pytest.mark.parametrize("action", BUTTONS.confirmations)
def test_a_yes_is_to_something_that_is_done_and_a_no_to_nothing(action: str) -> None:
    assert BUTTONS.confirmed_action(f"yes_{action}") == action
    assert action in BUTTONS.handlers
    assert BUTTONS.confirmed_action(f"no_{action}") == BUTTONS.confirmed_action(action) == ""
    assert BUTTONS.replacement_post(f"no_{action}")
    assert BUTTONS.replacement_post(action) is None


@pytest.mark.parametrize("action", ["yes_answers", "yes_", "no_export", "export"])
def test_nothing_else_is_a_yes_or_a_no(action: str) -> None:
    assert BUTTONS.confirmed_action(action) == ""
    assert BUTTONS.replacement_post(action) is None
