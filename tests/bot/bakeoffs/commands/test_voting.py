"""Votes of people in a bake-off, question by question."""

from dataclasses import replace

import pytest

from bot.bakeoffs.commands.voting import BAKEOFF_VOTE, NO_MORE, next_question, next_question_posts
from bot.bakeoffs.lifecycle import run_bakeoff
from bot.bakeoffs.parts import bakeoff_stores
from bot.chat import Buttons, IncomingMessage, Post
from bot.commands.dispatch import handle_message
from bot.commands.voting import cast_pressed
from bot.context import AppContext
from bot.render.voting import BEST
from tests.bot.app_fakes import ANA, BEN, HERE, Room, an_app, replies_to
from tests.bot.bakeoffs.fakes import a_bakeoff, a_suite, store_bakeoff
from tests.bot.commands.test_voting import an_app_with, asked_in, without_result
from tests.bot.rounds import words_of
from tests.council.research.registries import LABORATORY


@pytest.fixture
async def bakeoff_app() -> AppContext:
    app = an_app()
    bakeoff = await store_bakeoff(app, a_bakeoff(a_suite(3)))
    await run_bakeoff(app, None, bakeoff)
    return app


def pressed(posts: list[Post], nth: int = 0) -> str:
    """Return the value of a button that chooses the best."""
    parts = [part for post in posts for part in post.parts if isinstance(part, Buttons)]
    return [one.value for part in parts for one in part.buttons if one.action == BEST][nth]


async def test_a_bakeoff_is_voted_on_question_by_question_and_blind(
    bakeoff_app: AppContext,
) -> None:
    app, message = bakeoff_app, IncomingMessage("", BEN, HERE, "k")
    seen, progress = set[str](), list[str]()
    for _ in range(3):
        posts = await next_question_posts(app, message, "last")
        progress.append(words_of(posts[0]))
        round_, told = await cast_pressed(app, message, pressed(posts))
        assert "your blind vote is for Response" in told.summary
        seen.add(round_.id)

    (over,) = await next_question_posts(app, message, "last")

    assert seen == {"bo:beef.1", "bo:beef.2", "bo:beef.3"}
    assert "1 of 3 questions voted, by 1 person; 1 by you." in progress[1]
    assert over.summary == NO_MORE
    of_ana = await replies_to(app, "bakeoff vote", ANA)
    assert "3 of 3 questions voted, by 1 person; 0 by you." in of_ana


async def test_in_a_room_the_bakeoff_is_voted_on_by_button(bakeoff_app: AppContext) -> None:
    room = Room()

    await handle_message(bakeoff_app, room, IncomingMessage("bakeoff vote", BEN, HERE, "k"))

    assert [
        (one.action, one.value)
        for part in room.posts[0].parts
        if isinstance(part, Buttons)
        for one in part.buttons
    ] == [(BAKEOFF_VOTE, "bo:beef")]


async def test_people_vote_on_the_questions_in_different_orders(bakeoff_app: AppContext) -> None:
    app = bakeoff_app
    bakeoff = await bakeoff_stores(app).bakeoffs.load("bo:beef")

    first = {(await next_question(app, bakeoff, f"U{i}") or asked_in(HERE)).id for i in range(20)}

    assert first == {"bo:beef.1", "bo:beef.2", "bo:beef.3"}


async def test_a_bakeoffs_question_is_offered_only_once_it_takes_votes() -> None:
    closed = replace(asked_in(HERE, "bo:beef.1"), bakeoff="bo:beef", registry=LABORATORY)
    terms = replace(closed.panel.terms, method="critique")
    voting = without_result(replace(closed, panel=replace(closed.panel, terms=terms)))

    for round_, offered in ((replace(voting, ballots=()), None), (voting, voting.id)):
        app = await an_app_with(round_)
        found = await next_question(app, await store_bakeoff(app), BEN.id)
        assert (found and found.id) == offered


async def test_a_vote_by_command_on_a_bakeoffs_question_is_not_blind(
    bakeoff_app: AppContext,
) -> None:
    app, message = bakeoff_app, IncomingMessage("", BEN, HERE, "k")
    posts = await next_question_posts(app, message, "bo:beef")
    round_id, _, label = pressed(posts).rpartition(":")

    told = await replies_to(app, f"vote {round_id} {label}", BEN)
    _, again = await cast_pressed(app, message, f"{round_id}:{label}")
    (stored,) = await app.store.votes(round_id)

    assert "is not blind" in told
    assert "is not blind" in again.summary
    assert not stored.blind
