"""Modals: the form to ask in, its fields, and what is submitted after things have changed."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bot.access import Access
from bot.chat import Button, Buttons, Heading, Post, Prose
from bot.commands.ask_form import ONLY_ME, VOTE_FIRST
from bot.commands.forms import Form, SelectField, named_options
from bot.discord.actions import page_post
from bot.discord.components import ButtonMenu, fits_discord
from bot.discord.listeners import ASKED_PRIVATELY
from bot.discord.modals import form_modal
from council.files import MAX_TOTAL_BYTES
from council.people import Person
from tests.bot.discord.in_process import InProcessBot
from tests.bot.discord.story import custom_id_of, with_older_button
from tests.wire.discord import Member, Message, Upload, faults_of_modal
from tests.wire.discord.checks.components import (
    FILE_UPLOAD,
    RADIO_GROUP,
    STRING_SELECT,
    TEXT_INPUT,
)
from tests.wire.discord.sample_world import add_user
from tests.wire.discord.state import Modal

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOSTILE = "**@everyone** [x](http://x.test) <@1>\n`a`"


@pytest.fixture(autouse=True)
def _as_before(bot: InProcessBot) -> Iterator[None]:
    panels = bot.app.panels
    yield
    bot.app.panels, bot.app.access = panels, Access()


def _add_panels(bot: InProcessBot, *names: str) -> None:
    own = next(iter(bot.app.panels.values()))
    bot.app.panels = {**bot.app.panels, **{name: replace(own, name=name) for name in names}}


async def _opened(bot: InProcessBot, **options: object) -> Modal:
    result = await bot.discord.slash(bot.person, bot.place, "council ask", **options)
    assert result.modal
    return result.modal


def _fields(modal: Modal) -> dict[str, dict[str, Any]]:
    return {one["component"]["custom_id"]: one for one in modal.data["components"]}


async def _asked(bot: InProcessBot) -> str:
    bot.release_models()
    await bot.discord.until(lambda: bot.bot_messages())
    await bot.wait_until_delivered()
    return (await bot.load_line()).id


async def test_the_form_to_ask_in_has_real_fields(bot: InProcessBot) -> None:
    fields = _fields(await _opened(bot))

    kinds = {name: one["component"]["type"] for name, one in fields.items()}
    assert kinds == {
        "question": TEXT_INPUT,
        "context": TEXT_INPUT,
        "panel": STRING_SELECT,
        "audience": RADIO_GROUP,
        "files": FILE_UPLOAD,
    }
    (panel,) = fields["panel"]["component"]["options"]
    assert panel["default"]
    assert panel["label"].startswith("house: goes to ")
    assert fields["files"]["component"]["max_values"] == 10


async def test_a_question_is_asked_with_its_panel_and_files(bot: InProcessBot) -> None:
    _add_panels(bot, "second")
    modal = await _opened(bot, panel="second")
    files = [Upload("a.txt", b"Alpha"), Upload("b.md", b"Beta")]

    await bot.discord.submit(modal, {"Question": "Which queue?", "Files": files}, bot.person)

    round_ = await bot.app.store.load(await _asked(bot))
    assert round_.panel.name == "second"
    assert [(one.name, one.text) for one in round_.question.files] == [
        ("a.txt", "Alpha"),
        ("b.md", "Beta"),
    ]


async def test_mentions_in_the_form_have_no_names(bot: InProcessBot) -> None:
    ben = add_user(bot.discord.world, "UFORM", "ben")
    bot.discord.world.guild("G1").members[ben.id] = Member(ben)
    modal = await _opened(bot)
    typed = {"question": f"is {ben.mention} right?", "context": f"{ben.mention}: yes, says ben"}

    await bot.discord.submit(modal, typed, bot.person)

    question = (await bot.app.store.load(await _asked(bot))).question
    assert question.text == "is @Person 1 right?"
    assert question.context == "@Person 1: yes, says Person 1"
    assert question.reading
    assert question.reading.people[0] == Person(1, ben.id, "Ben")


async def test_only_me_sends_the_answer_as_a_direct_message(bot: InProcessBot) -> None:
    modal = await _opened(bot, private=True)
    options = _fields(modal)["audience"]["component"]["options"]
    assert [one["value"] for one in options if one.get("default")] == [ONLY_ME]

    await bot.discord.submit(modal, {"question": "Which queue?"}, bot.person)

    bot.release_models()
    await bot.discord.until(
        lambda: any(custom_id_of(one, "answers") for one in bot.discord.direct(bot.person))
    )
    assert ASKED_PRIVATELY in bot.private_texts()
    assert bot.bot_messages() == []


async def test_a_held_reveal_shows_the_answer_takes_votes_and_then_names(bot: InProcessBot) -> None:
    modal = await _opened(bot)
    await bot.discord.submit(
        modal, {"question": "Which queue?", "audience": VOTE_FIRST}, bot.person
    )
    bot.release_models()

    def held() -> list[Message]:
        return [one for one in bot.bot_messages() if custom_id_of(one, "reveal")]

    await bot.discord.until(held)
    (root,) = held()
    assert "Gemini 3 Pro" not in root.text
    shown = await bot.discord.click(root, custom_id_of(root, "vote"), "U2")
    await bot.discord.until(lambda: "is the best" in "".join(one.text for one in shown.sent))
    best = custom_id_of(shown.sent[-1], "best")
    await bot.discord.click(shown.sent[-1], best, "U2")
    await bot.discord.until(lambda: "your blind vote" in shown.sent[-1].text)
    await bot.discord.click(root, custom_id_of(root, "reveal"), bot.person)
    await bot.wait_until_delivered()

    assert custom_id_of(root, "answers")
    assert "Gemini 3 Pro" in bot.discord.thread_of(root).said[0].text
    (vote,) = await bot.app.store.votes((await bot.load_line()).id)
    assert vote.blind


async def test_where_all_answers_are_private_nobody_is_asked_who_may_read(
    bot: InProcessBot,
) -> None:
    bot.discord.direct_message(bot.person, "help")
    await bot.discord.until(lambda: bot.discord.direct(bot.person)[1:])
    place = bot.discord.world.direct(bot.person)
    assert place

    result = await bot.discord.slash(bot.person, place, "council ask")

    assert result.modal
    assert "audience" not in _fields(result.modal)


async def test_ten_files_come_with_one_command(bot: InProcessBot) -> None:
    names = ["attachment", *(f"attachment{number}" for number in range(2, 11))]
    files = {name: Upload(f"{name}.txt", name.encode()) for name in names}

    await bot.run("ask", question="What do these say?", **files)

    round_ = await bot.app.store.load(await _asked(bot))
    assert [one.text for one in round_.question.files] == names


async def test_files_that_are_too_large_together_are_not_downloaded(bot: InProcessBot) -> None:
    half = Upload("half.txt", b"x" * (MAX_TOTAL_BYTES // 2 + 1))
    before = len(bot.discord.calls)

    modal = await _opened(bot)
    filled = {"question": "Which queue?", "files": [half, half]}
    await bot.discord.submit(modal, filled, bot.person)

    await bot.discord.until(lambda: "together they can have" in bot.private_texts())
    assert not [call for call in bot.discord.calls[before:] if call.method == "GET"]
    assert bot.gateway.asked == []


async def test_of_26_panels_25_are_listed_and_the_form_says_so(bot: InProcessBot) -> None:
    _add_panels(bot, *(f"p{number}" for number in range(25)))

    field = _fields(await _opened(bot, panel="p24"))["panel"]

    options = field["component"]["options"]
    assert len(options) == 25
    assert [one["value"] for one in options if one.get("default")] == ["p24"]
    assert "25 of 26 are listed" in field["description"]


async def test_a_panel_that_is_gone_when_the_form_is_sent_is_named(bot: InProcessBot) -> None:
    panels = bot.app.panels
    _add_panels(bot, "gone")
    modal = await _opened(bot, panel="gone")
    bot.app.panels = panels

    await bot.discord.submit(modal, {"question": "Which queue?"}, bot.person)

    await bot.discord.until(lambda: "gone" in bot.private_texts())
    assert bot.gateway.asked == []
    assert bot.bot_messages() == []


async def test_a_form_of_release_0_2_is_still_asked(bot: InProcessBot) -> None:
    modal = await _opened(bot)
    old = ("question", "context")
    parts = modal.data["components"]
    modal.data["components"] = [one for one in parts if one["component"]["custom_id"] in old]

    await bot.discord.submit(modal, {"question": "Which queue?"}, bot.person)

    round_ = await bot.app.store.load(await _asked(bot))
    assert round_.question.text == "Which queue?"


async def test_who_may_not_ask_is_refused_before_any_form_opens(bot: InProcessBot) -> None:
    said = bot.discord.message(bot.person, bot.place, "We could use Kafka for it.")
    bot.app.access = Access(channels=("C-ELSEWHERE",))

    asked = await bot.discord.slash(bot.person, bot.place, "council ask")
    about = await bot.discord.context_menu(bot.person, said, "Ask the council")

    assert (asked.modal, about.modal) == (None, None)
    await bot.discord.until(lambda: bot.private_texts().count("The council is off") == 2)


async def test_nobody_explains_why_a_round_that_is_gone_did_not_help(bot: InProcessBot) -> None:
    root = with_older_button(await bot.answered(), "unhelpful")
    text = json.dumps(root.components).replace((await bot.load_line()).id, "ffff")
    root.components = json.loads(text)

    result = await bot.discord.click(root, custom_id_of(root, "unhelpful"), bot.person)

    assert result.modal is None
    await bot.discord.until(lambda: "There is no round" in bot.private_texts())


async def test_hostile_names_are_plain_options() -> None:
    names = [HOSTILE, f"{HOSTILE}2", "x" * 150]
    field = SelectField("panel", "Panel", named_options(names))

    modal = form_modal(Form("Title", "Send", (field,)), "ask", "0").to_dict()

    assert faults_of_modal(modal) == []
    options = modal["components"][0]["component"]["options"]
    assert [one["value"] for one in options] == names[:2]
    for one in options:
        assert "\n" not in one["label"]
        assert "@everyone" not in one["label"]


async def test_a_menu_of_models_jumps_to_the_first_page_of_an_answer(bot: InProcessBot) -> None:
    bot.gateway.goes_on.set()
    root = await bot.answered()
    result = await bot.discord.click(root, custom_id_of(root, "answers"), bot.person)
    await bot.discord.until(lambda: "council-menu:" in str(result.sent[-1].components))
    shown = result.sent[-1]
    options = [
        one["label"]
        for row in shown.components
        for part in row.get("components", ())
        for one in part.get("options", ())
    ]
    assert len(options) == 3

    await bot.discord.choose(shown, "council-menu:answers_page", options[2], bot.person)

    await bot.discord.until(lambda: shown.text.startswith(f"## {options[2]}"))


async def test_models_beyond_the_menu_are_reached_page_by_page() -> None:
    posts = [Post((Heading(f"Model {n}"), Prose("Yes.")), "") for n in range(1, 28)]

    page = page_post(posts, "answers", "r1", 26)

    *_, turns, menu = page.parts
    assert isinstance(turns, Buttons)
    assert isinstance(menu, ButtonMenu)
    assert [one.label for one in menu.buttons] == [f"Model {n}" for n in range(1, 26)]
    assert Button("answers_page", "▶", "r1:27") in turns.buttons
    assert fits_discord(page)
