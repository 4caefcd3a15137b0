"""`suite` in a chat: list, show, add after confirmation, grow from rounds, remove."""

import re
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest

from bot.access import Access
from bot.bakeoffs.commands.forms import add_to_suite
from bot.bakeoffs.commands.suites import (
    MAX_DRAFTS,
    REMOVE,
    RETAIN,
    Draft,
    SuiteAddition,
    save_draft,
    take_draft,
)
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.render.suites import KEEP, LEAVE
from bot.bakeoffs.suite_files import MAX_QUESTIONS
from bot.chat import Asker, Attachment, Button, Buttons, IncomingMessage, Post
from bot.commands.dispatch import handle_message, report_errors
from bot.context import AppContext
from council.bakeoffs.models import Grading, Reference, Suite, SuiteQuestion
from council.errors import SuiteError
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.places import Place
from council.rounds import Question
from tests.bot.app_fakes import ANA, BEN, BUTTONS, HERE, FakeChat, an_app
from tests.builders import ASKED_AT, a_round
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_key_value import MemoryKeyValueStore
from tests.fakes.memory_store import MemoryStore

ELSEWHERE = Place("slack", "T2", "C9")
CLEO = Asker("U3", "Cleo", is_admin=True)
CSV = b"question,category,answer\nWhat is 6 x 7?,maths,42\nWhy?,,\n"


@dataclass(slots=True)
class Room(FakeChat):
    """Remembers posts as well as their words."""

    is_room: ClassVar[bool] = True
    posts: list[Post] = field(default_factory=list)

    async def send_ephemeral(self, message: IncomingMessage, post: Post) -> None:
        self.posts.append(post)
        await FakeChat.send_ephemeral(self, message, post)

    def buttons(self) -> dict[str, Button]:
        """Return the buttons that were shown, by action."""
        rows = [p for post in self.posts for p in post.parts if isinstance(p, Buttons)]
        return {button.action: button for row in rows for button in row.buttons}


@dataclass(slots=True)
class SuiteHarness:
    """An app, and the messages and presses that it handles."""

    app: AppContext = field(default_factory=an_app)

    async def send(
        self, text: str, asker: Asker = ANA, place: Place = HERE, files: tuple[Attachment, ...] = ()
    ) -> Room:
        chat = Room()
        await handle_message(
            self.app, chat, IncomingMessage(f"/council {text}", asker, place, "k", files=files)
        )
        return chat

    async def replies_to(self, text: str, asker: Asker = ANA, place: Place = HERE) -> str:
        return "\n".join((await self.send(text, asker, place)).said)

    async def press(self, button: Button, asker: Asker = ANA, place: Place = HERE) -> str:
        chat, message = Room(), IncomingMessage("", asker, place, "p")
        await report_errors(
            chat, message, BUTTONS.handlers[button.action](self.app, chat, message, button.value)
        )
        return "\n".join(chat.said)

    async def add_suite(self, name: str, text: str = "Why?\nHow?", place: Place = HERE) -> Suite:
        """Add a suite of these questions as Ana, and confirm it."""
        shown = await self.send(f"suite add {name}\n{text}", place=place)
        await self.press(shown.buttons()[KEEP], place=place)
        return await bakeoff_stores(self.app).suites.load(place.scope, name)


def a_file(name: str = "sql.csv", content: bytes = CSV) -> Attachment:
    async def read() -> bytes:
        return content

    return Attachment(name, len(content), read)


async def harness_with_round(question: Question) -> SuiteHarness:
    store, gateway = MemoryStore(), FakeGateway()
    await store.open(replace(a_round(question=question), id="abc123"))
    await run_round("abc123", RoundServices(gateway, store))
    return SuiteHarness(an_app(gateway, store))


async def test_a_file_is_shown_with_size_and_cost_and_added_by_a_press() -> None:
    harness = SuiteHarness()

    shown = await harness.send("suite add SQL", files=(a_file(),))

    words = "\n".join(shown.said)
    assert "Save suite sql?" in words
    assert "2 questions, 1 with a reference answer." in words
    assert "One run on panel house costs nothing." in words
    assert "No suites yet" in await harness.replies_to("suite")
    assert "Suite sql is saved" in await harness.press(shown.buttons()[KEEP])
    add_suite = await bakeoff_stores(harness.app).suites.load(HERE.scope, "sql")
    assert add_suite.questions == (
        SuiteQuestion("What is 6 x 7?", "maths", Reference(Grading.NUMBER, "42")),
        SuiteQuestion("Why?"),
    )
    assert "sql · 2 questions, 1 with an answer\n[Open]" in await harness.replies_to("suite")


async def test_what_a_file_of_another_tool_leaves_out_is_said_before_saving() -> None:
    harness, content = SuiteHarness(), b"prompts: [Why?]\nextensions: [a]\n"

    shown = await harness.send("suite add p", files=(a_file("p.yaml", content),))

    words = "\n".join(shown.said)
    assert words.index("extensions (line 2)") < words.index("Save suite p?")
    assert "Suite p is saved" in await harness.press(shown.buttons()[KEEP])


async def test_a_question_that_lost_a_check_is_graded_by_the_rest_on_request() -> None:
    content = b"prompts: [Six?]\ntests:\n- assert: [{type: contains, value: x}, {type: python}]\n"
    harness, files = SuiteHarness(), (a_file("p.yaml", content),)

    whole = await harness.send("suite add p", files=files)
    partial = await harness.send("suite add p checks:partial", files=files)

    assert "Question 1 has no grade, shown as ?" in "\n".join(whole.said)
    assert "Question 1 has a grade by 1 of 2 checks." in "\n".join(partial.said)


async def test_a_suite_is_confirmed_by_a_command_where_there_are_no_buttons() -> None:
    harness, terminal = SuiteHarness(), Place("terminal")
    shown = await harness.send("suite add sql\nWhy?\nHow?", place=terminal)
    (code,) = re.findall(r"Save it with `suite keep ([0-9a-f]{8})`", shown.said[0])

    assert "Suite sql is saved" in await harness.replies_to(f"suite keep {code}", place=terminal)


async def test_a_declined_suite_is_not_stored() -> None:
    harness = SuiteHarness()
    shown = await harness.send("suite add sql\nWhy?")

    assert "is unchanged" in await harness.press(shown.buttons()[LEAVE])
    assert "Add it again" in await harness.press(shown.buttons()[KEEP])
    assert "No suites yet" in await harness.replies_to("suite")


async def test_only_its_author_confirms_a_draft_and_only_in_its_workspace() -> None:
    harness = SuiteHarness()
    keep = (await harness.send("suite add sql\nWhy?")).buttons()[KEEP]

    assert "Add it again" in await harness.press(keep, CLEO)
    assert "Add it again" in await harness.press(keep, place=ELSEWHERE)
    harness.app.access = Access(channels=())
    assert "The council is off in this channel" in await harness.press(keep)
    harness.app.access = Access()
    assert "is saved" in await harness.press(keep)


async def test_a_suite_that_changed_meanwhile_is_not_overwritten() -> None:
    harness = SuiteHarness()
    keep = (await harness.send("suite add sql\nWhy?")).buttons()[KEEP]
    newer = await harness.add_suite("sql", "How?")

    assert "has changed in the meantime" in await harness.press(keep)
    assert "is already saved in exactly this version" in await harness.replies_to(
        "suite add sql\nHow?"
    )
    words = await harness.replies_to("suite add sql\nWhy?")
    assert f"replaces version {newer.version} with 1 question" in words


async def test_a_suite_is_shown_with_its_questions() -> None:
    harness = SuiteHarness()
    await harness.add_suite("sql", "\n".join(f"Question {n}?" for n in range(1, 31)))

    words = await harness.replies_to("suite show SQL")

    assert "30 questions, none with a reference answer." in words
    assert "Question 20?" in words
    assert "Question 21?" not in words
    assert "And 10 questions more." in words


async def test_a_workspace_sees_its_own_suites_and_shared_ones_which_the_operator_removes() -> None:
    harness = SuiteHarness()
    house = Suite("general", (SuiteQuestion("Why?"),))
    await bakeoff_stores(harness.app).suites.save(house, "council.toml", ASKED_AT)
    await harness.add_suite("sql")

    assert "general (built in)" in await harness.replies_to("suite")
    assert "sql" not in await harness.replies_to("suite", place=ELSEWHERE)
    assert "There is no suite 'sql'" in await harness.replies_to("suite show sql", place=ELSEWHERE)
    assert "comes from council.toml" in await harness.replies_to("suite remove general")
    by_operator = await harness.replies_to("suite remove general yes", place=Place("terminal"))
    assert "Suite general is removed" in by_operator


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("suite show nothing", "There is no suite 'nothing'"),
        ("suite add sql", "Attach a file of questions"),
        ("suite add list", "A suite can't be called"),
        ("suite add sql\nWhy?\nWhy?", "Line 2 asks the same as line 1"),
        ("suite add sql ffff", "There is no round 'ffff'"),
        ("suite remove nothing", "There is no suite 'nothing'"),
        ("suite keep 0123abcd", "This suite is no longer waiting to be saved"),
    ],
)
async def test_an_impossible_command_is_refused_with_advice(text: str, sentence: str) -> None:
    assert sentence in await SuiteHarness().replies_to(text)


async def test_files_are_read_one_at_a_time_and_not_when_too_long() -> None:
    harness = SuiteHarness()

    two = await harness.send("suite add sql", files=(a_file(), a_file()))
    long = await harness.send("suite add sql", files=(replace(a_file(), size=3_000_000),))

    assert "Send one file at a time" in two.said[0]
    assert "sql.csv has 3,000,000 bytes" in long.said[0]


async def test_guests_and_shared_channels_see_no_suites() -> None:
    harness = SuiteHarness()
    harness.app.access = Access(guests=True, shared_channels=True)
    guest = Asker("U3", "Gil", is_guest=True)
    chat = Room()

    await handle_message(
        harness.app, chat, IncomingMessage("suite", ANA, HERE, "k", is_shared=True)
    )

    assert "Use them as one of its members" in chat.said[0]
    assert "Use them as one of its members" in await harness.replies_to("suite", guest)


async def test_an_admin_removes_a_suite_once_it_is_confirmed() -> None:
    harness = SuiteHarness()
    await harness.add_suite("sql")
    await harness.add_suite("more")

    asked = (await harness.send("suite remove sql")).buttons()
    assert "stays" in await harness.press(asked[RETAIN])
    assert "is removed" in await harness.press(asked[REMOVE])
    harness.app.access = Access(admins=("U2",))
    assert "is removed" in await harness.replies_to("suite remove more yes", BEN)
    assert "No suites yet" in await harness.replies_to("suite")


async def test_a_plain_member_changes_no_suite_neither_typed_nor_pressed() -> None:
    harness = SuiteHarness()
    await harness.add_suite("sql")
    asked = (await harness.send("suite remove sql")).buttons()
    keep = (await harness.send("suite add other\nWhy?")).buttons()[KEEP]

    for text in ("suite add more\nWhy?", "suite remove sql yes"):
        assert "Only admins can" in await harness.replies_to(text, BEN)
    for button in (asked[REMOVE], keep):
        assert "Only admins can" in await harness.press(button, BEN)

    lines = await bakeoff_stores(harness.app).suites.list_summaries(HERE.scope)
    assert [line.name for line in lines] == ["sql"]


async def test_a_rounds_question_begins_a_suite_and_joins_it() -> None:
    harness = await harness_with_round(Question("Which queue?", "U1", "Notes.", HERE))
    await harness.add_suite("other")

    shown = await harness.send("suite add queues last")
    await harness.press(shown.buttons()[KEEP])
    joined = await harness.send("suite add other abc1")
    await harness.press(joined.buttons()[KEEP])

    (question,) = (await bakeoff_stores(harness.app).suites.load(HERE.scope, "queues")).questions
    assert question == SuiteQuestion("Which queue?", context="Notes.")
    assert len((await bakeoff_stores(harness.app).suites.load(HERE.scope, "other")).questions) == 3
    assert "Suite queues already has this question" in await harness.replies_to(
        "suite add queues last"
    )


async def test_a_private_question_is_added_by_its_asker_alone() -> None:
    private = replace(HERE, private=True)
    harness = await harness_with_round(Question("Which queue?", "U1", place=private))

    assert "only by the person who asked" in await harness.replies_to(
        "suite add sql abc123", CLEO, private
    )
    assert "Save suite sql?" in await harness.replies_to("suite add sql abc123", ANA, private)
    await harness.app.store.forget("abc123", ASKED_AT, "salt")
    assert "forgotten" in await harness.replies_to("suite add sql abc123", ANA, private)


async def pressed(harness: SuiteHarness, joining: SuiteAddition, asker: Asker = ANA) -> str:
    chat, message = Room(), IncomingMessage("", asker, HERE, "p")
    await report_errors(chat, message, add_to_suite(harness.app, chat, message, "abc123", joining))
    return "\n".join(chat.said)


async def test_the_button_adds_the_question_with_its_right_answer() -> None:
    harness = await harness_with_round(Question("What is 6 x 7?", "U1", place=HERE))

    replies_to = await pressed(harness, SuiteAddition("Maths", " 42 "))

    assert "The question is now in suite maths, which has 1 question, 1 with" in replies_to
    (question,) = (await bakeoff_stores(harness.app).suites.load(HERE.scope, "maths")).questions
    assert question.reference == Reference(Grading.NUMBER, "42")
    assert "already has this question" in await pressed(harness, SuiteAddition("maths"))
    assert "A suite can't be called" in await pressed(harness, SuiteAddition("a b"))
    assert "the limit is 2,000" in await pressed(harness, SuiteAddition("x", "y" * 2_001))
    harness.app.access = Access(channels=())
    assert "The council is off in this channel" in await pressed(harness, SuiteAddition("maths"))


async def test_a_question_added_to_a_suite_of_the_settings_makes_a_copy_for_the_workspace() -> None:
    harness = await harness_with_round(Question("What is 6 x 7?", "U1", place=HERE))
    await bakeoff_stores(harness.app).suites.save(
        Suite("maths", (SuiteQuestion("Why?"),)), "council.toml", ASKED_AT
    )

    await pressed(harness, SuiteAddition("maths"))

    suites = bakeoff_stores(harness.app).suites
    assert len((await suites.load(HERE.scope, "maths")).questions) == 2
    assert len((await suites.load("", "maths")).questions) == 1


async def test_a_full_suite_grows_no_further() -> None:
    harness = await harness_with_round(Question("What is 6 x 7?", "U1", place=HERE))
    full = Suite(
        "full", tuple(SuiteQuestion(f"{n}?") for n in range(MAX_QUESTIONS)), scope=HERE.scope
    )
    await bakeoff_stores(harness.app).suites.save(full, "U1", ASKED_AT)

    assert "has 10,000 questions" in await pressed(harness, SuiteAddition("full"))


async def test_the_oldest_draft_gives_way() -> None:
    key_values = MemoryKeyValueStore()
    suite = Suite("sql", (SuiteQuestion("Why?"),), scope=HERE.scope)
    codes = [await save_draft(key_values, Draft(suite, "U1")) for _ in range(MAX_DRAFTS + 1)]
    message = IncomingMessage("", ANA, HERE, "k")

    with pytest.raises(SuiteError, match="Add it again"):
        await take_draft(key_values, codes[0], message)
    assert (await take_draft(key_values, codes[-1], message)).suite == suite


async def test_columns_of_other_names_can_be_chosen_in_a_chat() -> None:
    harness, content = SuiteHarness(), b"title,body,solved\nSums,6 x 7?,42\n"

    shown = await harness.send(
        "suite add sums question:body answer:solved category:title",
        files=(a_file("own.csv", content),),
    )
    await harness.press(shown.buttons()[KEEP])

    saved = await bakeoff_stores(harness.app).suites.load(HERE.scope, "sums")
    right = Reference(Grading.NUMBER, "42")
    assert saved.questions == (SuiteQuestion("6 x 7?", "Sums", right),)
