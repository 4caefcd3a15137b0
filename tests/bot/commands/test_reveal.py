"""A held reveal: the answer first, then votes, then who wrote what."""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from bot.chat import IncomingMessage, Post
from bot.commands import reveal, round_delivery
from bot.commands.ask import AskOptions, ask_with_options
from bot.commands.button_registry import load_view
from bot.commands.buttons import IS_REVEALED, export_round, forget_round, reveal_round
from bot.commands.completion import suggest
from bot.commands.parameters import Kind, Parameter
from bot.commands.reveal import begin_hold, hold_reveal, is_held
from bot.commands.round_delivery import follow_and_deliver
from bot.commands.voting import cast_pressed, posts_to_vote
from bot.context import AppContext
from bot.render.formatting import author_names
from bot.render.voting import VOTE
from council.errors import CouncilError
from council.ports import RoundQuery
from council.rounds import Round
from tests.bot.app_fakes import ANA, BEN, HERE, Room, an_app, replies_to
from tests.bot.rounds import words_of
from tests.fakes.gateway import FakeGateway
from tests.storage.builders import wait_until

ID = "beef1"
ASKED = IncomingMessage("Why?", BEN, HERE, ID)
HELD = "Vote first"


@dataclass(slots=True)
class Pages(Room):
    """A room with a message for each part of a post."""

    def pages(self, post: Post) -> tuple[Post, ...]:
        return tuple(Post((part,), post.summary) for part in post.parts)


class Asking:
    """A question whose reveal is held, on its way in a room."""

    def __init__(self, app: AppContext, room: Room) -> None:
        self.app, self.room = app, room
        options = AskOptions(votes_first=True)
        self.task = asyncio.create_task(ask_with_options(app, room, ASKED, options))

    async def held(self) -> Round:
        """Wait until the answer is there; return its round."""
        await wait_until(lambda: any(HELD in text for text in self.said))
        return await self.app.store.load(ID)

    @property
    def said(self) -> list[str]:
        return [*(text for _, text in self.room.posted), *self.room.edited]

    def names_said(self, round_: Round) -> list[str]:
        """Return the authors that stand in a message after the progress."""
        assert round_.draw
        names = author_names(round_.panel, round_.draw).values()
        return [name for name in names if any(name in text for text in self.said[1:])]


async def undelivered(app: AppContext) -> tuple[str, ...]:
    return await app.store.ids(wanted=RoundQuery(undelivered=True))


async def test_until_the_reveal_no_message_says_who_wrote_what() -> None:
    asking = Asking(an_app(FakeGateway()), Room())
    round_ = await asking.held()

    before = asking.names_said(round_)
    answer = asking.room.edited[-1]
    await reveal_round(asking.app, asking.room, ASKED, ID)
    await asking.task

    assert before == []
    assert round_.synthesis
    assert round_.synthesis.text in answer
    assert "Best-ranked" not in answer
    assert len(asking.names_said(round_)) == len(round_.panel.members)
    assert HELD not in asking.room.edited[-1]
    assert await undelivered(asking.app) == ()


async def test_what_people_choose_before_the_reveal_is_blind_and_names_nobody() -> None:
    asking = Asking(an_app(FakeGateway()), Room())
    round_ = await asking.held()
    assert round_.draw
    label = sorted(round_.draw.labels.labels)[0]

    posts = await load_view(asking.app, ASKED, VOTE, ID)
    letter = Parameter("answer", "", Kind.LABEL)
    offered = [name for name, _ in await suggest(asking.app, ASKED, letter, "", {"round": ID})]
    _, noted = await cast_pressed(asking.app, ASKED, f"{ID}:{label}")
    typed = await replies_to(asking.app, f"vote {ID} {label}", ANA)
    await reveal_round(asking.app, asking.room, ASKED, ID)
    await asking.task
    _, late = await cast_pressed(
        asking.app, replace(ASKED, asker=replace(BEN, id="U9")), f"{ID}:{label}"
    )

    names = author_names(round_.panel, round_.draw)
    shown = "".join((*map(words_of, posts), *offered))
    assert len(offered) == len(names)
    assert not [name for name in names.values() if name in shown]
    expected = (
        f"Noted: your blind vote is for Response {label}. You can change it until the result."
    )
    assert noted.summary == typed == expected
    assert "is not blind" in late.summary
    assert {vote.by: vote.blind for vote in await asking.app.store.votes(ID)} == {
        BEN.id: True,
        ANA.id: True,
        "U9": False,
    }


async def test_before_the_reveal_nothing_else_says_who_wrote_what() -> None:
    asking = Asking(an_app(FakeGateway()), Room())
    await asking.held()

    shown = await replies_to(asking.app, f"show {ID}", BEN)
    for what in ("answers", "ballots", "results", "round"):
        with pytest.raises(CouncilError, match=r"Vote first: .* presses Reveal, at the latest in"):
            await load_view(asking.app, ASKED, what, ID)
    with pytest.raises(CouncilError, match=HELD):
        await export_round(asking.app, asking.room, ASKED, ID)

    assert HELD in shown
    asking.task.cancel()


async def test_only_who_asked_reveals_and_once() -> None:
    asking = Asking(an_app(FakeGateway()), Room())
    await asking.held()

    stranger = replace(ASKED, asker=replace(BEN, id="U9"))
    with pytest.raises(CouncilError, match="Only the person who asked can reveal"):
        await reveal_round(asking.app, asking.room, stranger, ID)
    assert await replies_to(asking.app, "reveal", BEN) == "Revealing …"
    await asking.task
    with pytest.raises(CouncilError, match=IS_REVEALED):
        await reveal_round(asking.app, asking.room, ASKED, ID)


async def test_after_ten_minutes_the_reveal_comes_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reveal, "HOLD", timedelta(0))
    asking = Asking(an_app(FakeGateway()), Room())

    await asking.task

    round_ = await asking.app.store.load(ID)
    assert len(asking.names_said(round_)) == len(round_.panel.members)
    assert not await is_held(asking.app, round_)


async def test_a_press_whose_message_was_lost_is_seen_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reveal, "POLL_SECONDS", 0.0)
    asking = Asking(an_app(FakeGateway()), Room())
    await asking.held()

    await asking.app.key_values.put(reveal.HELD, ID, asking.app.now().isoformat())

    await asking.task


@pytest.mark.parametrize("presses", [True, False])
async def test_a_process_that_starts_later_waits_on_and_replaces_what_was_posted(
    *, presses: bool
) -> None:
    asking = Asking(an_app(FakeGateway()), Pages())
    round_ = await asking.held()
    await wait_until(lambda: any("Reveal" in text for text in asking.said))
    asking.task.cancel()
    await asyncio.gather(asking.task, return_exceptions=True)
    app, room = asking.app, asking.room
    assert await undelivered(app) == (ID,)
    posted = len(room.posted)

    if not presses:  # it was pressed before the process ended
        await reveal_round(app, room, ASKED, ID)
    again = asyncio.create_task(follow_and_deliver(app, room, HERE, round_))
    if presses:
        await wait_until(lambda: len(room.edited) > 1)
        await reveal_round(app, room, ASKED, ID)
    await again

    assert len(asking.names_said(round_)) == len(round_.panel.members)
    assert len(set(room.keys)) == len(room.keys) > posted
    assert await undelivered(app) == ()
    assert not any("Reveal" in text for text in room.edited[-posted:])


async def test_a_round_that_is_forgotten_meanwhile_is_not_posted_again() -> None:
    asking = Asking(an_app(FakeGateway()), Room())
    await asking.held()
    posted = len(asking.room.posted)

    await forget_round(asking.app, asking.room, ASKED, ID)
    await asking.task

    assert len(asking.room.posted) == posted
    assert HELD in asking.room.edited[-1]
    assert await undelivered(asking.app) == ()


async def test_who_asked_is_told_once_that_the_answer_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(round_delivery, "MENTION_SECONDS", -1.0)
    asking = Asking(an_app(FakeGateway()), Room())
    await asking.held()
    await wait_until(lambda: any(round_delivery.READY in text for text in asking.said))

    await reveal_round(asking.app, asking.room, ASKED, ID)
    await asking.task

    assert sum(round_delivery.READY in text for text in asking.said) == 1


async def test_an_answer_that_somebody_deletes_is_posted_with_its_names() -> None:
    asking = Asking(an_app(FakeGateway()), Room(deleted=True))

    await asking.task

    round_ = await asking.app.store.load(ID)
    assert len(asking.names_said(round_)) == len(round_.panel.members)


async def test_a_round_without_two_answers_is_not_held() -> None:
    app = an_app(FakeGateway())
    await ask_with_options(app, Room(), ASKED)
    closed = await app.store.load(ID)
    await hold_reveal(app, ID)

    assert await is_held(app, closed)
    alone = replace(closed, draw=None, tally=None)
    assert not await is_held(app, alone)
    assert await begin_hold(app, alone) is None


async def test_a_round_that_was_not_held_is_revealed_at_once() -> None:
    app = an_app(FakeGateway())
    await ask_with_options(app, Room(), ASKED)

    with pytest.raises(CouncilError, match=IS_REVEALED):
        await reveal_round(app, Room(), ASKED, ID)
    with pytest.raises(CouncilError, match="has its result"):
        await posts_to_vote(app, ASKED, ID)
