"""Suites and schedules from Discord: forms, permissions and channels."""

import pytest

from bot.bakeoffs.parts import bakeoff_stores
from tests.bot.bakeoffs.fakes import a_suite
from tests.bot.discord.in_process import InProcessBot
from tests.bot.discord.story import custom_id_of
from tests.builders import ASKED_AT
from tests.wire.discord import Permission, Upload
from tests.wire.discord.permissions import NOTHING

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("help", {"command": "schedule add"}, "</council-admin schedule add:"),
        ("bakeoff show", {"bakeoff": "is that"}, "“is that” does not fit bakeoff"),
        ("leaderboard", {"suite": "sql", "as": "judge"}, "No rounds yet for suite"),
        ("schedule list", {}, "No schedules yet"),
    ],
)
async def test_every_command_reply_is_ephemeral(
    bot: InProcessBot, command: str, options: dict[str, object], said: str
) -> None:
    await bot.run(command, **options)

    await bot.discord.until(lambda: said in bot.private_texts())
    assert bot.bot_messages() == []


async def test_a_suite_is_previewed_stored_and_extended_by_a_rounds_question(
    bot: InProcessBot,
) -> None:
    csv = Upload("sql.csv", b"question,category,answer\nWhat is 6 x 7?,maths,42\nWhy?,,\n")
    await bot.run_as_admin("suite add", name="filed", file=csv)
    await bot.discord.until(lambda: "Save suite filed?" in bot.private_texts())
    shown = bot.discord.ephemerals(bot.person)
    (preview,) = [message for message in shown if custom_id_of(message, "keep_suite")]
    assert "2 questions, 1 with a reference answer." in preview.text
    await bot.press(preview, "keep_suite", "Suite filed is saved")

    root = await bot.answered("Which queue, for the suite?")
    menu = await bot.menu(root)
    result = await bot.discord.click(menu, custom_id_of(menu, "suite"), bot.person)
    assert result.modal
    filled = {"Suite": "filed", "The right answer": "42"}
    await bot.discord.submit(result.modal, filled, bot.person)

    await bot.discord.until(lambda: "The question is now in suite" in bot.private_texts())


@pytest.mark.parametrize(
    ("deny", "said"),
    [
        (NOTHING, "posted in another channel of Discord"),
        (Permission.SEND_MESSAGES, "I need Send Messages there"),
        (Permission.VIEW_CHANNEL, "I need View Channel"),
    ],
)
async def test_a_schedule_is_posted_in_a_channel_that_is_open_to_both(
    bot: InProcessBot, deny: Permission, said: str
) -> None:
    await bakeoff_stores(bot.app).suites.save(a_suite(2), "U1", ASKED_AT)
    there = bot.for_test().place
    bot.discord.permit(there, deny=deny)

    await bot.run_as_admin(
        "schedule add",
        name=f"daily-{there.id}",
        suite="sql",
        panel="house",
        when="every day 09:00",
        zone="Europe/Budapest",
        channel=there,
    )

    await bot.discord.until(lambda: said in bot.private_texts())


async def test_only_who_manages_the_server_changes_suites_and_schedules(bot: InProcessBot) -> None:
    name = f"mine-{bot.person.id}"
    mention = f"{bot.discord.bot.mention} suite add {name} Why WAL?"

    def said() -> str:
        return "\n".join(one.text for one in bot.bot_messages())

    bot.discord.message(bot.person, bot.place, mention)
    await bot.discord.until(lambda: "Only admins can use" in said())
    pause = f"{bot.discord.bot.mention} schedule pause {name}"
    bot.discord.message(bot.person, bot.place, pause)
    await bot.discord.until(lambda: said().count("Only admins can use") == 2)
    bot.make_admin()
    bot.discord.message(bot.person, bot.place, mention)

    await bot.discord.until(lambda: f"Save suite {name}?" in said())


async def test_a_typed_name_of_a_form_gets_its_button(bot: InProcessBot) -> None:
    bot.make_admin()

    bot.discord.message(bot.person, bot.place, f"{bot.discord.bot.mention} suite add")

    await bot.discord.until(lambda: bot.bot_messages())
    (reply,) = bot.bot_messages()
    result = await bot.discord.click(reply, custom_id_of(reply, "new_suite"), bot.person)
    assert result.modal
