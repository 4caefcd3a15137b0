"""Posts of a bake-off: one progress message, then its result; each sent once."""

from dataclasses import replace

import pytest

from bot.bakeoffs.lifecycle import resume_bakeoffs_of_chat, resume_local_bakeoffs, run_bakeoff
from bot.bakeoffs.parts import bakeoff_registry, bakeoff_stores
from bot.chat import File, Heading, Mentions, Post, PostingForbiddenError, SentMessage
from bot.context import AppContext
from council.bakeoffs.models import Bakeoff
from council.errors import StoreError
from council.places import Place
from council.ports import RoundQuery
from council.rounds import Question, Round
from tests.bot.app_fakes import Room, an_app
from tests.bot.bakeoffs.fakes import DEAR, HERE, a_bakeoff, run_to_end, store_bakeoff
from tests.builders import KEYS
from tests.council.bakeoffs.builders import a_schedule
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore


async def test_one_message_shows_the_progress_and_becomes_the_result() -> None:
    app, chat = an_app(), Room()

    await run_to_end(app, chat)

    root, *thread = chat.posted
    assert root[0] == HERE
    assert "Bake-off of sql by house" in root[1]
    assert "0 of 3 questions" in root[1]
    assert "[Cancel]" in root[1]
    assert "3 of 3 questions" in chat.edited[-1]
    assert "[Cancel]" not in chat.edited[-1]
    assert all(place.thread == chat.keys[0] for place, _ in thread)
    assert len({*chat.keys}) == len(chat.keys)
    # Its rounds are not posted one by one.
    assert not [words for _, words in chat.posted if "Question 1?" in words]
    assert await app.store.ids(wanted=RoundQuery(undelivered=True)) == ()


async def test_the_result_is_posted_once_for_repeated_resumes() -> None:
    app, chat = an_app(), Room()
    bakeoff = (await run_to_end(app, chat)).bakeoff
    sent = list(chat.keys)
    # As if it had been killed after the result was told, and before that was noted.
    await bakeoff_stores(app).bakeoffs.end(bakeoff.id, None)

    await run_bakeoff(app, chat, bakeoff)

    assert chat.keys == sent


async def test_no_question_is_asked_if_nothing_can_be_posted() -> None:
    gateway = FakeGateway()
    app, chat = an_app(gateway), Room(closed=True)

    with pytest.raises(PostingForbiddenError, match="The channel is archived"):
        await run_to_end(app, chat)

    assert gateway.asked == []
    ending = (await bakeoff_stores(app).bakeoffs.load("bo:beef")).ending
    assert ending
    assert ending.failure == "The channel is archived: ask in another one."


class ClosingRoom(Room):
    """Is closed as soon as progress has been posted in it."""

    async def show_progress(self, sent: SentMessage, post: Post) -> None:
        self.closed = True


async def test_a_result_whose_channel_was_closed_is_posted_privately() -> None:
    app, chat = an_app(), ClosingRoom()
    chat.closed = False

    progress = await run_to_end(app, chat)

    assert progress.is_complete
    (alone,) = chat.said_in("alone")
    assert "I couldn't post this where you asked for it, so only you can see it." in alone
    assert "3 of 3 questions" in alone


async def test_a_deleted_message_is_posted_again() -> None:
    app, chat = an_app(), Room(deleted=True)

    await run_to_end(app, chat)

    assert [words for words in chat.said_in("C1") if "3 of 3 questions" in words]


QUESTION = Question("Question 1?", "U1")


async def after_a_crash(place: Place) -> tuple[AppContext, Bakeoff]:
    """Return an app with a stored bake-off that was not started."""
    app = an_app()
    return app, await store_bakeoff(app, a_bakeoff(place=place))


async def test_a_reconnected_chat_resumes_its_own_bakeoffs() -> None:
    app, bakeoff = await after_a_crash(HERE)
    chat = Room()

    await resume_local_bakeoffs(app)
    assert bakeoff_registry(app).latest(bakeoff.id) is None
    await resume_bakeoffs_of_chat(app, "discord", lambda _: chat)
    assert bakeoff_registry(app).latest(bakeoff.id) is None
    await resume_bakeoffs_of_chat(
        app, "slack", lambda place: chat if place.workspace == "T1" else None
    )
    seen = [progress async for progress in bakeoff_registry(app).subscribe(bakeoff.id)]

    assert seen[-1].is_complete
    assert "3 of 3 questions" in chat.edited[-1]


async def test_a_bakeoff_of_the_page_resumes_at_the_start_without_messages() -> None:
    app, bakeoff = await after_a_crash(Place("web", channel="web:1"))

    await resume_local_bakeoffs(app)
    seen = [progress async for progress in bakeoff_registry(app).subscribe(bakeoff.id)]
    await resume_local_bakeoffs(app)  # nothing is left of it

    assert seen[-1].is_complete
    assert bakeoff_registry(app).latest(bakeoff.id) is None


async def test_the_runner_leaves_rounds_of_bakeoffs_to_their_own_runner() -> None:
    app, bakeoff = await after_a_crash(HERE)
    await app.store.open(
        replace(
            app.new_round(replace(QUESTION, place=HERE), bakeoff.panel, None, bakeoff.round_id(1)),
            bakeoff=bakeoff.id,
        )
    )

    await app.runner.resume(("slack",))

    assert app.runner.latest("bo:beef.1") is None


async def test_files_go_only_where_they_can_be_posted() -> None:
    with_files, without = Room(accepts_files=True), Room()

    await run_to_end(an_app(), with_files)
    await run_to_end(an_app(), without)

    def files(chat: Room) -> list[str]:
        return [p.name for post in chat.posts for p in post.parts if isinstance(p, File)]

    assert files(without) == []
    assert "leaderboard.csv" in files(with_files)


class FullStore(MemoryStore):
    """A store that opens no second round."""

    async def open(self, round_: Round) -> bool:
        if round_.id.endswith(".2"):
            raise StoreError("The disk is full: make room, and go on.")
        return await super().open(round_)


async def test_a_store_error_is_posted_with_what_to_do() -> None:
    app, chat = an_app(store=FullStore()), Room()

    with pytest.raises(StoreError):
        await run_to_end(app, chat)

    assert "It stopped because of an error: The disk is full" in chat.edited[-1]
    (loud,) = [words for words in chat.said_in("C1") if "ended early" in words]
    assert "[Resume]" in loud
    assert "bo:beef" not in loud
    assert (await bakeoff_stores(app).bakeoffs.load("bo:beef")).ending is None


async def test_a_failure_is_posted_even_if_the_progress_message_was_deleted() -> None:
    app, chat = an_app(store=FullStore()), Room(deleted=True)

    with pytest.raises(StoreError):
        await run_to_end(app, chat)

    assert any("ended early" in words for words in chat.said_in("C1"))


async def test_a_scheduled_bakeoff_that_ends_early_mentions_its_subscribers() -> None:
    app, chat = an_app(), Room()
    await bakeoff_stores(app).schedules.save(a_schedule("weekly", subscribers=("U7",)))
    scheduled = replace(a_bakeoff(id_="sched:weekly@2026-11-23T09:00", cap=0), schedule="weekly")
    app.gateway.prices = dict.fromkeys(KEYS, DEAR)  # type: ignore[attr-defined]

    await run_to_end(app, chat, scheduled)

    (loud,) = [post for post in chat.posts if Mentions(("U7",)) in post.parts]
    assert loud.parts[0] == Heading("weekly: ended early")
