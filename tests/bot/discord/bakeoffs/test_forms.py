"""Forms of suites and schedules in Discord: real fields, rights, and what is gone meanwhile."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from bot.bakeoffs.commands.forms import NEEDS_QUESTIONS, NO_SUITES, ONE_OF_BOTH
from bot.bakeoffs.parts import bakeoff_stores
from tests.bot.bakeoffs.fakes import a_suite
from tests.bot.discord.in_process import InProcessBot
from tests.bot.discord.story import custom_id_of
from tests.builders import ASKED_AT
from tests.wire.discord import Member, Upload
from tests.wire.discord.checks.components import CHANNEL_SELECT, FILE_UPLOAD, STRING_SELECT
from tests.wire.discord.state import Modal

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def suite(bot: InProcessBot) -> AsyncIterator[str]:
    """Store a suite in the server, for one test."""
    made = a_suite(2)
    await bakeoff_stores(bot.app).suites.save(made, "U1", ASKED_AT)
    yield made.name
    await _remove_suites(bot)


async def _remove_suites(bot: InProcessBot) -> None:
    suites = bakeoff_stores(bot.app).suites
    for one in await suites.list_summaries(f"discord/{bot.discord.world.guild('G1').id}"):
        await suites.remove(one.scope, one.name)


async def _opened(bot: InProcessBot, command: str) -> Modal:
    result = await bot.run_as_admin(command)
    assert result.modal
    return result.modal


def _kinds(modal: Modal) -> dict[str, int]:
    parts: list[Any] = [one["component"] for one in modal.data["components"]]
    return {part["custom_id"]: part["type"] for part in parts}


async def _says(bot: InProcessBot, said: str) -> None:
    await bot.discord.until(lambda: said in bot.private_texts())


async def test_a_suite_is_made_from_pasted_questions_and_confirmed(bot: InProcessBot) -> None:
    modal = await _opened(bot, "suite add")
    assert _kinds(modal)["file"] == FILE_UPLOAD

    filled = {"Name": "Pasted", "Questions": "Why WAL?\nWhy MVCC?"}
    await bot.discord.submit(modal, filled, bot.person)

    await _says(bot, "Save suite pasted?")
    shown = bot.discord.ephemerals(bot.person)
    (preview,) = [message for message in shown if custom_id_of(message, "keep_suite")]
    await bot.press(preview, "keep_suite", "Suite pasted is saved: 2 questions")


async def test_a_suite_is_made_from_a_file(bot: InProcessBot) -> None:
    modal = await _opened(bot, "suite add")
    csv = Upload("sql.csv", b"question,answer\nWhat is 6 x 7?,42\n")

    await bot.discord.submit(modal, {"name": "sent", "file": csv}, bot.person)

    await _says(bot, "Save suite sent?")
    assert "1 question, 1 with a reference answer." in bot.private_texts()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"name": "two words", "questions": "Why?"}, "A suite can't be called"),
        ({"name": "none"}, NEEDS_QUESTIONS),
        ({"name": "both", "questions": "Why?", "file": Upload("a.txt", b"Why?")}, ONE_OF_BOTH),
        ({"name": "odd", "file": Upload("a.exe", b"MZ")}, "this type of file is not supported"),
    ],
)
async def test_a_suite_that_cannot_be_made_says_why(
    bot: InProcessBot, values: dict[str, object], said: str
) -> None:
    modal = await _opened(bot, "suite add")

    await bot.discord.submit(modal, values, bot.person)

    await _says(bot, said)
    assert "Save suite" not in bot.private_texts()


async def test_a_schedule_is_made_by_a_form_with_real_fields(bot: InProcessBot, suite: str) -> None:
    there = bot.for_test().place
    name = f"weekly-{there.id}"
    modal = await _opened(bot, "schedule add")
    kinds = _kinds(modal)
    assert (kinds["suite"], kinds["panel"]) == (STRING_SELECT, STRING_SELECT)
    assert kinds["channel"] == CHANNEL_SELECT

    filled = {"name": name, "suite": suite, "when": "every Monday at 9:00", "channel": there}
    await bot.discord.submit(modal, filled, bot.person)

    await _says(bot, f"Schedule {name}")
    (made,) = [
        one for one in await bakeoff_stores(bot.app).schedules.list_all() if one.name == name
    ]
    assert (made.cron, made.suite, made.place.channel) == ("0 9 * * 1", suite, there.id)


@pytest.mark.parametrize(
    ("name", "when", "said"),
    [
        ("two words", "every day 09:00", "Name the schedule in one word"),
        ("nightly", "now and then", "I don't understand"),
    ],
)
async def test_a_schedule_that_cannot_be_made_says_why(
    bot: InProcessBot, suite: str, name: str, when: str, said: str
) -> None:
    modal = await _opened(bot, "schedule add")

    filled = {"name": name, "suite": suite, "when": when}
    await bot.discord.submit(modal, filled, bot.person)

    await _says(bot, said)


async def test_a_suite_that_is_gone_when_the_form_is_sent_is_named(
    bot: InProcessBot, suite: str
) -> None:
    modal = await _opened(bot, "schedule add")
    await _remove_suites(bot)

    filled = {"name": "late", "suite": suite, "when": "every day 09:00"}
    await bot.discord.submit(modal, filled, bot.person)

    await _says(bot, suite)
    names = [one.name for one in await bakeoff_stores(bot.app).schedules.list_all()]
    assert "late" not in names


async def test_without_a_suite_no_schedule_is_filled_in(bot: InProcessBot) -> None:
    await _remove_suites(bot)

    result = await bot.run_as_admin("schedule add")

    assert result.modal is None
    await _says(bot, NO_SUITES.partition(" `")[0])


@pytest.mark.parametrize("what", ["suite", "schedule"])
async def test_lists_have_a_button_for_those_who_may_add(bot: InProcessBot, what: str) -> None:
    await bot.run(f"{what} list")
    await bot.discord.until(lambda: bot.discord.ephemerals(bot.person))
    assert not custom_id_of(bot.discord.ephemerals(bot.person)[-1], f"new_{what}")
    bot.make_admin()

    await bot.run(f"{what} list")

    await bot.discord.until(
        lambda: custom_id_of(bot.discord.ephemerals(bot.person)[-1], f"new_{what}")
    )


async def test_a_plain_member_is_refused_before_the_form_and_after_it(bot: InProcessBot) -> None:
    bot.make_admin()
    await bot.run("suite list")
    await bot.discord.until(
        lambda: custom_id_of(bot.discord.ephemerals(bot.person)[-1], "new_suite")
    )
    shown = bot.discord.ephemerals(bot.person)[-1]
    modal = await _opened(bot, "suite add")
    bot.discord.world.guild("G1").members[bot.person.id] = Member(bot.person)

    pressed = await bot.discord.click(shown, custom_id_of(shown, "new_suite"), bot.person)
    filled = {"name": "mine", "questions": "Why?"}
    await bot.discord.submit(modal, filled, bot.person)

    assert pressed.modal is None
    await bot.discord.until(lambda: bot.private_texts().count("Only admins can make suites") == 2)


async def test_the_form_of_release_0_2_still_adds_to_a_suite(bot: InProcessBot) -> None:
    bot.make_admin()
    root = await bot.answered("Which queue, for the old form?")
    menu = await bot.menu(root)
    modal = (await bot.discord.click(menu, custom_id_of(menu, "suite"), bot.person)).modal
    assert modal
    # It had one text for an existing suite and for a new one.
    text = {"type": 4, "style": 1, "custom_id": "name", "required": False, "max_length": 40}
    modal.data["components"] = [{"type": 18, "label": "Suite", "component": text}]

    await bot.discord.submit(modal, {"Suite": "older"}, bot.person)

    await _says(bot, "The question is now in suite older")
