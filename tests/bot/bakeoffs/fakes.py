"""Builders of suites and bake-offs, and a fake chat room."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.bakeoffs.lifecycle import run_bakeoff
from bot.bakeoffs.parts import bakeoff_stores
from bot.chat import (
    Chat,
    IncomingMessage,
    MessageGoneError,
    Post,
    PostingForbiddenError,
    SentMessage,
)
from bot.context import AppContext
from council.answers import Role
from council.bakeoffs.models import (
    Bakeoff,
    BakeoffProgress,
    Grading,
    Reference,
    Suite,
    SuiteQuestion,
)
from council.money import Price
from council.panel import Panel
from council.places import Place
from tests.bot.rounds import words_of
from tests.builders import ASKED_AT, a_panel
from tests.fakes.gateway import FakeGateway

HERE = Place("slack", "T1", "C1")
DEAR = Price(1e-6, 2e-6, 100)


def a_suite(questions: int = 3, name: str = "sql") -> Suite:
    texts = [f"Question {number}?" for number in range(1, questions + 1)]
    asked = tuple(SuiteQuestion(text) for text in texts)
    return Suite(name, asked)


def a_graded_suite(*answers: str, seen: bool = False) -> Suite:
    asked = tuple(
        SuiteQuestion(f"Question {number}?", reference=Reference(Grading.EXACT, answer))
        for number, answer in enumerate(answers, start=1)
    )
    return Suite("graded", asked, judges_see_references=seen)


def a_bakeoff(
    suite: Suite | None = None,
    panel: Panel | None = None,
    *,
    place: Place = HERE,
    cap: int | None = None,
    id_: str = "bo:beef",
) -> Bakeoff:
    suite, panel = suite or a_suite(), panel or a_panel()
    return Bakeoff(id_, suite, panel, place, "U1", ASKED_AT, cap)


async def store_bakeoff(app: AppContext, bakeoff: Bakeoff | None = None) -> Bakeoff:
    """Store a bake-off and its suite."""
    bakeoff = bakeoff or a_bakeoff()
    await bakeoff_stores(app).suites.save(bakeoff.suite, "U1", ASKED_AT)
    await bakeoff_stores(app).bakeoffs.open(bakeoff)
    return bakeoff


async def run_to_end(
    app: AppContext, chat: Chat | None = None, bakeoff: Bakeoff | None = None
) -> BakeoffProgress:
    """Store a bake-off and run it to its end."""
    return await run_bakeoff(app, chat, await store_bakeoff(app, bakeoff))


def questions_asked(gateway: FakeGateway) -> list[str]:
    """Return the text of every question that a member was asked, in order."""
    prompts = [call.prompt.user for call in gateway.of(Role.ANSWER)]
    return [next(line for line in p.split("\n") if line.startswith("Question ")) for p in prompts]


@dataclass(slots=True)
class Room(Chat):
    """A chat of many people, whose channel can be closed and whose messages can be deleted."""

    is_room = True
    accepts_files: bool = False
    posted: list[tuple[Place, str]] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    progress: list[str] = field(default_factory=list)
    whispered: list[str] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    closed: bool = False
    deleted: bool = False

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        if self.closed and place.channel != "alone":
            raise PostingForbiddenError("The channel is archived: ask in another one.")
        self.keys.append(key)
        self.posted.append((place, words_of(post)))
        self.posts.append(post)
        return SentMessage(place, key)

    async def find(self, place: Place, key: str) -> SentMessage | None:
        return SentMessage(place, key) if key in self.keys else None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        if self.closed or self.deleted:
            raise MessageGoneError("The message no longer exists.")
        self.edited.append(words_of(post))
        self.posts.append(post)

    async def show_progress(self, sent: SentMessage, post: Post) -> None:
        self.progress.append(words_of(post))

    def private_place(self, asker_id: str, place: Place) -> Place:
        return Place(place.chat, place.workspace, "alone")

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        self.whispered.append(words_of(post))
        self.posts.append(post)

    def said_in(self, channel: str) -> Sequence[str]:
        """Return what was posted in a channel."""
        return [words for place, words in self.posted if place.channel == channel]
