"""Every command, button, permission, cooldown, restart and expiry, in a simulated Discord.

A round that is under way cannot be held up here; cancelling one is in `test_story_press`.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import discord
import pytest
import simcord

from bot.access import Access
from bot.commands.dispatch import COMMANDS
from council.places import Place
from council.ports import EVERY, RoundQuery, RoundSummary
from council.rounds import Question
from storage.memory import MemoryStore
from tests.bot.discord.limits import texts
from tests.bot.discord.simulator import Simulated, button_of, simulated
from tests.builders import a_round

HOUR_SECONDS = 3600.0


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Simulated]:
    async with simulated(tmp_path) as running:
        yield running


@pytest.fixture(autouse=True)
def env(bot: Simulated) -> simcord.Env:
    """Give the simulation, whose plugin then moves the test's own clock too."""
    return bot.env


def words_in(message: discord.Message) -> str:
    return "\n".join(texts([one.to_dict() for one in message.components]))


async def test_every_registered_command_can_be_chosen(bot: Simulated) -> None:
    offered = bot.ada.available_commands(bot.channel)

    assert {f"council {command.name}" for command in COMMANDS.commands} <= {*offered}


async def test_a_question_is_answered_in_the_channel_and_its_thread_reveals_the_rest(
    bot: Simulated,
) -> None:
    root = await bot.asked()

    assert "Which queue?" in words_in(root)
    assert "Asked by Ada" in words_in(root)
    assert [one for one in bot.seen_by(bot.ben) if not one.is_system()] == [root]
    (thread,) = bot.channel.threads
    said = thread.history()
    assert "Who wrote what" in words_in(said[0])
    assert [len(message.attachments) for message in said] == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("help", {}, "see the panels, or pick one"),
        ("panel", {}, "house (in use)"),
        ("panel", {"name": "nope"}, "There is no panel 'nope'"),
        ("rounds", {"number": 3}, "No round has been held yet."),
        ("show", {"round": "12ab"}, "There is no round '12ab' here"),
        ("budget", {}, "This workspace, today"),
        ("cancel", {"round": "last"}, "No round of yours is under way here."),
        ("forget", {"round": "12ab"}, "There is no round '12ab' here"),
        ("ask", {"question": "Why?", "panel": "nope"}, "There is no panel 'nope'"),
    ],
)
async def test_every_command_is_answered_to_the_one_who_gave_it(
    bot: Simulated, command: str, options: dict[str, object], said: str
) -> None:
    assert said in await bot.says(bot.ben, command, **options)
    assert bot.seen_by(bot.ada) == []


async def test_a_held_round_is_listed_shown_suggested_and_forgotten(bot: Simulated) -> None:
    root = await bot.asked("Which queue is best?")
    id_ = button_of(root, "answers").rpartition(":")[2]

    assert id_ in await bot.says(bot.ben, "rounds", number=10)
    assert "Which queue is best?" in await bot.says(bot.ben, "show", round=id_)
    found = await bot.ben.autocomplete(bot.channel, "council show", "round", "best")
    assert [choice["value"] for choice in found] == [id_]
    assert "Only the one who asked" in await bot.says(bot.ben, "forget", round=id_)
    assert "is forgotten" in await bot.says(bot.ada, "forget", round=id_)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("answers", "Response "),
        ("ballots", " and ranked "),
        ("export", "The round is in its thread, as JSON"),
        ("helpful", "Noted, thank you."),
    ],
)
async def test_every_button_is_answered_to_the_one_who_pressed_it(
    bot: Simulated, action: str, said: str
) -> None:
    root = await bot.asked()

    assert said in await bot.presses(bot.ben, root, action)


async def test_who_found_it_of_no_help_is_asked_why(bot: Simulated) -> None:
    root = await bot.asked()
    shown = await bot.pressed(bot.ben, root, "unhelpful")

    sent = await bot.ben.submit_modal(shown, {"reason": "It names no number."})

    assert "Noted, thank you." in await bot.answer_to(sent)
    (line,) = await bot.app.store.recent()
    (kept,) = await bot.app.store.ratings(line.id)
    assert (kept.helpful, kept.reason) == (False, "It names no number.")


async def test_the_menu_of_a_message_opens_a_form_that_asks_about_it(bot: Simulated) -> None:
    said = await bot.ben.send(bot.channel, "We could use Kafka for it.")
    shown = await bot.ada.context_menu(bot.channel, "Ask the council", said)

    filled = {"question": "Is that wise?", "context": "We could use Kafka for it."}
    sent = await bot.ada.submit_modal(shown, filled)

    assert "Asking " in await bot.answer_to(sent)
    (root,) = bot.answers()
    assert "Is that wise?" in words_in(root)


async def test_a_mention_and_a_reply_to_the_answer_are_questions(bot: Simulated) -> None:
    me = bot.env.bot.user
    assert me
    await bot.ada.send(bot.channel, f"{me.mention} Which queue?")
    await bot.env.advance_time(HOUR_SECONDS)

    (root,) = bot.answers()
    assert "Which queue?" in words_in(root)


async def test_run_again_is_asked_about_and_a_no_asks_nobody(bot: Simulated) -> None:
    root = await bot.asked()
    deed = await bot.pressed(bot.ben, root, "again")
    assert "It costs nothing" in await bot.answer_to(deed)
    assert deed.response

    await bot.pressed(bot.ben, deed.response.message, "no_again")

    assert texts(deed.response.components) == ["-# Nothing was asked."]
    assert bot.answers() == [root]


async def test_a_yes_asks_once_more_for_the_one_who_pressed(bot: Simulated) -> None:
    root = await bot.asked()
    deed = await bot.pressed(bot.ben, root, "again")
    await bot.answer_to(deed)
    assert deed.response

    told = await bot.presses(bot.ben, deed.response.message, "yes_again")

    assert "Asking " in told
    assert "Asked by Ben" in words_in(bot.answers()[1])


async def test_buttons_and_questions_of_before_a_restart_work(bot: Simulated) -> None:
    root = await bot.asked()
    deed = await bot.pressed(bot.ben, root, "again")
    await bot.answer_to(deed)
    assert deed.response

    await bot.restarted()

    assert "Response " in await bot.presses(bot.ben, root, "answers")
    assert "Asking " in await bot.presses(bot.ben, deed.response.message, "yes_again")
    assert len(bot.answers()) == 2


@pytest.mark.parametrize("permission", ["view_channel", "send_messages"])
async def test_where_it_may_not_post_the_asker_is_told_what_is_missing(
    bot: Simulated, permission: str
) -> None:
    me, deny = bot.env.bot.user, discord.PermissionOverwrite(**{permission: False})
    assert me
    bot.channel = bot.guild.create_text_channel("closed", overwrites={me: deny})

    told = await bot.says(bot.ada, "ask", question="Which queue?")

    assert f"I need {permission.replace('_', ' ').title()}" in told
    assert await bot.app.store.ids() == ()


async def test_only_who_has_a_role_that_is_named_may_ask(bot: Simulated) -> None:
    readers = bot.guild.create_role("readers")
    dora = bot.guild.add_member(bot.env.create_user("Dora"), roles=[readers])
    bot.app.access = Access(roles=(str(readers.id),))

    told = await bot.says(bot.ada, "ask", question="Which queue?")

    assert "open to certain roles, and you have none of them" in told
    assert "Asking " in await bot.says(dora, "ask", question="Which queue?")


async def test_an_admin_alone_has_rounds_of_others_cancelled_and_forgotten(
    bot: Simulated,
) -> None:
    bot.app.access = Access(admins=(str(bot.cleo.id),))
    place = Place("discord", str(bot.guild.id), str(bot.channel.id))
    asked = Question("Which queue?", str(bot.ada.id), place=place)
    await bot.app.store.open(replace(a_round(question=asked), id="beef1"))

    assert "or an admin, can cancel" in await bot.says(bot.ben, "cancel", round="beef1")
    assert "is cancelled" in await bot.says(bot.cleo, "cancel", round="beef1")
    assert "is forgotten" in await bot.says(bot.cleo, "forget", round="beef1")


async def test_who_has_asked_as_often_as_is_allowed_waits_until_the_minute_that_was_told(
    bot: Simulated,
) -> None:
    bot.app.access = Access(rounds_per_hour=1)
    await bot.asked()

    assert "You have asked 1 round in the last hour" in await bot.says(
        bot.ada, "ask", question="And now?"
    )
    assert "Asking " in await bot.says(bot.ben, "ask", question="And I?")
    await bot.env.advance_time(HOUR_SECONDS)
    assert "Asking " in await bot.says(bot.ada, "ask", question="And now?")


class LateStore(MemoryStore):
    """Takes longer over a list than an interaction lasts."""

    async def recent(
        self, limit: int | None = None, wanted: RoundQuery = EVERY
    ) -> tuple[RoundSummary, ...]:
        await asyncio.sleep(16 * 60)
        return await super().recent(limit, wanted)


async def test_what_comes_after_a_quarter_of_an_hour_comes_as_a_direct_message(
    bot: Simulated,
) -> None:
    bot.app.store = LateStore()

    deed = await bot.ada.slash(bot.channel, "council rounds", number=3)
    await bot.env.advance_time(17 * 60)

    assert deed.acknowledged
    (told,) = bot.ada.user.dm_channel.history()
    assert "No round has been held yet." in words_in(told)
