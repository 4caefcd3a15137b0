"""Places closed to the bot: before a question nothing is spent, after it nothing is lost."""

from collections.abc import Callable

import pytest

from tests.bot.discord.in_process import Inside
from tests.bot.discord.story import part
from tests.wire.discord import Permission

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("missing", "needed"),
    [
        (Permission.CREATE_PUBLIC_THREADS, "Create Public Threads"),
        (Permission.SEND_MESSAGES_IN_THREADS, "Send Messages in Threads"),
    ],
)
async def test_without_a_thread_the_answer_stands_and_its_buttons_show_the_rest(
    bot: Inside, missing: Permission, needed: str
) -> None:
    bot.permit(deny=missing)
    refused = len(bot.discord.refusals)
    root = await bot.asks()
    bot.go_on()
    await bot.delivered()

    assert part(root, "answers")
    assert bot.ours() == [root]
    assert f"I need {needed}." in bot.whispers()
    assert "The buttons under the answer show" in bot.whispers()
    assert not bot.discord.direct(bot.person)
    assert len(bot.discord.refusals) - refused <= 2
    await bot.presses(root, "answers", "Response ")
    told = bot.whispers().count(needed)
    await bot.discord.click(root, part(root, "export"), bot.person)
    await bot.discord.until(lambda: bot.whispers().count(needed) > told)


async def test_once_it_may_open_threads_an_export_finds_its_place(bot: Inside) -> None:
    bot.permit(deny=Permission.CREATE_PUBLIC_THREADS)
    root = await bot.asks()
    bot.go_on()
    await bot.delivered()
    bot.permit()

    await bot.presses(root, "export", "as JSON")

    (message,) = bot.discord.thread_of(root).said
    assert message.files[0].name.endswith(".json")


async def test_a_mention_where_it_may_not_speak_is_answered_alone(bot: Inside) -> None:
    bot.permit(deny=Permission.SEND_MESSAGES)
    bot.discord.message(bot.person, bot.place, f"{bot.discord.bot.mention} Which queue?")

    await bot.discord.until(lambda: "I need View Channel, Send Messages" in bot.whispers(), 20)
    await bot.delivered()
    assert bot.discord.direct(bot.person)
    assert not bot.gateway.asked


async def test_without_leave_to_post_files_the_thread_lacks_only_the_file(bot: Inside) -> None:
    bot.permit(deny=Permission.ATTACH_FILES)
    root = await bot.asks()
    bot.go_on()
    await bot.delivered()

    assert len(bot.discord.thread_of(root).said) == 5
    assert not bot.discord.direct(bot.person)
    await bot.presses(root, "export", "I may not post files here")


async def test_leave_to_post_files_taken_away_meanwhile_costs_only_the_file(
    bot: Inside,
) -> None:
    root = await bot.asks()
    bot.permit(deny=Permission.ATTACH_FILES)
    bot.go_on()
    await bot.delivered()

    assert len(bot.discord.thread_of(root).said) == 5
    assert "I need Attach Files" in bot.whispers()
    assert not bot.discord.direct(bot.person)


def _gone(bot: Inside) -> None:
    bot.discord.delete_channel(bot.place)


def _hidden(bot: Inside) -> None:
    bot.permit(deny=Permission.VIEW_CHANNEL)


@pytest.mark.parametrize("close", [_gone, _hidden])
async def test_an_answer_without_its_place_is_told_the_asker_alone(
    bot: Inside, close: Callable[[Inside], None]
) -> None:
    await bot.asks()
    close(bot)
    bot.go_on()
    await bot.delivered()

    (told,) = bot.discord.direct(bot.person)
    line = await bot.line()
    assert line.id in told.text
    assert "The council says yes." in told.text


async def test_a_channel_deleted_in_mid_thread_is_left_alone(bot: Inside) -> None:
    root = await bot.asks()
    await bot.goes_on_until_mid_thread(root)
    _gone(bot)
    await bot.delivered()

    assert len(bot.discord.direct(bot.person)) == 1


async def test_a_deleted_root_is_posted_anew_once(bot: Inside) -> None:
    root = await bot.asks()
    bot.discord.delete_message(root)
    bot.go_on()

    await bot.is_one_whole_round()


async def test_a_root_deleted_before_its_thread_is_posted_anew_with_it(bot: Inside) -> None:
    root = await bot.asks()
    bot.go_on()
    await bot.discord.until(lambda: part(root, "answers"))
    if root.thread is None:
        bot.discord.delete_message(root)

    await bot.is_one_whole_round()


def _locked(bot: Inside) -> None:
    bot.discord.set_thread(bot.discord.thread_of(bot.ours()[0]), locked=True)


def _locked_away(bot: Inside) -> None:
    bot.discord.set_thread(bot.discord.thread_of(bot.ours()[0]), locked=True, archived=True)


def _thread_gone(bot: Inside) -> None:
    bot.discord.delete_channel(bot.discord.thread_of(bot.ours()[0]))


@pytest.mark.parametrize("close", [_locked, _locked_away, _thread_gone])
async def test_a_thread_closed_in_the_middle_leaves_the_answer_and_its_buttons(
    bot: Inside, close: Callable[[Inside], None]
) -> None:
    root = await bot.asks()
    await bot.goes_on_until_mid_thread(root)
    close(bot)
    await bot.delivered()

    assert bot.ours() == [root]
    assert "The buttons under the answer show" in bot.whispers()
    assert not bot.discord.direct(bot.person)


async def test_a_thread_that_was_folded_away_is_opened_by_what_comes_next(bot: Inside) -> None:
    root = await bot.asks()
    await bot.goes_on_until_mid_thread(root)
    bot.discord.set_thread(bot.discord.thread_of(root), archived=True)

    await bot.is_one_whole_round()


async def test_asked_in_a_thread_that_is_locked_meanwhile_the_asker_is_told_alone(
    bot: Inside,
) -> None:
    thread = bot.discord.open_thread(bot.person.handle, bot.place, "Queues")
    await bot.asks(thread)
    bot.discord.set_thread(thread, locked=True, archived=True)
    bot.go_on()
    await bot.delivered()

    (told,) = bot.discord.direct(bot.person)
    assert "The council says yes." in told.text


async def test_who_takes_no_direct_messages_loses_only_the_telling(bot: Inside) -> None:
    bot.person.takes_direct_messages = False
    await bot.asks()
    _gone(bot)
    bot.go_on()

    await bot.delivered()
    assert not bot.discord.direct(bot.person)
