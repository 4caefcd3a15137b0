"""`suite` in a chat: list, show, add after confirmation, grow from rounds, remove."""

import re
from dataclasses import dataclass, field, replace

import pytest

from bot.access import Access
from bot.chat import Asker, Attachment, Button, Buttons, IncomingMessage, Post
from bot.commands.buttons import BUTTON_HANDLERS, add_to_suite
from bot.commands.dispatch import handle_message, report_errors
from bot.commands.suites import MAX_DRAFTS, Draft, SuiteAddition, save_draft, take_draft
from bot.context import AppContext
from bot.render.suites import KEEP, LEAVE
from bot.suite_files import store_house_suites
from council.bakeoffs.models import Grading, Reference, Suite, SuiteQuestion
from council.errors import SuiteError
from council.pipeline.run import run_round
from council.pipeline.stages import RoundServices
from council.places import Place
from council.rounds import Question
from storage.memory import MemoryStore
from tests.bot.app_fakes import FakeChat, an_app
from tests.builders import ASKED_AT, a_round
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_key_value import MemoryKeyValueStore

ANA, BEN = Asker("U1", "Ana"), Asker("U2", "Ben")
HERE = Place("slack", "T1", "C1")
ELSEWHERE = Place("slack", "T2", "C9")
CSV = b"question,category,answer\nWhat is 6 x 7?,maths,42\nWhy?,,\n"


@dataclass(slots=True)
class Room(FakeChat):
    """Remembers posts as well as their words."""

    posts: list[Post] = field(default_factory=list)

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        self.posts.append(post)
        await FakeChat.send_ephemeral(self, said, post)

    def buttons(self) -> dict[str, Button]:
        """Give the buttons that were shown, by what they do."""
        rows = [p for post in self.posts for p in post.parts if isinstance(p, Buttons)]
        return {button.action: button for row in rows for button in row.buttons}


@dataclass(slots=True)
class Office:
    """A desk, and what is said and pressed at it."""

    app: AppContext = field(default_factory=an_app)

    async def hears(
        self, text: str, asker: Asker = ANA, place: Place = HERE, files: tuple[Attachment, ...] = ()
    ) -> Room:
        chat = Room()
        await handle_message(
            self.app, chat, IncomingMessage(f"/council {text}", asker, place, "k", files=files)
        )
        return chat

    async def told(self, text: str, asker: Asker = ANA, place: Place = HERE) -> str:
        return "\n".join((await self.hears(text, asker, place)).said)

    async def presses(self, button: Button, asker: Asker = ANA, place: Place = HERE) -> str:
        chat, said = Room(), IncomingMessage("", asker, place, "p")
        await report_errors(
            chat, said, BUTTON_HANDLERS[button.action](self.app, chat, said, button.value)
        )
        return "\n".join(chat.said)

    async def kept(self, name: str, text: str = "Why?\nHow?", place: Place = HERE) -> Suite:
        """Have a suite of these questions kept by Ana."""
        shown = await self.hears(f"suite add {name}\n{text}", place=place)
        await self.presses(shown.buttons()[KEEP], place=place)
        return await self.app.bakeoff_stores.suites.load(place.scope, name)


def a_file(name: str = "sql.csv", content: bytes = CSV) -> Attachment:
    async def read() -> bytes:
        return content

    return Attachment(name, len(content), read)


async def an_office_with_a_round(question: Question) -> Office:
    store, gateway = MemoryStore(), FakeGateway()
    await store.open(replace(a_round(question=question), id="abc123"))
    await run_round("abc123", RoundServices(gateway, store))
    return Office(an_app(gateway, store))


async def test_without_any_it_says_how_to_make_one() -> None:
    assert "There is no suite yet" in await Office().told("suite")


async def test_a_file_is_shown_with_size_and_cost_and_kept_with_a_press() -> None:
    office = Office()

    shown = await office.hears("suite add SQL", files=(a_file(),))

    words = "\n".join(shown.said)
    assert "Keep suite sql?" in words
    assert "2 questions, 1 with a reference answer." in words
    assert "One run on panel house costs nothing." in words
    assert "There is no suite yet" in await office.told("suite")
    assert "Suite sql is kept" in await office.presses(shown.buttons()[KEEP])
    kept = await office.app.bakeoff_stores.suites.load(HERE.scope, "sql")
    assert kept.questions == (
        SuiteQuestion("What is 6 x 7?", "maths", Reference(Grading.NUMBER, "42")),
        SuiteQuestion("Why?"),
    )
    assert kept.version in await office.told("suite")


async def test_it_can_be_kept_with_words_where_there_are_no_buttons() -> None:
    office, terminal = Office(), Place("terminal")
    shown = await office.hears("suite add sql\nWhy?\nHow?", place=terminal)
    (code,) = re.findall(r"`suite keep ([0-9a-f]{8})` keeps it", shown.said[0])

    assert "Suite sql is kept" in await office.told(f"suite keep {code}", place=terminal)


async def test_what_is_left_is_not_kept() -> None:
    office = Office()
    shown = await office.hears("suite add sql\nWhy?")

    assert "is left as it was" in await office.presses(shown.buttons()[LEAVE])
    assert "does not wait" in await office.presses(shown.buttons()[KEEP])
    assert "There is no suite yet" in await office.told("suite")


async def test_only_the_one_who_was_shown_it_can_keep_it_and_only_there() -> None:
    office = Office()
    keep = (await office.hears("suite add sql\nWhy?")).buttons()[KEEP]

    assert "does not wait" in await office.presses(keep, BEN)
    assert "does not wait" in await office.presses(keep, place=ELSEWHERE)
    assert "is kept" in await office.presses(keep)


async def test_a_press_is_authorised_again() -> None:
    office = Office()
    keep = (await office.hears("suite add sql\nWhy?")).buttons()[KEEP]
    office.app.access = Access(channels=())

    assert "not open in this channel" in await office.presses(keep)


async def test_a_suite_that_changed_meanwhile_is_not_overwritten() -> None:
    office = Office()
    keep = (await office.hears("suite add sql\nWhy?")).buttons()[KEEP]
    await office.kept("sql", "How?")

    assert "was changed meanwhile" in await office.presses(keep)


async def test_the_same_once_more_is_said_to_be_there() -> None:
    office = Office()
    await office.kept("sql")

    assert "in just this version already" in await office.told("suite add sql\nWhy?\nHow?")


async def test_a_new_version_says_what_it_takes_the_place_of() -> None:
    office = Office()
    before = await office.kept("sql")

    words = await office.told("suite add sql\nWhy?")

    assert f"takes the place of version {before.version} with 2 questions" in words


async def test_a_suite_is_shown_with_its_questions() -> None:
    office = Office()
    await office.kept("sql", "\n".join(f"Question {n}?" for n in range(1, 31)))

    words = await office.told("suite show SQL")

    assert "30 questions, none with a reference answer." in words
    assert "Question 20?" in words
    assert "Question 21?" not in words
    assert "And 10 questions more." in words


async def test_a_workspace_sees_its_own_suites_and_the_houses() -> None:
    office = Office()
    house = Suite("general", (SuiteQuestion("Why?"),))
    await store_house_suites(office.app.bakeoff_stores.suites, [house], ASKED_AT)
    await office.kept("sql")

    assert "general (the house's)" in await office.told("suite")
    assert "sql" not in await office.told("suite", place=ELSEWHERE)
    assert "There is no suite 'sql'" in await office.told("suite show sql", place=ELSEWHERE)


async def test_keeping_the_houses_suites_again_changes_nothing() -> None:
    suites = an_app().bakeoff_stores.suites
    house = Suite("general", (SuiteQuestion("Why?"),))

    for _ in range(2):
        await store_house_suites(suites, [house], ASKED_AT)

    assert await suites.versions("", "general") == (house.version,)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("suite show nothing", "There is no suite 'nothing'"),
        ("suite add sql", "Attach a file of questions"),
        ("suite add list", "A suite cannot be called 'list'"),
        ("suite add sql\nWhy?\nWhy?", "Line 2 asks the same as line 1"),
        ("suite add sql ffff", "There is no round 'ffff'"),
        ("suite remove nothing", "There is no suite 'nothing'"),
        ("suite keep 0123abcd", "does not wait for an answer any more"),
    ],
)
async def test_what_cannot_be_done_is_said_with_what_to_do(text: str, told: str) -> None:
    assert told in await Office().told(text)


@pytest.mark.parametrize(
    "text", ["suite case in law?", "suite show me the money", "suite add to this"]
)
async def test_a_question_that_begins_with_the_word_is_a_question(text: str) -> None:
    office = Office()

    await office.hears(text)

    assert len(await office.app.store.ids()) == 1


async def test_files_are_read_one_at_a_time_and_not_when_too_long() -> None:
    office = Office()

    two = await office.hears("suite add sql", files=(a_file(), a_file()))
    long = await office.hears("suite add sql", files=(replace(a_file(), size=3_000_000),))

    assert "Send one file at a time" in two.said[0]
    assert "sql.csv has 3,000,000 bytes" in long.said[0]


async def test_guests_and_shared_channels_see_no_suites() -> None:
    office = Office()
    office.app.access = Access(guests=True, shared_channels=True)
    guest = Asker("U3", "Gil", is_guest=True)
    chat = Room()

    await handle_message(office.app, chat, IncomingMessage("suite", ANA, HERE, "k", is_shared=True))

    assert "its own members" in chat.said[0]
    assert "its own members" in await office.told("suite", guest)


async def test_the_one_who_kept_it_or_an_admin_removes_it() -> None:
    office = Office()
    await office.kept("sql")
    await office.kept("more")

    assert "Only the one who kept it last can remove" in await office.told("suite remove sql", BEN)
    assert "Suite sql is removed" in await office.told("suite remove sql")
    office.app.access = Access(admins=("U2",))
    assert "Suite more is removed" in await office.told("suite remove more", BEN)
    assert "There is no suite yet" in await office.told("suite")


async def test_the_houses_suites_are_removed_by_whoever_runs_the_bot() -> None:
    office = Office()
    await store_house_suites(
        office.app.bakeoff_stores.suites, [Suite("a", (SuiteQuestion("Why?"),))], ASKED_AT
    )

    assert "is the house's" in await office.told("suite remove a")
    assert "Suite a is removed" in await office.told("suite remove a", place=Place("terminal"))


async def test_a_rounds_question_begins_a_suite_and_joins_it() -> None:
    office = await an_office_with_a_round(Question("Which queue?", "U1", "Notes.", HERE))
    await office.kept("other")

    shown = await office.hears("suite add queues last")
    await office.presses(shown.buttons()[KEEP])
    joined = await office.hears("suite add other abc1")
    await office.presses(joined.buttons()[KEEP])

    (question,) = (await office.app.bakeoff_stores.suites.load(HERE.scope, "queues")).questions
    assert question == SuiteQuestion("Which queue?", context="Notes.")
    assert len((await office.app.bakeoff_stores.suites.load(HERE.scope, "other")).questions) == 3
    assert "Suite queues asks this already" in await office.told("suite add queues last")


async def test_a_round_that_may_not_be_read_joins_nothing() -> None:
    office = await an_office_with_a_round(Question("Which queue?", "U1", place=ELSEWHERE))

    assert "There is no round 'abc123' here" in await office.told("suite add sql abc123")


async def test_a_private_question_is_added_by_its_asker_alone() -> None:
    private = replace(HERE, private=True)
    office = await an_office_with_a_round(Question("Which queue?", "U1", place=private))

    assert "Only the one who asked" in await office.told("suite add sql abc123", BEN, private)
    assert "Keep suite sql?" in await office.told("suite add sql abc123", ANA, private)


async def test_a_forgotten_round_joins_nothing() -> None:
    office = await an_office_with_a_round(Question("Which queue?", "U1", place=HERE))
    await office.app.store.forget("abc123", ASKED_AT, "salt")

    assert "forgotten" in await office.told("suite add sql abc123")


async def pressed(office: Office, joining: SuiteAddition, asker: Asker = ANA) -> str:
    chat, said = Room(), IncomingMessage("", asker, HERE, "p")
    await report_errors(chat, said, add_to_suite(office.app, chat, said, "abc123", joining))
    return "\n".join(chat.said)


async def test_the_button_keeps_the_question_with_the_answer_somebody_knows() -> None:
    office = await an_office_with_a_round(Question("What is 6 x 7?", "U1", place=HERE))

    told = await pressed(office, SuiteAddition("Maths", " 42 "))

    assert "The question is in suite maths now, which has 1 question, 1 with" in told
    (question,) = (await office.app.bakeoff_stores.suites.load(HERE.scope, "maths")).questions
    assert question.reference == Reference(Grading.NUMBER, "42")
    assert "asks this already" in await pressed(office, SuiteAddition("maths"))
    assert "cannot be called" in await pressed(office, SuiteAddition("a b"))
    assert "at most 2,000 can be graded" in await pressed(office, SuiteAddition("x", "y" * 2_001))


async def test_the_button_adds_nothing_where_nobody_may_ask() -> None:
    office = await an_office_with_a_round(Question("What is 6 x 7?", "U1", place=HERE))
    office.app.access = Access(channels=())

    assert "not open in this channel" in await pressed(office, SuiteAddition("maths"))


async def test_a_growing_suite_of_the_house_becomes_the_workspaces_own() -> None:
    office = await an_office_with_a_round(Question("What is 6 x 7?", "U1", place=HERE))
    await store_house_suites(
        office.app.bakeoff_stores.suites, [Suite("maths", (SuiteQuestion("Why?"),))], ASKED_AT
    )

    await pressed(office, SuiteAddition("maths"))

    suites = office.app.bakeoff_stores.suites
    assert len((await suites.load(HERE.scope, "maths")).questions) == 2
    assert len((await suites.load("", "maths")).questions) == 1


async def test_a_full_suite_grows_no_further() -> None:
    office = await an_office_with_a_round(Question("What is 6 x 7?", "U1", place=HERE))
    full = Suite("full", tuple(SuiteQuestion(f"{n}?") for n in range(1_000)), scope=HERE.scope)
    await office.app.bakeoff_stores.suites.save(full, "U1", ASKED_AT)

    assert "has 1,000 questions, the most" in await pressed(office, SuiteAddition("full"))


async def test_the_oldest_draft_gives_way() -> None:
    key_values = MemoryKeyValueStore()
    suite = Suite("sql", (SuiteQuestion("Why?"),), scope=HERE.scope)
    codes = [await save_draft(key_values, Draft(suite, "U1")) for _ in range(MAX_DRAFTS + 1)]
    said = IncomingMessage("", ANA, HERE, "k")

    with pytest.raises(SuiteError, match="does not wait"):
        await take_draft(key_values, codes[0], said)
    assert (await take_draft(key_values, codes[-1], said)).suite == suite
