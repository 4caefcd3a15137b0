"""A bake-off in a Discord channel: proposed to one, shown to all, delivered once."""

import asyncio

import pytest

from bot.bakeoffs.parts import bakeoff_stores
from tests.bot.bakeoffs.fakes import a_suite
from tests.bot.discord.in_process import InProcessBot
from tests.bot.discord.story import custom_id_of
from tests.builders import ASKED_AT
from tests.wire.discord import Message, Permission

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOUR_SECONDS = 3600


async def proposed(bot: InProcessBot) -> Message:
    """Run `/council-admin bakeoff run`; return the ephemeral proposal."""
    await bakeoff_stores(bot.app).suites.save(a_suite(2), "U1", ASKED_AT)
    result = await bot.run_as_admin("bakeoff run", suite="sql", cap="$1")

    def shown() -> list[Message]:
        return [m for m in result.sent if "Bake-off of sql" in m.text]

    await bot.discord.until(shown, 60)
    return shown()[0]


async def begun(bot: InProcessBot) -> Message:
    """Start a bake-off with its button; return the progress message."""
    proposal = await proposed(bot)
    await bot.discord.click(proposal, custom_id_of(proposal, "bakeoff_start"), bot.person)
    await bot.discord.until(lambda: bot.bot_messages(), 60)
    return bot.bot_messages()[0]


async def ended(bot: InProcessBot, root: Message) -> None:
    await bot.discord.until(lambda: "2 of 2 questions" in root.text, 60)
    async with asyncio.timeout(10):
        while not (await bakeoff_stores(bot.app).bakeoffs.list_recent())[0].ending:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_bakeoff_is_proposed_started_and_shows_its_result(
    bot: InProcessBot,
) -> None:
    root = await begun(bot)
    assert "0 of 2 questions" in root.text
    assert custom_id_of(root, "bakeoff_cancel")
    assert "has started" in bot.private_texts()
    assert "bakeoff_start" not in str(bot.discord.ephemerals(bot.person))

    bot.release_models()
    await ended(bot, root)

    assert bot.bot_messages() == [root]
    assert not custom_id_of(root, "bakeoff_cancel")
    assert bot.discord.faults == []


async def test_a_bakeoff_is_cancelled_and_resumed_by_buttons(bot: InProcessBot) -> None:
    root = await begun(bot)

    result = await bot.discord.click(root, custom_id_of(root, "bakeoff_cancel"), bot.person)
    await bot.discord.until(lambda: [m for m in result.sent if not m.is_loading], 60)
    question = result.sent[-1]
    assert "0 of 2 questions are finished and" in question.text
    await bot.discord.click(question, custom_id_of(question, "yes_bakeoff_cancel"), bot.person)
    await bot.discord.until(lambda: "It was cancelled." in root.text, 60)
    assert "is cancelled. 0 of 2 questions are saved" in bot.private_texts()
    bot.release_models()
    await bot.discord.click(root, custom_id_of(root, "bakeoff_resume"), bot.person)

    await ended(bot, root)
    assert bot.bot_messages() == [root]


async def test_a_plain_member_starts_cancels_and_resumes_no_bakeoff(bot: InProcessBot) -> None:
    proposal = await proposed(bot)
    bot.discord.world.guild("G1").members[bot.person.id].roles.clear()

    async def refused(message: Message, action: str) -> bool:
        result = await bot.discord.click(message, custom_id_of(message, action), bot.person)
        await bot.discord.until(lambda: "Only admins can " in bot.private_texts(), 60)
        return result.accepted

    assert await refused(proposal, "bakeoff_start")
    assert bot.bot_messages() == []


async def test_without_send_permission_nothing_is_asked(bot: InProcessBot) -> None:
    proposal = await proposed(bot)
    bot.permit(deny=Permission.SEND_MESSAGES)

    await bot.discord.click(proposal, custom_id_of(proposal, "bakeoff_start"), bot.person)
    await bot.discord.until(lambda: "I need" in bot.private_texts(), 60)

    assert not bot.gateway.asked
    assert bot.bot_messages() == []


async def test_an_old_message_without_edits_left_is_followed_by_the_result(
    bot: InProcessBot,
) -> None:
    root = await begun(bot)

    root.at -= 2 * HOUR_SECONDS
    root.old_edits = bot.discord.state.rules.old_edits
    bot.release_models()

    await bot.discord.until(lambda: "2 of 2 questions" in bot.bot_messages()[-1].text, 30)
    assert len(bot.bot_messages()) == 2


async def test_the_buttons_of_a_schedules_post_work_from_its_message(bot: InProcessBot) -> None:
    await bakeoff_stores(bot.app).suites.save(a_suite(2), "U1", ASKED_AT)
    bot.release_models()
    await bot.run_as_admin("schedule add", name="nightly", suite="sql", when="every hour")
    await bot.discord.until(lambda: "Schedule nightly" in bot.private_texts(), 60)
    await bot.run_as_admin("schedule run", name="nightly")
    await bot.discord.until(lambda: bot.bot_messages(), 60)
    (root,) = bot.bot_messages()
    await ended(bot, root)
    await bot.discord.until(lambda: "nightly: results" in root.text, 60)
    assert "Next run: " in root.text
    assert "sched:" not in root.text

    async def pressed(action: str, said: str) -> Message:
        result = await bot.discord.click(root, custom_id_of(root, action), bot.person)
        await bot.discord.until(lambda: [m for m in result.sent if said in m.text], 60)
        return next(m for m in result.sent if said in m.text)

    await pressed("bakeoff_results", "Claude Sonnet 4.6")
    questions = await pressed("bakeoff_questions", "Question 2?")
    opened = await bot.discord.click(questions, custom_id_of(questions, "round"), bot.person)
    await bot.discord.until(
        lambda: [m for m in opened.sent if "The council says yes." in m.text], 60
    )
    subscribed = await pressed("schedule_subscribe", "You are mentioned when")
    assert custom_id_of(subscribed, "schedule_unsubscribe")
    proposal = await pressed("schedule_run", "Run nightly now?")
    await pressed("schedule_pause", "Schedule nightly is paused.")
    bot.discord.world.guild("G1").members[bot.person.id].roles.clear()
    for message, action in ((root, "schedule_pause"), (proposal, "schedule_run_now")):
        result = await bot.discord.click(message, custom_id_of(message, action), bot.person)
        assert result.accepted
    await bot.discord.until(lambda: bot.private_texts().count("Only admins can") == 2, 60)
    assert bot.bot_messages() == [root]
    assert bot.discord.faults == []
