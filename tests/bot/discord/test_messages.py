"""Messages of Discord: threads, private views, notifications, deletion."""

from dataclasses import replace

import pytest

from bot.chat import Line, Mentions, Post, SentMessage
from council.places import Place
from tests.bot.discord.in_process import InProcessBot
from tests.bot.discord.story import custom_id_of
from tests.wire.discord import Message

pytestmark = pytest.mark.asyncio(loop_scope="module")

SILENT = 1 << 12
POSTS = "POST /channels/*/messages"


def place_of(bot: InProcessBot) -> Place:
    guild = bot.place.guild
    return Place("discord", guild.id if guild else "", bot.place.id)


async def test_a_round_opens_a_thread_named_after_its_question_and_is_never_refused(
    bot: InProcessBot,
) -> None:
    refused = len(bot.discord.refusals)

    root = await bot.answered("Which queue?")

    assert bot.discord.thread_of(root).name == "Which queue?"
    assert bot.discord.refusals[refused:] == []
    await bot.assert_one_whole_round()


async def test_answers_open_one_private_view_whose_buttons_turn_its_pages(
    bot: InProcessBot,
) -> None:
    root = await bot.answered()
    await bot.press(root, "answers", "1 of 3")
    (view,) = _views(bot, "1 of 3")
    before = len(bot.discord.ephemerals(bot.person))

    first, turn = view.text, custom_id_of(view, "answers_page")
    await bot.discord.click(view, turn, bot.person)
    await bot.discord.until(lambda: "2 of 3" in view.text)

    assert view.text != first
    assert len(bot.discord.ephemerals(bot.person)) == before
    assert str(view.components).count("council:answers_page:") == 2


async def test_the_chart_opens_with_the_rankings_and_no_file_is_posted(bot: InProcessBot) -> None:
    root = await bot.answered()

    await bot.press(root, "ballots", "Rankings")

    (view,) = _views(bot, "Rankings")
    (chart,) = view.files
    assert chart.name.endswith(".png")
    assert "Claude Sonnet 4.6: " in str(view.components)  # the alternative text
    posted = [root, *bot.discord.thread_of(root).said]
    assert [message.files for message in posted] == [[]] * 2


async def test_an_export_is_a_file_for_the_presser_alone(bot: InProcessBot) -> None:
    root = await bot.answered()
    menu = await bot.menu(root)

    result = await bot.discord.click(menu, custom_id_of(menu, "export"), bot.person)
    await bot.discord.until(lambda: result.sent[-1].files)

    assert result.sent[-1].ephemeral_to == bot.person.id
    assert not any(message.files for message in bot.discord.thread_of(root).said)


@pytest.mark.parametrize("archived", [False, True])
async def test_forgetting_deletes_the_replies_and_renames_the_thread(
    bot: InProcessBot, *, archived: bool
) -> None:
    root = await bot.answered("A secret question?")
    thread = bot.discord.thread_of(root)
    bot.discord.set_thread(thread, archived=archived)
    bot.rows.forgotten.add((await bot.load_line()).id)
    menu = await bot.menu(root)

    result = await bot.discord.click(menu, custom_id_of(menu, "forget"), bot.person)
    await bot.discord.until(lambda: custom_id_of(result.sent[-1], "yes_forget"))
    question = result.sent[-1]
    await bot.discord.click(question, custom_id_of(question, "yes_forget"), bot.person)
    await bot.discord.until(lambda: "secret" not in thread.name)

    await bot.discord.until(lambda: not thread.said)
    assert "secret" not in root.text


async def test_deleting_a_message_that_is_gone_does_nothing(bot: InProcessBot) -> None:
    place = place_of(bot)
    chat = bot.app.chats["discord"](place)
    assert chat

    await chat.delete(SentMessage(place, "123456789012345678"))
    await chat.rename_thread(SentMessage(place, "123456789012345678"), "Gone")
    await chat.delete(SentMessage(replace(place, channel="1"), "123456789012345678"))


async def test_only_a_message_with_mentions_notifies_and_only_those_people(
    bot: InProcessBot,
) -> None:
    place = place_of(bot)
    chat = bot.app.chats["discord"](place)
    assert chat
    pings = len(bot.discord.pings())

    line = Line(f"<@{bot.discord.user('U1').id}> @everyone")
    await chat.send(place, Post((line,)), "quiet")
    await chat.send(place, Post((Mentions((bot.person.id,)), line)), "loud")

    quiet, loud = bot.discord.called(f"POST /channels/{bot.place.id}/messages")[-2:]
    assert quiet.payload["flags"] & SILENT
    assert not loud.payload["flags"] & SILENT
    assert loud.payload["allowed_mentions"] == {"parse": [], "users": [int(bot.person.id)]}
    assert len(bot.discord.pings()) == pings + 1


def _views(bot: InProcessBot, text: str) -> list[Message]:
    return [m for m in bot.discord.ephemerals(bot.person) if text in m.text]
