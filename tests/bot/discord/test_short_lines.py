"""One- and two-word lines in Discord, by every way to write to the bot: none asks a model."""

from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from bot.commands.help import ASK_FORM, EXAMPLES
from tests.bot.discord.in_process import InProcessBot
from tests.bot.discord.story import custom_id_of
from tests.bot.short_lines import SHORT_LINES
from tests.wire.discord import Permission

pytestmark = pytest.mark.asyncio(loop_scope="module")

Write = Callable[[InProcessBot, str], Awaitable[object]]


async def _command(bot: InProcessBot, line: str) -> None:
    await bot.run("ask", question=line)


async def _mention(bot: InProcessBot, line: str) -> None:
    bot.discord.message(bot.person, bot.place, f"{bot.discord.bot.mention} {line}")


async def _direct_message(bot: InProcessBot, line: str) -> None:
    bot.discord.direct_message(bot.person, line)


@pytest.mark.parametrize("write", [_command, _mention, _direct_message])
async def test_no_short_line_asks_a_model_and_every_one_is_answered(
    bot: InProcessBot, write: Write
) -> None:
    def replies() -> int:
        own = [one for one in bot.discord.direct(bot.person) if one.author is bot.discord.bot]
        return len(bot.discord.ephemerals(bot.person)) + len(bot.bot_messages()) + len(own)

    def has_more_than(before: int) -> bool:
        return replies() > before

    for line in SHORT_LINES:
        before = replies()
        await write(bot, line)
        await bot.discord.until(partial(has_more_than, before))

    assert bot.gateway.asked == []
    assert await bot.app.store.ids() == ()


async def test_ask_alone_opens_an_empty_form_and_an_example_fills_it(bot: InProcessBot) -> None:
    empty = await bot.discord.slash(bot.person, bot.place, "council ask")
    assert empty.modal

    await bot.run("help")
    (welcome,) = bot.discord.ephemerals(bot.person)
    await bot.discord.until(lambda: custom_id_of(welcome, ASK_FORM))
    filled = await bot.discord.click(welcome, custom_id_of(welcome, ASK_FORM), bot.person)

    assert filled.modal
    assert EXAMPLES[0] in str(filled.modal)
    assert bot.gateway.asked == []
    await bot.discord.submit(empty.modal, {"question": "Which queue?", "context": ""}, bot.person)
    bot.release_models()
    await bot.discord.until(lambda: bot.bot_messages())


async def test_a_form_is_refused_before_it_is_filled_in(bot: InProcessBot) -> None:
    bot.permit(deny=Permission.SEND_MESSAGES)
    result = await bot.discord.slash(bot.person, bot.place, "council ask")

    assert not result.modal
    await bot.discord.until(lambda: "I need Send Messages" in bot.private_texts())
