"""A line of one or two words costs nothing in a chat, whatever it says."""

from dataclasses import dataclass, field, replace

import pytest

from bot.chat import Attachment, Button, Buttons, File, IncomingMessage, Post
from bot.commands.ask import ASK_ANYWAY, PRIVATE
from bot.commands.dispatch import handle_message, report_errors, run_command
from bot.commands.help import ASK_FORM
from bot.commands.registry import Invocation, is_short
from bot.commands.rounds import NOTHING_RUNNING
from bot.context import AppContext
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.places import Place
from council.rounds import Question
from tests.bot.app_fakes import ANA, BEN, BUTTONS, COMMANDS, HERE, FakeChat, an_app
from tests.bot.rounds import words_of
from tests.bot.short_lines import SHORT_LINES
from tests.builders import ASKED_AT, a_round
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore

DIRECT = Place("slack", "T1", "D1", private=True)
WAYS = {
    "slash": IncomingMessage("", ANA, HERE, "k"),
    "mention": IncomingMessage("", ANA, replace(HERE, thread="1.1"), "k"),
    "direct": IncomingMessage("", ANA, DIRECT, "k", is_direct=True),
}


@dataclass(slots=True)
class Room(FakeChat):
    """A chat with buttons, which remembers what it replied."""

    is_room = True
    replies: list[Post] = field(default_factory=list)

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        self.replies.append(post)

    @property
    def text(self) -> str:
        return "\n".join(words_of(post) for post in self.replies)

    @property
    def buttons(self) -> dict[str, Button]:
        """Return the buttons of all replies, by action."""
        parts = [part for post in self.replies for part in post.parts]
        rows = [part.buttons for part in parts if isinstance(part, Buttons)]
        return {button.action: button for row in rows for button in row}


async def app_with_rounds(*asked: IncomingMessage) -> AppContext:
    """Return an app with a closed round for each message, which asked it."""
    store, gateway = MemoryStore(), FakeGateway()
    for number, message in enumerate(asked):
        question = Question(f"Question {number}?", message.asker.id, place=message.place)
        round_ = replace(a_round(question=question), id=f"beef{number}")
        moment = ASKED_AT.replace(minute=number)
        await store.open(replace(round_, asked_at=moment))
        await run_round(round_.id, RoundServices(gateway, store))
    gateway.asked.clear()
    return an_app(gateway, store)


async def say(app: AppContext, text: str, message: IncomingMessage = WAYS["slash"]) -> Room:
    chat = Room()
    await handle_message(app, chat, replace(message, text=text))
    return chat


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("has_rounds", [False, True])
async def test_no_short_line_asks_a_model_and_every_one_is_answered(
    way: str, *, has_rounds: bool
) -> None:
    for line in SHORT_LINES:
        app = await app_with_rounds(*([WAYS[way]] if has_rounds else []))
        before = await app.store.ids()

        chat = await say(app, line, WAYS[way])

        assert app.gateway.asked == [], line  # type: ignore[attr-defined]
        assert await app.store.ids() == before, line
        assert chat.replies, line


def test_the_list_of_short_lines_has_at_least_sixty() -> None:
    assert len({*SHORT_LINES}) >= 60


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("good bot", True),
        ("run it!", True),
        ("👍", True),
        ("谢谢", True),
        ("why?", False),
        ("为什么？", False),
        ("why is that", False),
        ("为什么天空是蓝色的", False),
        ("ทำไมท้องฟ้าเป็นสีฟ้า", False),
    ],
)
def test_short_is_one_or_two_words_without_a_question_mark(text: str, *, expected: bool) -> None:
    assert is_short(text) is expected


async def test_a_short_line_is_asked_anyway_with_its_options() -> None:
    app = await app_with_rounds()
    chat = await say(app, "method:both-orders good bot")
    button = chat.buttons[ASK_ANYWAY]

    pressed = replace(WAYS["slash"], key="k2")
    press = BUTTONS.handlers[ASK_ANYWAY](app, chat, pressed, button.value)
    await report_errors(chat, pressed, press)

    round_ = await app.store.load("k2")
    assert (round_.question.text, round_.panel.terms.method) == ("good bot", "both-orders")


async def test_a_private_short_question_is_typed_again_because_a_button_would_publish_it() -> None:
    app, chat, values = await app_with_rounds(), Room(), {"question": "hush", PRIVATE: PRIVATE}

    await run_command(app, chat, WAYS["slash"], Invocation(COMMANDS["ask"], values))

    assert "To ask it anyway, end it with a question mark." in chat.text
    assert chat.buttons == {}


@pytest.mark.parametrize("text", ["why?", "why so", "Which queue should we use"])
async def test_a_question_mark_a_file_or_a_third_word_makes_it_a_question(text: str) -> None:
    app = await app_with_rounds()
    files = (Attachment.of("a.txt", b"text"),) if text == "why so" else ()

    await say(app, text, replace(WAYS["slash"], files=files))

    assert await app.store.ids() == ("k",)


async def test_elsewhere_than_in_a_room_a_short_question_is_asked() -> None:
    app = await app_with_rounds()

    await handle_message(app, FakeChat(), replace(WAYS["slash"], text="Hello there"))

    assert await app.store.ids() == ("k",)


# --- What the words do


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("answers", "Answers of “Question 0?”"),
        ("rankings", "Rankings"),
        ("results", "Results"),
        ("show", "The council says yes."),
        ("again", "Run again? Every model is asked once more."),
        ("run again", "It costs"),
        ("yes, run again", "Run again?"),
        ("forget", "Forget “Question 0?”?"),
        ("delete last", "Forget “Question 0?”?"),
        ("vote K", "Response K"),
        ("status", "Question 0?"),
        ("helpful", "Noted, thank you."),
        ("stop", NOTHING_RUNNING),
        ("version", "Council "),
        ("privacy", "Questions and answers are kept until somebody forgets them."),
        ("feedback", "press a thumb"),
        ("resume", "None of your rounds is stopped here."),
        ("read and vote", "Which answer was the best?"),
        ("add to suite", "`/council suite add NAME"),
    ],
)
async def test_a_word_of_a_button_does_what_the_button_does(line: str, said: str) -> None:
    app = await app_with_rounds(WAYS["slash"])

    chat = await say(app, line)

    assert said in chat.text


async def test_export_is_of_the_newest_round_of_the_thread_else_of_the_place() -> None:
    elsewhere = replace(WAYS["slash"], place=replace(HERE, channel="C2"))
    app = await app_with_rounds(WAYS["mention"], WAYS["slash"], elsewhere)

    def exported(chat: Room) -> str:
        [file] = [part for post in chat.replies for part in post.parts if isinstance(part, File)]
        return file.name

    assert "beef0" in exported(await say(app, "export", WAYS["mention"]))
    assert "beef1" in exported(await say(app, "export last"))
    assert "beef2" in exported(await say(app, "export beef2"))


async def test_cancel_stops_the_only_running_round_and_asks_which_of_several() -> None:
    app = await app_with_rounds()
    for number, asker in enumerate((ANA, ANA, BEN)):
        question = Question(f"Question {number}?", asker.id, place=HERE)
        await app.store.open(replace(a_round(question=question), id=f"beef{number}"))

    several = await say(app, "cancel")
    assert "You have 2 rounds running. Which one should stop?" in several.text
    assert several.buttons["cancel"].label in {"Question 0?", "Question 1?"}
    await say(app, "cancel beef0")

    assert "“Question 1?” is cancelled." in (await say(app, "stop")).text
    assert (await say(app, "cancel")).text == NOTHING_RUNNING
    assert not (await app.store.load_summary("beef2")).paused
    assert "is stopped. Its progress is saved." in (await say(app, "resume")).text


async def test_ask_alone_offers_the_form() -> None:
    assert ASK_FORM in (await say(await app_with_rounds(), "ask")).buttons
