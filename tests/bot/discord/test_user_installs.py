"""The council where the bot is no member: for people who installed it for themselves."""

from collections.abc import Callable

import pytest

from bot.discord.user_installs import NO_THREAD_HERE
from tests.bot.discord.in_process import InProcessBot, start_bot
from tests.bot.discord.story import QUICK, custom_id_of
from tests.wire.discord import Channel, FakeDiscord, Interaction, Message, Permission
from tests.wire.discord.sample_world import add_channel, add_group, add_guild

pytestmark = pytest.mark.asyncio(loop_scope="module")

HINT = NO_THREAD_HERE.split("`")[0]
QUESTION = "Which queue?"


def group(bot: InProcessBot) -> Channel:
    """Return a group conversation of the person, who has the app, with Ben."""
    bot.person.has_app = True
    return add_group(bot.discord.world, f"GD{bot.person.id}", "Friends", bot.person.handle, "U2")


def foreign_channel(bot: InProcessBot) -> Channel:
    """Return a channel of a server that the bot is not in, which the person owns."""
    bot.person.has_app = True
    world = bot.discord.world
    guild = add_guild(world, f"G{bot.person.id}", "Foreign", bot.person.handle, "U2")
    bot.discord.remove_bot(guild)
    return add_channel(world, guild, f"F{bot.person.id}", "foreign")


def commands_only_channel(bot: InProcessBot) -> Channel:
    """Return a channel of a server that authorised the commands, but not the bot."""
    where = foreign_channel(bot)
    bot.person.has_app = False
    assert where.guild
    where.guild.has_commands = True
    return where


def shown(result: Interaction) -> list[Message]:
    """Return what everyone sees of an interaction."""
    return [one for one in result.sent if not one.ephemeral_to and one in one.channel.said]


def whispers(result: Interaction) -> str:
    return "\n".join(one.text for one in result.sent if one.ephemeral_to)


async def ask(bot: InProcessBot, where: Channel, **options: object) -> Interaction:
    result = await bot.discord.slash(bot.person, where, "council ask", question=QUESTION, **options)
    assert result.accepted
    return result


async def answered(bot: InProcessBot, where: Channel, **options: object) -> Message:
    """Return the answer, which is the response to the command."""
    result = await ask(bot, where, **options)
    await bot.discord.until(lambda: HINT in whispers(result))
    bot.release_models()
    await bot.wait_until_delivered()
    assert result.original
    return result.original


async def test_forgetting_within_15_minutes_blanks_the_answer(bot: InProcessBot) -> None:
    root = await answered(bot, group(bot))
    bot.rows.forgotten.add((await bot.load_line()).id)
    menu = await bot.menu(root)

    result = await bot.discord.click(menu, custom_id_of(menu, "forget"), bot.person)
    await bot.discord.until(lambda: custom_id_of(result.sent[-1], "yes_forget"))
    question = result.sent[-1]
    await bot.discord.click(question, custom_id_of(question, "yes_forget"), bot.person)

    await bot.discord.until(lambda: "The council says yes." not in root.text)
    assert "forgotten" in root.text


@pytest.mark.parametrize("place", [group, foreign_channel, commands_only_channel])
async def test_the_response_shows_progress_and_becomes_the_answer_with_its_results(
    bot: InProcessBot, place: Callable[[InProcessBot], Channel]
) -> None:
    where = place(bot)
    result = await ask(bot, where)
    await bot.discord.until(lambda: "0 of 3" in "".join(one.text for one in shown(result)))
    await bot.discord.until(lambda: HINT in whispers(result))
    assert "Sent only to" in shown(result)[0].text

    bot.release_models()
    await bot.wait_until_delivered()

    (root,) = shown(result)
    assert "The council says yes." in root.text
    assert "Gemini 3 Pro" in root.text
    assert custom_id_of(root, "answers")
    refused = [call for call in bot.discord.refusals if call.status == 403]
    assert not refused
    assert not bot.discord.direct(bot.person)


async def test_a_private_question_is_answered_to_the_asker_alone(bot: InProcessBot) -> None:
    where = group(bot)
    await answered(bot, where, private=True)

    assert all(one.ephemeral_to for one in where.said)
    assert "The council says yes." in bot.private_texts()


async def test_where_a_server_hides_outside_apps_the_answer_is_private(bot: InProcessBot) -> None:
    where = foreign_channel(bot)
    guild = where.guild
    assert guild
    guild.owner = bot.discord.user("U2").id
    guild.roles[guild.id].permissions &= ~Permission.USE_EXTERNAL_APPS

    root = await answered(bot, where)

    assert root.ephemeral_to == bot.person.id
    assert "The council says yes." in root.text


async def test_nobody_else_there_reads_or_uses_the_round(bot: InProcessBot) -> None:
    where = group(bot)
    root = await answered(bot, where)
    round_id = (await bot.load_line()).id
    ben = bot.discord.user("U2")
    ben.has_app = True

    async def told(result: Interaction) -> str:
        await bot.discord.until(lambda: whispers(result).strip())
        return whispers(result)

    for action in ("answers", "ballots", "more"):
        result = await bot.discord.click(root, custom_id_of(root, action), ben)
        assert "There is no round" in await told(result), action
    for command, options in (("show", {"round": round_id}), ("show", {"round": "last"})):
        result = await bot.discord.slash(ben, where, f"council {command}", **options)
        assert QUESTION not in await told(result)
    found = await bot.discord.autocomplete(ben, where, "council show", "round", round="Which")
    assert found.choices == []


async def test_its_asker_reads_it_there_and_in_direct_messages(bot: InProcessBot) -> None:
    where = group(bot)
    root = await answered(bot, where)

    await bot.press(root, "answers", "Answer ")
    own = bot.discord.direct_message(bot.person, "help").channel
    for place in (where, own):
        result = await bot.discord.slash(bot.person, place, "council show", round="last")
        await bot.discord.until(lambda: QUESTION in whispers(result))  # noqa: B023


async def test_a_refused_question_is_told_to_its_asker_alone(bot: InProcessBot) -> None:
    where = group(bot)

    result = await ask(bot, where, panel="nope")

    await bot.discord.until(lambda: "There is no panel 'nope'" in whispers(result))
    assert not shown(result)
    assert HINT not in whispers(result)


@pytest.mark.parametrize("takes_direct_messages", [True, False])
async def test_an_answer_after_the_15_minutes_goes_to_direct_messages_or_stays_readable(
    bot: InProcessBot, takes_direct_messages: bool
) -> None:
    where = group(bot)
    bot.person.takes_direct_messages = takes_direct_messages
    result = await ask(bot, where)
    await bot.discord.until(lambda: HINT in whispers(result))

    result.at -= 16 * 60
    bot.release_models()
    await bot.wait_until_delivered()

    in_direct = "".join(one.text for one in bot.discord.direct(bot.person))
    assert ("The council says yes." in in_direct) == takes_direct_messages
    later = await bot.discord.slash(bot.person, where, "council show", round="last")
    await bot.discord.until(lambda: "The council says yes." in whispers(later))


async def test_what_five_follow_ups_cannot_hold_goes_to_direct_messages(bot: InProcessBot) -> None:
    where, long = group(bot), "Which queue? " * 430
    result = await bot.discord.slash(bot.person, where, "council ask", question=long)
    await bot.discord.until(lambda: HINT in whispers(result))
    result.follow_ups = 5

    bot.release_models()
    await bot.wait_until_delivered()

    (root,) = shown(result)
    in_direct = "".join(one.text for one in bot.discord.direct(bot.person))
    assert "Which queue?" in root.text
    assert "The council says yes." in root.text + in_direct
    assert in_direct


async def test_after_a_restart_the_answer_goes_to_direct_messages() -> None:
    async with FakeDiscord(QUICK) as discord:
        async with start_bot(discord) as bot:
            where = group(bot)
            result = await ask(bot, where)
            await discord.until(lambda: HINT in whispers(result))
        async with start_bot(discord, bot.app):
            await bot.wait_until_delivered()

            assert "The council says yes." in bot.discord.direct(bot.person)[-1].text
