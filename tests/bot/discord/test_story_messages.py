"""Speaking to the council: mentions, replies in its threads, direct messages, the menu."""

import pytest

from tests.bot.discord.story import Stage, part
from tests.wire.discord import Channel, Message

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _followed(stage: Stage, root: Message, times: int) -> Message:
    """Wait for so many answers in a round's thread, and give the last."""
    return await stage.answered(stage.discord.thread_of(root), times)


def _context(stage: Stage, channel: Channel | str) -> str:
    rows = stage.served.home.sql(
        "SELECT context FROM round WHERE channel = ? ORDER BY asked_at DESC",
        stage.discord.world.channel(channel).id,
    )
    return str(rows[0][0])


async def test_a_mention_in_a_channel_is_a_question(stage: Stage) -> None:
    channel = stage.channel()

    said = stage.discord.message("U1", channel, f"{stage.discord.bot.mention} Which queue?")

    root = await stage.answered(channel)
    assert root.text.startswith("## Which queue?")
    replies = [m for m in stage.discord.said_by_bot(channel) if m.reference is said]
    assert "Asking North, South and East" in replies[0].text
    assert stage.discord.pings() == []


async def test_a_bot_with_a_nickname_is_asked_without_it(stage: Stage) -> None:
    channel, home = stage.channel(), stage.discord.world.guild("G1")
    me = home.members[stage.discord.bot.id]
    me.nick = "The Wise"
    try:
        stage.discord.message("U1", channel, f"{stage.discord.bot.mention} Which queue?")
        root = await stage.answered(channel)
    finally:
        me.nick = None

    assert root.text.startswith("## Which queue?")


async def test_what_is_not_said_to_it_is_nobodys_question(stage: Stage) -> None:
    channel = stage.channel()
    stage.discord.message("U1", channel, "Which queue?")
    stage.discord.message("UOTHERBOT", channel, f"{stage.discord.bot.mention} Which queue?")

    stage.discord.message("U1", channel, f"{stage.discord.bot.mention} help")

    await stage.discord.until(lambda: stage.discord.said_by_bot(channel))
    assert "see the panels" in stage.discord.said_by_bot(channel)[0].text
    assert not stage.rounds(channel)


async def test_a_mention_in_the_councils_thread_follows_its_round(stage: Stage) -> None:
    channel = stage.channel()
    root = await stage.asked(channel, "Which queue?")
    await stage.told(root)
    thread = stage.discord.thread_of(root)

    stage.discord.message("U2", thread, f"{stage.discord.bot.mention} And for one node?")

    answer = await _followed(stage, root, 1)
    assert "And for one node?" in answer.text
    assert "Which queue?" in _context(stage, channel)
    assert stage.answers(channel) == [root]
    await stage.discord.until(lambda: thread.said[-1].files, 20)

    stage.discord.message("U2", thread, f"{stage.discord.bot.mention} And for two?")
    await _followed(stage, root, 2)
    assert "And for one node?" in _context(stage, channel)


async def test_a_reply_to_the_answer_itself_follows_its_round(stage: Stage) -> None:
    channel = stage.channel()
    root = await stage.asked(channel, "Which queue?")
    await stage.told(root)

    stage.discord.message("U2", channel, "And for one node?", reference=root)

    await stage.answered(channel, 2)
    assert "Which queue?" in _context(stage, channel)


async def test_alone_with_the_bot_everything_is_said_one_under_another(stage: Stage) -> None:
    stage.discord.direct_message("U2", "Which queue, between us?")
    own = stage.discord.direct("U2")[0].channel

    root = await stage.answered(own)
    await stage.discord.until(lambda: own.said[-1].files, 20)

    after = [m.text for m in own.said if int(m.id) > int(root.id)]
    assert "Who wrote what" in after[0]
    assert "Ballots" in after[1]
    assert sum("Response " in text[:40] for text in after) == 3
    stage.discord.message("U2", own, "And for one node?", reference=root)
    await stage.answered(own, 2)
    assert "Which queue, between us?" in _context(stage, own)


async def test_the_council_is_asked_about_a_message_from_its_menu(stage: Stage) -> None:
    channel = stage.channel()
    said = stage.discord.message("U2", channel, "We could use **Kafka** for it.")

    deed = await stage.discord.context_menu("U1", said, "Ask the council")
    assert deed.modal
    assert "We could use **Kafka** for it." in str(deed.modal.data)
    sent = await stage.discord.submit(deed.modal, {"Question": "Is that wise?"}, "U1")

    assert "Asking North, South and East" in await stage.answer_to(sent)
    root = await stage.answered(channel)
    assert root.text.startswith("## Is that wise?")
    assert _context(stage, channel) == "We could use **Kafka** for it."
    assert part(root, "answers")
