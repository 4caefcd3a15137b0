"""Process: mentions, replies in threads, and direct messages."""

import pytest

from bot.commands.conversations import NEW_QUESTION, STARTED
from bot.commands.help import HELLO
from tests.bot.discord.story import StoryBot
from tests.wire.discord import Channel, Message

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def _followed(product: StoryBot, root: Message, times: int) -> Message:
    """Return the last of so many answers in a round's thread, once they are there."""
    return await product.answered(product.discord.thread_of(root), times)


def _context(product: StoryBot, channel: Channel | str) -> str:
    rows = product.served.home.sql(
        "SELECT context FROM round WHERE channel = ? ORDER BY asked_at DESC",
        product.discord.world.channel(channel).id,
    )
    return str(rows[0][0])


async def test_a_mention_is_a_question_without_the_bots_nickname(product: StoryBot) -> None:
    channel, home = product.channel(), product.discord.world.guild("G1")
    me = home.members[product.discord.bot.id]
    me.nick = "The Wise"
    try:
        product.discord.message("U1", channel, f"{product.discord.bot.mention} Which queue?")
        root = await product.answered(channel)
    finally:
        me.nick = None

    assert product.discord.said_by_bot(channel) == [root]
    assert "Which queue?" not in root.text  # it stands above, in its asker's words
    assert "Asked by" not in root.text
    await product.wait_for_thread(root)
    assert product.discord.thread_of(root).name.startswith("Which queue?")
    assert product.discord.pings() == []


async def test_a_message_without_a_mention_is_ignored(product: StoryBot) -> None:
    channel = product.channel()
    product.discord.message("U1", channel, "Which queue?")
    product.discord.message("UOTHERBOT", channel, f"{product.discord.bot.mention} Which queue?")

    product.discord.message("U1", channel, f"{product.discord.bot.mention} help")

    await product.discord.until(lambda: product.discord.said_by_bot(channel))
    assert HELLO in product.discord.said_by_bot(channel)[0].text
    assert not product.rounds(channel)


async def test_a_mention_in_the_councils_thread_follows_its_round(product: StoryBot) -> None:
    channel = product.channel()
    root = await product.ask(channel, "Which queue?")
    await product.wait_for_thread(root)
    thread = product.discord.thread_of(root)

    product.discord.message("U2", thread, f"{product.discord.bot.mention} And for one node?")

    answer = await _followed(product, root, 1)
    assert "And for one node?" not in answer.text  # it stands above
    assert "Which queue?" in _context(product, channel)
    assert product.answers(channel) == [root]

    product.discord.message("U2", thread, f"{product.discord.bot.mention} And for two?")
    await _followed(product, root, 2)
    assert "And for one node?" in _context(product, channel)


async def test_a_reply_to_the_answer_itself_follows_its_round(product: StoryBot) -> None:
    channel = product.channel()
    root = await product.ask(channel, "Which queue?")
    await product.wait_for_thread(root)

    product.discord.message("U2", channel, "And for one node?", reference=root)

    await product.answered(channel, 2)
    assert "Which queue?" in _context(product, channel)


async def test_direct_messages_need_no_thread(product: StoryBot) -> None:
    product.discord.direct_message("U2", "Which queue, between us?")
    own = product.discord.direct("U2")[0].channel

    root = await product.answered(own)
    after = [m.text for m in own.said if int(m.id) > int(root.id)]
    assert after == []
    assert " points" in root.text
    product.discord.message("U2", own, "And for one node?", reference=root)
    await product.answered(own, 2)
    assert "Which queue, between us?" in _context(product, own)


async def test_direct_messages_remember_until_a_new_question(product: StoryBot) -> None:
    product.discord.direct_message("UADMIN", "Which queue, between us?")
    await product.discord.until(lambda: product.discord.direct("UADMIN"))
    own = product.discord.direct("UADMIN")[0].channel
    root = await product.answered(own)

    product.discord.direct_message("UADMIN", "And at night?")
    await product.answered(own, 2)
    assert "Which queue, between us?" in _context(product, own)

    assert STARTED in await product.press("UADMIN", root, NEW_QUESTION)
    product.discord.direct_message("UADMIN", "Which log?")
    await product.answered(own, 3)
    assert _context(product, own) == ""
