"""Command registry: a command, a typo, which costs nothing, or a question."""

import pytest

from bot.chat import Buttons, IncomingMessage, Post
from bot.commands.ask import ASK_ANYWAY
from bot.commands.dispatch import handle_message, report_errors
from bot.commands.parameters import Kind, is_one_edit_away
from bot.commands.registry import CommandRegistry, Invocation, Typo, is_question
from bot.commands.table import build_registry
from bot.plugins import Parts, Plugins
from council.plugin import Plugin
from council.ports import UNASKED
from tests.bot.app_fakes import ANA, BEN, BUTTONS, COMMANDS, HERE, FakeChat, an_app, replies_to


def parse(text: str) -> tuple[str, dict[str, str]]:
    parsed = COMMANDS.parse(text)
    assert isinstance(parsed, Invocation)
    return parsed.command.full_name, dict(parsed.arguments)


@pytest.mark.parametrize(
    ("text", "command", "arguments"),
    [
        ("", "help", {}),
        ("/council", "help", {}),
        ("/COUNCIL Help", "help", {}),
        ("help show", "help", {"command": "show"}),
        (
            "ask method:grading:0-100 How so?",
            "ask",
            {"method": "grading:0-100", "question": "How so?"},
        ),
        ("rounds 5", "rounds", {"limit": "5"}),
        ("ROUNDS", "rounds", {}),
        ("show LAST", "show", {"round": "LAST"}),
        ("show", "show", {}),
        ("forget", "forget", {}),
        ("export last", "export", {"round": "last"}),
        ("Run again!", "again", {}),
        ("stop beef1", "cancel", {"round": "beef1"}),
        ("history", "rounds", {}),
        ("show 12ab", "show", {"round": "12ab"}),
        ("show slack:T1:123.456@0", "show", {"round": "slack:T1:123.456@0"}),
        ("forget last", "forget", {"round": "last"}),
        ("forget 12ab yes", "forget", {"round": "12ab", "yes": "yes"}),
        ("vote last k", "vote", {"round": "last", "answer": "k"}),
        ("vote 12ab Response K", "vote", {"round": "12ab", "answer": "Response K"}),
        ("panel house", "panel", {"name": "house"}),
        ("  /council   rounds  ", "rounds", {}),
        ("/council\nrounds", "rounds", {}),
        ("ask", "ask", {}),
        ("ask help", "ask", {"question": "help"}),
        ("ASK show 12ab", "ask", {"question": "show 12ab"}),
        ("ask Why?\nAnd how?", "ask", {"question": "Why?\nAnd how?"}),
        (
            "panel:house seed:s Why a:b?",
            "ask",
            {"panel": "house", "seed": "s", "question": "Why a:b?"},
        ),
    ],
)
def test_a_command_is_its_name_with_values_that_fit(
    text: str, command: str, arguments: dict[str, str]
) -> None:
    assert parse(text) == (command, arguments)


@pytest.mark.parametrize(
    "question",
    [
        "help me pick a queue",
        "history of Rome",
        "show me the rounds of a boxing match",
        "cancel my subscription?",
        "rounds of golf per year?",
        "panel data or time series?",
        "forget about tabs?",
        "Wie heißt die Hauptstadt? 🏛",
        "помощь",
        "how databases work",
        "cafe show",
        "/councilor, what is a quorum?",
        "vote on this: K or L?",
        "Why panel:house?",
    ],
)
def test_anything_else_is_a_question(question: str) -> None:
    assert parse(question) == ("ask", {"question": question})


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("ronds", ["rounds"]),
        ("show zzzz", ["show"]),
        ("shwo last", ["show"]),
        ("rounds 12345", ["rounds"]),
        ("show tables quickly", ["show"]),
        ("vote beef1 best", ["vote"]),
        ("delete it", ["forget"]),
    ],
)
def test_a_short_line_that_begins_like_a_command_is_a_typo(line: str, meant: list[str]) -> None:
    parsed = COMMANDS.parse(line)

    assert isinstance(parsed, Typo)
    assert [one.name for one in parsed.meant] == meant


@pytest.mark.parametrize(
    ("word", "name", "is_close"),
    [
        ("show", "show", True),
        ("shw", "show", True),
        ("shoow", "show", True),
        ("shew", "show", True),
        ("shwo", "show", True),
        ("shows", "show", True),
        ("hsow", "show", True),
        ("wosh", "show", False),
        ("sh", "show", False),
        ("shwoo", "show", False),
    ],
)
def test_one_edit_adds_drops_changes_or_swaps_one_letter(
    word: str, name: str, is_close: bool
) -> None:
    assert is_one_edit_away(word, name) is is_close


class Room(FakeChat):
    """A chat with buttons, which remembers those it showed."""

    is_room = True
    shown: tuple[Post, ...] = ()

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        self.shown = (*self.shown, post)
        await FakeChat.send_ephemeral(self, said, post)

    def value(self) -> str:
        """Return the value of the button that asks it anyway."""
        [row] = [part for part in self.shown[-1].parts if isinstance(part, Buttons)]
        assert row.buttons[0].action == ASK_ANYWAY
        return row.buttons[0].value


@pytest.mark.parametrize("line", ["ronds", "forget latest", "show zzzz"])
async def test_a_typo_costs_nothing_and_says_how_to_ask_it_anyway(line: str) -> None:
    app = an_app()

    reply = await replies_to(app, f"/council {line}")

    assert await app.store.ids() == ()
    assert "/council " in reply
    assert "To ask it anyway, end it with a question mark." in reply
    assert is_question(COMMANDS.parse(f"{line}?"))


async def test_a_typo_is_asked_anyway_once_and_only_for_its_author() -> None:
    app, chat = an_app(), Room()
    message = IncomingMessage("ronds", ANA, HERE, "k1", "the thread so far")
    await handle_message(app, chat, message)
    press = BUTTONS.handlers[ASK_ANYWAY]

    for asker, key in ((BEN, "k2"), (ANA, "k3"), (ANA, "k4")):
        pressed = IncomingMessage("", asker, HERE, key)
        await report_errors(chat, pressed, press(app, chat, pressed, chat.value()))
        chat.shown = chat.shown[:1]

    assert await app.store.ids() == ("k3",)
    asked = (await app.store.load("k3")).question
    assert (asked.text, asked.context, asked.asked_by) == ("ronds", message.context, ANA.id)
    assert await app.key_values.list_texts(UNASKED) == {}


def test_every_command_fits_the_forms_of_every_chat() -> None:
    for command in COMMANDS.commands:
        texts = [command.summary, *(one.help for one in command.parameters)]
        assert max(map(len, texts)) <= 100
        assert all(one.choices for one in command.parameters if one.kind is Kind.CHOICE)


def test_only_an_invocation_of_ask_is_a_question() -> None:
    assert [is_question(COMMANDS.parse(x)) for x in ("Why?", "rounds", "rouns")] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("text", ["poem", "Poem s", "/council poem list", "poem run a b c panel:x"])
async def test_a_command_of_a_plugin_that_is_off_is_explained_and_no_question(text: str) -> None:
    app, chat = an_app(), FakeChat()
    app.parts = Parts(registry_with_poems_off(), BUTTONS)

    await handle_message(app, chat, IncomingMessage(text, ANA, HERE, "m1"))

    assert chat.said == ["poem is part of the plug-in haiku, which is not on."]
    assert await app.store.list_summaries(9) == ()


@pytest.mark.parametrize("text", ["poem or prose?", "poem by Ana about a wall", "ask poem"])
def test_a_question_that_begins_with_the_name_of_a_command_that_is_off_is_asked(text: str) -> None:
    assert is_question(registry_with_poems_off().parse(text))


def registry_with_poems_off() -> CommandRegistry:
    haiku = Plugin(name="haiku", commands=("nowhere:X",), cli={"poem": ("nowhere:poem", "")})
    return build_registry(Plugins(present=[haiku]))
