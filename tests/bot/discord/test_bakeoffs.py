"""A bake-off in a channel of Discord: proposed to one, shown to all, told once."""

import asyncio

import pytest

from tests.bot.bakeoffs.kitchen import a_suite
from tests.bot.discord.in_process import Inside
from tests.bot.discord.story import part
from tests.builders import ASKED_AT
from tests.wire.discord import Message, Permission

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def proposed(bot: Inside, words: str = "sql cap:$1") -> Message:
    """Have the person say that, and give what they alone are shown."""
    await bot.app.bakeoff_stores.suites.keep(a_suite(2), "U1", ASKED_AT)
    deed = await bot.discord.slash(bot.person, bot.place, "council bakeoff", words=words)
    assert deed.accepted

    def shown() -> list[Message]:
        return [m for m in deed.interaction.sent if "Bake-off of sql" in m.text]

    await bot.discord.until(shown, 20)
    return shown()[0]


async def begun(bot: Inside) -> Message:
    """Begin one with a press, and give the message that shows it."""
    proposal = await proposed(bot)
    await bot.discord.click(proposal, part(proposal, "bakeoff_start"), bot.person)
    await bot.discord.until(lambda: bot.ours(), 20)
    return bot.ours()[0]


async def ended(bot: Inside, root: Message) -> None:
    await bot.discord.until(lambda: "2 of 2 questions" in root.text, 20)
    async with asyncio.timeout(10):
        while not (await bot.app.bakeoff_stores.bakeoffs.recent())[0].ending:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_it_is_proposed_begun_with_a_press_and_its_result_replaces_its_progress(
    bot: Inside,
) -> None:
    root = await begun(bot)
    assert "0 of 2 questions" in root.text
    assert part(root, "bakeoff_cancel")
    assert "is begun" in bot.whispers()
    assert "bakeoff_start" not in str(bot.discord.ephemerals(bot.person))

    bot.go_on()
    await ended(bot, root)

    assert bot.ours() == [root]
    assert not part(root, "bakeoff_cancel")
    assert bot.discord.faults == []


async def test_left_it_costs_nothing(bot: Inside) -> None:
    before = len(await bot.app.bakeoff_stores.bakeoffs.recent())
    proposal = await proposed(bot)

    await bot.discord.click(proposal, part(proposal, "bakeoff_leave"), bot.person)
    await bot.discord.until(lambda: "Nothing was begun" in bot.whispers())

    assert len(await bot.app.bakeoff_stores.bakeoffs.recent()) == before


async def test_it_is_cancelled_and_gone_on_with_by_buttons(bot: Inside) -> None:
    root = await begun(bot)

    deed = await bot.discord.click(root, part(root, "bakeoff_cancel"), bot.person)
    await bot.discord.until(lambda: [m for m in deed.interaction.sent if not m.is_loading], 20)
    question = deed.interaction.sent[-1]
    assert "0 of 2 questions are over and kept" in question.text
    await bot.discord.click(question, part(question, "yes_bakeoff_cancel"), bot.person)
    await bot.discord.until(lambda: "It was cancelled." in root.text, 20)
    assert "is cancelled: 0 of 2 questions are kept" in bot.whispers()
    bot.go_on()
    await bot.discord.click(root, part(root, "bakeoff_resume"), bot.person)

    await ended(bot, root)
    assert bot.ours() == [root]


async def test_where_it_may_not_post_nothing_is_asked(bot: Inside) -> None:
    proposal = await proposed(bot)
    bot.permit(deny=Permission.SEND_MESSAGES)

    await bot.discord.click(proposal, part(proposal, "bakeoff_start"), bot.person)
    await bot.discord.until(lambda: "I need" in bot.whispers(), 20)

    assert not bot.gateway.asked
    assert bot.ours() == []


async def test_words_of_the_command_are_read_as_they_are_typed(bot: Inside) -> None:
    async def says(words: str, told: str) -> None:
        await bot.discord.slash(bot.person, bot.place, "council bakeoff", words=words)
        await bot.discord.until(lambda: told in bot.whispers(), 20)

    await bot.app.bakeoff_stores.suites.keep(a_suite(2), "U1", ASKED_AT)
    await says("nope", "There is no suite 'nope'; those there are: sql.")
    await says("sql and law", "That names 3 suites where one is wanted.")
    await says("sql panel:nope", "There is no panel 'nope'")
    await says("sql cap:free", "'free' is no cap")


async def test_a_channel_deleted_meanwhile_has_the_result_told_to_who_began_it_alone(
    bot: Inside,
) -> None:
    await begun(bot)

    bot.discord.delete_channel(bot.place)
    bot.go_on()

    await bot.discord.until(lambda: "only you see it" in bot.whispers(), 30)
    assert "2 of 2 questions" in bot.whispers()


async def test_a_deleted_message_is_posted_anew_with_the_result(bot: Inside) -> None:
    root = await begun(bot)

    bot.discord.delete_message(root)
    bot.go_on()

    await bot.discord.until(lambda: bot.ours() and "2 of 2 questions" in bot.ours()[-1].text, 30)
    assert len(bot.ours()) == 1
