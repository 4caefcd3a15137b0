"""Handlers of every command, button and modal; permissions, rate limits, restart and expiry.

A running round cannot be paused in the simulation: see test_story_buttons for cancelling one.
"""

from collections.abc import AsyncIterator

import discord
import pytest
import simcord

from bot.access import Access, ChannelRules
from tests.bot.app_fakes import an_app
from tests.bot.discord.limits import texts
from tests.bot.discord.simulator import SimulatedBot, button_of, make_client, simulate

HOUR_SECONDS = 3600.0


@pytest.fixture
async def bot() -> AsyncIterator[SimulatedBot]:
    async with simulate() as running:
        yield running


@pytest.fixture(autouse=True)
def env(bot: SimulatedBot) -> simcord.Env:
    """Return the simulation, whose plugin then moves the test's own clock too."""
    return bot.env


def words_in(message: discord.Message) -> str:
    return "\n".join(texts([one.to_dict() for one in message.components]))


async def test_a_question_is_answered_in_the_channel_and_its_thread_reveals_the_rest(
    bot: SimulatedBot,
) -> None:
    root = await bot.ask()

    assert "Which queue?" in words_in(root)
    assert "Asked by Ada" in words_in(root)
    assert [one for one in bot.messages_for(bot.ben) if not one.is_system()] == [root]
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
        ("cancel", {"round": "12ab"}, "There is no round '12ab' here"),
        ("ask", {"question": "Why?", "panel": "nope"}, "There is no panel 'nope'"),
        ("ask", {"question": "panel:nope Why?"}, "There is no panel 'nope'"),
        ("ask", {"question": "\u200b "}, "The question is empty"),
    ],
)
async def test_every_command_reply_is_ephemeral(
    bot: SimulatedBot, command: str, options: dict[str, object], said: str
) -> None:
    assert said in await bot.run(bot.ben, command, **options)
    assert bot.messages_for(bot.ada) == []


async def test_a_round_is_listed_shown_suggested_and_forgotten(bot: SimulatedBot) -> None:
    root = await bot.ask("Which queue is best?")
    id_ = button_of(root, "answers").rpartition(":")[2]

    assert id_ in await bot.run(bot.ben, "rounds", number=10)
    assert "Which queue is best?" in await bot.run(bot.ben, "show", round=id_)
    found = await bot.ben.autocomplete(bot.channel, "council show", "round", "best")
    by_id = await bot.ben.autocomplete(bot.channel, "council show", "round", id_[:5])
    assert [choice["value"] for choice in (*found, *by_id)] == [id_, id_]
    assert "Which queue is best?" in await bot.run(bot.ben, "show", round=id_[:6])
    assert "closed already" in await bot.run(bot.ada, "cancel", round=id_)
    assert "Only the one who asked" in await bot.run(bot.ben, "forget", round=id_)
    assert "is forgotten" in await bot.run(bot.ada, "forget", round=id_)
    assert "Which queue is best?" not in await bot.run(bot.ben, "show", round=id_)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("answers", "Response "),
        ("ballots", " and ranked "),
        ("export", "The round is in its thread, as JSON"),
        ("helpful", "Noted, thank you."),
    ],
)
async def test_every_button_reply_is_ephemeral(bot: SimulatedBot, action: str, said: str) -> None:
    root = await bot.ask()

    assert said in await bot.press(bot.ben, root, action)


async def test_an_unhelpful_round_asks_for_a_reason(bot: SimulatedBot) -> None:
    root = await bot.ask()
    shown = await bot.click(bot.ben, root, "unhelpful")

    sent = await bot.ben.submit_modal(shown, {"reason": "It names no number."})

    assert "Noted, thank you." in await bot.wait_for_reply(sent)
    (line,) = await bot.app.store.list_summaries()
    (kept,) = await bot.app.store.ratings(line.id)
    assert (kept.helpful, kept.reason) == (False, "It names no number.")


async def test_the_context_menu_opens_a_modal_about_the_message(bot: SimulatedBot) -> None:
    said = await bot.ben.send(bot.channel, "We could use Kafka for it.")
    shown = await bot.ada.context_menu(bot.channel, "Ask the council", said)

    filled = {"question": "Is that wise?", "context": "We could use Kafka for it."}
    sent = await bot.ada.submit_modal(shown, filled)

    assert "Asking " in await bot.wait_for_reply(sent)
    (root,) = bot.answers()
    assert "Is that wise?" in words_in(root)


async def test_a_mention_and_a_reply_to_the_answer_are_questions(bot: SimulatedBot) -> None:
    me = bot.env.bot.user
    assert me
    await bot.ada.send(bot.channel, f"{me.mention} Which queue?")
    await bot.env.advance_time(HOUR_SECONDS)

    (root,) = bot.answers()
    assert "Which queue?" in words_in(root)


async def test_run_again_asks_for_confirmation_and_no_calls_no_model(bot: SimulatedBot) -> None:
    root = await bot.ask()
    result = await bot.click(bot.ben, root, "again")
    assert "It costs nothing" in await bot.wait_for_reply(result)
    assert result.response

    await bot.click(bot.ben, result.response.message, "no_again")

    assert texts(result.response.components) == ["-# Nothing was asked."]
    assert bot.answers() == [root]


async def test_buttons_confirmations_and_modals_survive_a_restart(bot: SimulatedBot) -> None:
    root = await bot.ask()
    result = await bot.click(bot.ben, root, "again")
    await bot.wait_for_reply(result)
    assert result.response

    modal = await bot.click(bot.ben, root, "unhelpful")

    await bot.restart()

    sent = await bot.ben.submit_modal(modal, {"reason": "No."})
    assert "Noted, thank you." in await bot.wait_for_reply(sent)
    assert "Response " in await bot.press(bot.ben, root, "answers")
    assert "Asking " in await bot.press(bot.ben, result.response.message, "yes_again")
    assert len(bot.answers()) == 2


@pytest.mark.parametrize("permission", ["view_channel", "send_messages"])
async def test_missing_permissions_are_named_to_the_asker(
    bot: SimulatedBot, permission: str
) -> None:
    me, deny = bot.env.bot.user, discord.PermissionOverwrite(**{permission: False})
    assert me
    bot.channel = bot.guild.create_text_channel("closed", overwrites={me: deny})

    reply = await bot.run(bot.ada, "ask", question="Which queue?")

    assert f"I need {permission.replace('_', ' ').title()}" in reply
    assert await bot.app.store.ids() == ()


async def test_only_the_configured_roles_may_ask(bot: SimulatedBot) -> None:
    readers = bot.guild.create_role("readers")
    dora = bot.guild.add_member(bot.env.create_user("Dora"), roles=[readers])
    bot.app.access = Access(roles=(str(readers.id),))

    reply = await bot.run(bot.ada, "ask", question="Which queue?")

    assert "open to certain roles, and you have none of them" in reply
    assert "Asking " in await bot.run(dora, "ask", question="Which queue?")


async def test_a_channel_that_is_not_open_takes_no_question_and_shows_no_round(
    bot: SimulatedBot,
) -> None:
    await bot.ask()
    bot.app.access = Access(channels=(str(bot.channel.id),))
    bot.channel = bot.guild.create_text_channel("other")

    for private in (False, True):
        reply = await bot.run(bot.ada, "ask", question="Why?", private=private)
        assert "not open in this channel" in reply
    assert "not open in this channel" in await bot.run(bot.ada, "show", round="last")
    assert "see the panels" in await bot.run(bot.ada, "help")
    assert not await bot.ada.autocomplete(bot.channel, "council show", "round", "")


async def test_a_channel_limited_to_one_vendor_refuses_other_panels(bot: SimulatedBot) -> None:
    bot.app.access = Access(rules={str(bot.channel.id): ChannelRules(vendors=("openai",))})

    for private in (False, True):
        reply = await bot.run(bot.ada, "ask", question="Which?", private=private)
        assert "Only models of openai may be used in this channel" in reply
    assert not await bot.ada.autocomplete(bot.channel, "council ask", "panel", "")


async def test_an_event_after_closing_is_not_dispatched() -> None:
    # The library says that it is ready some time after the last guild, whatever happened meanwhile.
    async with make_client(an_app(), []) as client:
        pass

    client.dispatch("ready")

    assert client.is_closed()
