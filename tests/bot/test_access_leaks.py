"""No command and no button shows a round to anybody who may not read it.

Every place a round was asked in × every place and person that asks for it × every command and
button. The rule is written down here once more, on its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product

import pytest

from bot.access import Access
from bot.chat import Asker, File, IncomingMessage, Post, SentMessage
from bot.commands.buttons import (
    answer_or_ballot_posts,
    confirmation_post,
)
from bot.commands.completion import suggest
from bot.commands.dispatch import handle_message, report_errors
from bot.commands.parameters import Kind
from bot.commands.registry import is_question
from bot.commands.rounds import load_readable_round
from bot.context import AppContext
from council.integrity.erasure import removable_texts
from council.places import Place
from council.rounds import Question
from tests.bot.app_fakes import BUTTONS, COMMANDS, Room, an_app
from tests.bot.rounds import words_of
from tests.builders import NAMES
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore
from tests.storage.builders import a_closed_round

SECRET, ROUND_ID = "Whom do we dismiss?", "beef12345678"

PUBLIC = Place("slack", "T1", "C1")
PLACES = {
    "public channel": PUBLIC,
    "its thread": replace(PUBLIC, thread="1.2"),
    "another channel": Place("slack", "T1", "C2"),
    "private channel": Place("slack", "T1", "G1", private=True),
    "direct messages": Place("slack", "T1", "D1", private=True),
    "another's direct messages": Place("slack", "T1", "D2", private=True),
    "another workspace": Place("slack", "T2", "C1"),
    "its private channel": Place("slack", "T2", "G1", private=True),
    "a Discord server": Place("discord", "T1", "C1"),
    "a private thread": Place("discord", "T1", "C1:9", "9", private=True),
    "Discord's direct messages": Place("discord", "", "D1", private=True),
    "a user install": Place("discord", "", "D7", private=True),
}
PEOPLE = {
    "the asker": Asker("U1", "Ada"),
    "a member": Asker("U2", "Ben"),
    "an admin": Asker("U3", "Cleo", is_admin=True),
    "a guest": Asker("U4", "Gil", is_guest=True),
}
LINES = [
    f"{verb} {wanted}{after}"
    for verb, after in (
        ("show", ""),
        ("cancel", ""),
        ("forget", ""),
        ("vote", " k"),
        ("suite add leak", ""),
    )
    for wanted in (ROUND_ID, ROUND_ID[:5], "last")
]
LINES += ["rounds", "rounds 999", "budget", "panel", "help", "leaderboard", "bias", "suite"]
LINES += ["bakeoff", "bakeoff show last", "schedule"]
# Where its plug-in is absent, a command is a question.
LINES = [line for line in LINES if not is_question(COMMANDS.parse(line))]


def may_read(asked: Place, message: IncomingMessage) -> bool:
    """Return whether the author of a message may read what was asked in a place."""
    here = message.place
    if (asked.chat, asked.workspace) != (here.chat, here.workspace):
        return False
    is_same_channel = asked.channel == here.channel
    if asked.private or message.asker.is_guest or message.is_shared:
        return is_same_channel
    return True


@dataclass(slots=True)
class Ears(Room):
    """A chat that remembers every word and file that anybody could see."""

    heard: list[str] = field(default_factory=list)

    def hear(self, post: Post) -> None:
        files = [part.text for part in post.parts if isinstance(part, File)]
        self.heard.append("\n".join([words_of(post), post.summary, *files]))

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        self.hear(post)
        return SentMessage(place, key)

    async def edit(self, sent: SentMessage, post: Post) -> None:
        self.hear(post)

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        self.hear(post)


async def app_with_a_round(asked: Place) -> AppContext:
    store = MemoryStore()
    question = Question(SECRET, "U1", place=asked)
    await store.open(replace(a_closed_round(ROUND_ID), question=question))
    app = an_app(FakeGateway(), store)
    app.access = Access(guests=True, shared_channels=True)
    return app


async def press(app: AppContext, chat: Ears, message: IncomingMessage, action: str) -> None:
    """Press a button whose value was forged, in the way each chat does."""
    if action in {"answers", "ballots"}:
        round_ = await load_readable_round(app, message, ROUND_ID)
        for post in answer_or_ballot_posts(round_, action):
            await chat.send_ephemeral(message, post)
    elif action.startswith("confirm "):
        post = await confirmation_post(app, message, action.removeprefix("confirm "), ROUND_ID)
        await chat.send_ephemeral(message, post)
    else:
        await BUTTONS.handlers[action](app, chat, message, ROUND_ID)


def everybody(asked: Place) -> Iterator[IncomingMessage]:
    """Yield a message without text from everybody, everywhere, who may not read the round."""
    for number, (place, asker, shared) in enumerate(
        product(PLACES.values(), PEOPLE.values(), (False, True))
    ):
        message = IncomingMessage("", asker, place, f"k{number}", is_shared=shared)
        if not may_read(asked, message):
            yield message


@pytest.mark.parametrize("asked", PLACES)
async def test_no_command_shows_a_round_to_those_who_may_not_read_it(asked: str) -> None:
    app = await app_with_a_round(PLACES[asked])
    before = removable_texts(await app.store.load(ROUND_ID))

    for message in everybody(PLACES[asked]):
        for number, line in enumerate(LINES):
            chat = Ears()
            typed = replace(message, text=f"/council {line}", key=f"{message.key}.{number}")
            await handle_message(app, chat, typed)
            assert SECRET not in "\n".join(chat.heard), (message, line)

    assert removable_texts(await app.store.load(ROUND_ID)) == before
    assert await app.store.votes(ROUND_ID) == ()


@pytest.mark.parametrize("asked", PLACES)
async def test_no_button_shows_or_changes_it_either(asked: str) -> None:
    app = await app_with_a_round(PLACES[asked])
    before = removable_texts(await app.store.load(ROUND_ID))
    actions = [
        *BUTTONS.handlers,
        "answers",
        "ballots",
        *(f"confirm {x}" for x in BUTTONS.confirmations),
    ]

    for message in everybody(PLACES[asked]):
        for action in actions:
            chat = Ears()
            await report_errors(chat, message, press(app, chat, message, action))
            assert SECRET not in "\n".join(chat.heard), (message, action)

    assert removable_texts(await app.store.load(ROUND_ID)) == before
    assert await app.store.ids() == (ROUND_ID,)


@pytest.mark.parametrize("asked", PLACES)
async def test_no_suggestion_names_it(asked: str) -> None:
    app = await app_with_a_round(PLACES[asked])
    [parameter] = [one for one in COMMANDS["show"].parameters if one.kind is Kind.ROUND]

    for message in everybody(PLACES[asked]):
        for typed in ("", "dismiss", ROUND_ID[:4]):
            assert await suggest(app, message, parameter, typed) == []


async def test_until_the_result_no_command_and_no_button_names_an_author() -> None:
    actions = [
        *BUTTONS.handlers,
        "answers",
        "ballots",
        *(f"confirm {x}" for x in BUTTONS.confirmations),
    ]
    for number, what in enumerate((*LINES, *actions)):
        app = await app_with_a_round(PUBLIC)
        closed = await app.store.load(ROUND_ID)
        app.store = MemoryStore()
        await app.store.open(replace(closed, tally=None, synthesis=None, closing=None))
        chat, reader = Ears(), IncomingMessage("", PEOPLE["an admin"], PUBLIC, f"k{number}")

        if what in LINES:
            await handle_message(app, chat, replace(reader, text=f"/council {what}"))
        else:
            await report_errors(chat, reader, press(app, chat, reader, what))

        heard = "\n".join(chat.heard)
        assert not [answer for answer in closed.answers if answer.text in heard], what
        names_panel = what in LINES and ROUND_ID[:5] not in what and "last" not in what
        if not names_panel and what not in {"again", "resume"}:  # these run, and say who answers
            assert not [name for name in NAMES.values() if name in heard], what


async def test_those_who_may_read_it_do() -> None:
    for asked in PLACES.values():
        app = await app_with_a_round(asked)
        chat = Ears()
        asker = PEOPLE["a member"]
        await handle_message(app, chat, IncomingMessage("show last", asker, asked, "k"))
        assert SECRET in "\n".join(chat.heard), asked
