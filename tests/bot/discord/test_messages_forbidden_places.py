"""Channels and threads without permission, locked or deleted: nothing is spent or lost."""

from collections.abc import Callable

import pytest

from tests.bot.discord.in_process import InProcessBot
from tests.bot.discord.story import custom_id_of
from tests.wire.discord import Permission

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("missing", "needed"),
    [
        (Permission.CREATE_PUBLIC_THREADS, "Create Public Threads"),
        (Permission.SEND_MESSAGES_IN_THREADS, "Send Messages in Threads"),
    ],
)
async def test_without_a_thread_buttons_show_the_rest(
    bot: InProcessBot, missing: Permission, needed: str
) -> None:
    bot.permit(deny=missing)
    refused = len(bot.discord.refusals)
    root = await bot.ask()
    bot.release_models()
    await bot.wait_until_delivered()

    assert custom_id_of(root, "answers")
    assert bot.bot_messages() == [root]
    assert f"I need {needed}." in bot.private_texts()
    assert "Use the buttons under the answer to see the rest" in bot.private_texts()
    assert not bot.discord.direct(bot.person)
    assert len(bot.discord.refusals) - refused <= 2
    await bot.press(root, "answers", "Answer ")


async def test_a_mention_where_the_bot_may_not_post_is_answered_by_direct_message(
    bot: InProcessBot,
) -> None:
    bot.permit(deny=Permission.SEND_MESSAGES)
    bot.discord.message(bot.person, bot.place, f"{bot.discord.bot.mention} Which queue?")

    await bot.discord.until(lambda: "I need View Channel, Send Messages" in bot.private_texts(), 60)
    await bot.wait_until_delivered()
    assert bot.discord.direct(bot.person)
    assert not bot.gateway.asked


async def test_without_attach_files_only_the_chart_is_missing(bot: InProcessBot) -> None:
    bot.permit(deny=Permission.ATTACH_FILES)
    root = await bot.ask()
    bot.release_models()
    await bot.wait_until_delivered()

    await bot.press(root, "ballots", "Rankings")
    (view,) = [m for m in bot.discord.ephemerals(bot.person) if "Rankings" in m.text]
    assert view.files == []
    assert not bot.discord.direct(bot.person)


def _gone(bot: InProcessBot) -> None:
    bot.discord.delete_channel(bot.place)


def _hidden(bot: InProcessBot) -> None:
    bot.permit(deny=Permission.VIEW_CHANNEL)


@pytest.mark.parametrize("close", [_gone, _hidden])
async def test_an_answer_without_its_channel_goes_to_the_asker_alone(
    bot: InProcessBot, close: Callable[[InProcessBot], None]
) -> None:
    await bot.ask()
    close(bot)
    bot.release_models()
    await bot.wait_until_delivered()

    (reply,) = bot.discord.direct(bot.person)
    line = await bot.load_line()
    assert line.id in reply.text
    assert "The council says yes." in reply.text


async def test_a_channel_deleted_during_delivery_gets_no_more_messages(bot: InProcessBot) -> None:
    root = await bot.ask()
    await bot.release_until_mid_thread(root)
    _gone(bot)
    await bot.wait_until_delivered()

    assert len(bot.discord.direct(bot.person)) == 1


async def test_a_deleted_root_is_posted_again_once(bot: InProcessBot) -> None:
    root = await bot.ask()
    bot.discord.delete_message(root)
    bot.release_models()

    await bot.assert_one_whole_round()


def _locked(bot: InProcessBot) -> None:
    bot.discord.set_thread(bot.discord.thread_of(bot.bot_messages()[0]), locked=True)


def _locked_away(bot: InProcessBot) -> None:
    bot.discord.set_thread(bot.discord.thread_of(bot.bot_messages()[0]), locked=True, archived=True)


def _thread_gone(bot: InProcessBot) -> None:
    bot.discord.delete_channel(bot.discord.thread_of(bot.bot_messages()[0]))


@pytest.mark.parametrize("close", [_locked, _locked_away, _thread_gone])
async def test_a_thread_closed_in_the_middle_leaves_the_answer_and_its_buttons(
    bot: InProcessBot, close: Callable[[InProcessBot], None]
) -> None:
    root = await bot.ask()
    await bot.release_until_mid_thread(root)
    close(bot)
    await bot.wait_until_delivered()

    assert bot.bot_messages() == [root]
    assert "Use the buttons under the answer to see the rest" in bot.private_texts()
    assert not bot.discord.direct(bot.person)


async def test_an_archived_thread_is_reopened_by_the_next_message(
    bot: InProcessBot,
) -> None:
    root = await bot.ask()
    await bot.release_until_mid_thread(root)
    bot.discord.set_thread(bot.discord.thread_of(root), archived=True)

    await bot.assert_one_whole_round()


async def test_an_answer_in_a_locked_thread_goes_to_the_asker_alone(
    bot: InProcessBot,
) -> None:
    thread = bot.discord.open_thread(bot.person.handle, bot.place, "Queues")
    await bot.ask(thread)
    bot.discord.set_thread(thread, locked=True, archived=True)
    bot.release_models()
    await bot.wait_until_delivered()

    (reply,) = bot.discord.direct(bot.person)
    assert "The council says yes." in reply.text
