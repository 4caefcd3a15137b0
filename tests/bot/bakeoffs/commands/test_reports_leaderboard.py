"""`/council leaderboard`: shown to its asker, who can share it with its thread in the channel."""

from dataclasses import dataclass, field, replace

import pytest

from bot.bakeoffs.commands.reports import SHARE, SHARED
from bot.bakeoffs.parts import bakeoff_stores
from bot.chat import (
    Asker,
    File,
    IncomingMessage,
    NoThreadError,
    Post,
    PostingForbiddenError,
    SentMessage,
)
from bot.commands.dispatch import handle_message, report_errors
from bot.context import AppContext
from council.places import Place
from tests.bot.app_fakes import BUTTONS, FakeChat, an_app
from tests.bot.bakeoffs.builders import packed_all, runs_of
from tests.bot.rounds import words_of

ROOM = Place("slack", "T1", "C1")
ADA = Asker("U1", "Ada")


@dataclass(slots=True)
class Room(FakeChat):
    """A room that remembers what was posted where, and may refuse."""

    is_room = True
    accepts_files: bool = True
    posted: list[tuple[Place, Post]] = field(default_factory=list)
    refuses: type[PostingForbiddenError] | None = None

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        if self.refuses and (self.refuses is not NoThreadError or place.thread):
            raise self.refuses("Not here.")
        self.posted.append((place, post))
        self.keys.append(key)
        return SentMessage(place, f"m{len(self.posted)}")


def a_message(text: str, place: Place = ROOM, *, is_shared: bool = False) -> IncomingMessage:
    return IncomingMessage(f"/council {text}", ADA, place, "e1", is_shared=is_shared)


async def with_runs(scope: str) -> AppContext:
    app = an_app()
    await bakeoff_stores(app).records.save(packed_all([*runs_of("sql", 3, scope=scope)]))
    return app


async def press_share(
    app: AppContext, chat: Room, message: IncomingMessage | None = None, key: str = "e1"
) -> None:
    """Press the share button of the report that was asked for with this key."""
    pressed = replace(message or a_message(""), key="press")
    await report_errors(chat, pressed, BUTTONS.handlers[SHARE](app, chat, pressed, key))


async def test_in_a_channel_only_the_asker_sees_the_leaderboard_and_can_share_it() -> None:
    app, chat = await with_runs("slack/T1"), Room()

    await handle_message(app, chat, a_message("leaderboard sql"))

    (said,) = chat.said
    assert said.startswith("Leaderboard of sql\n")
    assert said.endswith("[Share to channel]")
    assert chat.posted == []


async def test_a_shared_leaderboard_is_posted_once_with_details_in_the_thread() -> None:
    app, chat = await with_runs("slack/T1"), Room()
    await handle_message(app, chat, a_message("leaderboard sql"))

    await press_share(app, chat)

    (place, root), *replies = chat.posted
    assert place == ROOM
    assert root.summary.startswith("Leaderboard of sql: ")
    assert "36 rounds of suite sql, version 3f2a1b9c" in words_of(root)
    assert {place.thread for place, _ in replies} == {"m1"}
    files = [part for _, post in replies for part in post.parts if isinstance(part, File)]
    assert [file.name for file in files] == ["leaderboard.png", "leaderboard.csv"]
    posted = len(chat.posted)
    await press_share(app, chat)
    assert len(chat.posted) == posted
    assert chat.said[1:] == [SHARED, SHARED]


async def test_in_a_direct_message_the_whole_leaderboard_is_posted_at_once() -> None:
    app, chat = await with_runs("slack/T1"), Room()

    await handle_message(app, chat, replace(a_message("leaderboard sql"), is_direct=True))

    assert len(chat.posted) > 2
    assert chat.said == []


@pytest.mark.parametrize(
    ("refuses", "posted", "said"),
    [(PostingForbiddenError, 0, "Leaderboard of sql"), (NoThreadError, 1, "Not here.")],
)
async def test_a_report_that_may_not_be_posted_is_sent_privately(
    refuses: type[PostingForbiddenError], posted: int, said: str
) -> None:
    app, chat = await with_runs("slack/T1"), Room(refuses=refuses)

    await handle_message(app, chat, replace(a_message("leaderboard sql"), is_direct=True))

    assert len(chat.posted) == posted
    assert said in chat.said[0]
    assert (len(chat.said) > 2) == (refuses is PostingForbiddenError)


async def test_a_report_that_cannot_be_shared_is_not_lost() -> None:
    app, chat = await with_runs("slack/T1"), Room(refuses=PostingForbiddenError)
    await handle_message(app, chat, a_message("leaderboard sql"))

    await press_share(app, chat)

    assert chat.said[1:] == ["Not here."]
    chat.refuses = None
    await press_share(app, chat)
    assert chat.said[-1] == SHARED


@pytest.mark.parametrize("who", ["guest", "shared", "stranger"])
async def test_a_press_is_checked_again_before_a_report_is_shared(who: str) -> None:
    app, chat = await with_runs("slack/T1"), Room()
    app.access = replace(app.access, guests=True, shared_channels=True)
    await handle_message(app, chat, a_message("leaderboard sql"))
    presser = {
        "guest": replace(a_message(""), asker=replace(ADA, is_guest=True)),
        "shared": a_message("", is_shared=True),
        "stranger": a_message("", replace(ROOM, workspace="T2")),
    }[who]

    await press_share(app, chat, presser)

    assert chat.posted == []
    assert "too old" in chat.said[-1] or "of the whole workspace" in chat.said[-1]


async def test_a_workspace_sees_its_own_rounds_alone() -> None:
    app, chat = await with_runs("slack/T2"), Room()

    await handle_message(app, chat, a_message("leaderboard sql"))

    assert "No rounds yet for suite sql" in chat.said[0]
    assert chat.posted == []


@pytest.mark.parametrize("place", [Place("terminal"), Place("web", channel="web:1")])
async def test_the_operator_sees_all_rounds(place: Place) -> None:
    app, chat = await with_runs("slack/T2"), FakeChat()

    await handle_message(app, chat, a_message("leaderboard sql as:judge", place))

    assert "36 rounds of suite sql" in chat.said[0]
    assert chat.said[0].startswith("Leaderboard of sql")
    assert chat.keys == []


@pytest.mark.parametrize("who", ["guest", "shared"])
async def test_strangers_see_no_leaderboard_of_the_workspace(who: str) -> None:
    app, chat = await with_runs("slack/T1"), Room()
    app.access = replace(app.access, guests=True, shared_channels=True)
    asked = a_message("leaderboard sql", is_shared=who == "shared")
    if who == "guest":
        asked = replace(asked, asker=replace(ADA, is_guest=True))

    await handle_message(app, chat, asked)

    assert chat.posted == []
    assert "covers the rounds of the whole workspace" in chat.said[0]


async def test_a_category_and_a_window_narrow_what_is_counted() -> None:
    app, chat = await with_runs("slack/T1"), Room()

    await handle_message(app, chat, a_message("leaderboard sql category:joins until:2026-10-20"))

    counted = "12 rounds of suite sql, version 3f2a1b9c, category joins"
    assert counted in chat.said[0]
    await press_share(app, chat)
    assert counted in words_of(chat.posted[0][1])
    await handle_message(app, chat, a_message("leaderboard sql since:yesterday"))
    assert "as a time. Write 30d, 2w, 12h, 2026-11-21 or 2026-11-21T09:00" in chat.said[-1]
