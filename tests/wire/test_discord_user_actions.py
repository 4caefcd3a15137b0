"""The fake Discord against a stock bot: buttons, modals, menus, autocomplete, messages."""

from collections.abc import AsyncIterator
from typing import Any

import discord
import pytest
from discord import app_commands

from tests.wire.discord import FakeDiscord, Installation, Message, Permission
from tests.wire.discord_bot import Bot, Interaction, council, judged, running


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with judged() as discord_:
        yield discord_


class Why(discord.ui.Modal, title="Why?"):
    """A modal with a text and a choice."""

    reason: discord.ui.Label[Any] = discord.ui.Label(
        text="Reason", component=discord.ui.TextInput(custom_id="reason", max_length=20)
    )
    depth: discord.ui.Label[Any] = discord.ui.Label(
        text="Depth",
        component=discord.ui.Select(
            custom_id="depth", options=[discord.SelectOption(label="Deep", value="deep")]
        ),
    )

    async def on_submit(self, interaction: Interaction) -> None:
        text, depth = self.reason.component, self.depth.component
        assert isinstance(text, discord.ui.TextInput)
        assert isinstance(depth, discord.ui.Select)
        await interaction.response.send_message(f"{text.value} {depth.values[0]}", ephemeral=True)


class Buttons(discord.ui.View):
    """Two buttons and a select under a message, alive after a restart."""

    def __init__(self) -> None:
        super().__init__(timeout=None)

    @discord.ui.button(label="Ballots", custom_id="ballots")
    async def ballots(self, interaction: Interaction, _: Any) -> None:  # noqa: ANN401
        await interaction.response.send_message("B > A", ephemeral=True)

    @discord.ui.button(label="Why", custom_id="why")
    async def why(self, interaction: Interaction, _: Any) -> None:  # noqa: ANN401
        await interaction.response.send_modal(Why())

    @discord.ui.select(
        custom_id="pick", options=[discord.SelectOption(label=name) for name in "AB"]
    )
    async def pick(self, interaction: Interaction, select: Any) -> None:  # noqa: ANN401
        await interaction.response.edit_message(content=f"Picked {select.values[0]}")


async def show_buttons(interaction: Interaction) -> None:
    await interaction.response.send_message("Look", view=Buttons())


async def asked(fake: FakeDiscord) -> Message:
    result = await fake.slash("U1", "C1", "council ask", question="Why?")
    assert result.message
    return result.message


def a_bot() -> Bot:
    bot = Bot()
    bot.tree.add_command(council(show_buttons))
    return bot


async def test_a_button_reply_is_ephemeral(fake: FakeDiscord) -> None:
    async with running(fake, a_bot()):
        message = await asked(fake)
        result = await fake.click(message, "ballots", "U2")

    assert result.answer == 4
    assert [one.content for one in fake.ephemerals("U2")] == ["B > A"]
    assert fake.ephemerals("U1") == []
    assert fake.messages("C1") == [message]


async def test_a_select_changes_its_message(fake: FakeDiscord) -> None:
    async with running(fake, a_bot()):
        message = await asked(fake)
        result = await fake.click(message, "pick", "U1", "B")

    assert result.answer == 7
    assert message.content == "Picked B"
    with pytest.raises(AssertionError, match="not among"):
        await fake.click(message, "pick", "U1", "C")


async def test_a_modal_is_filled_in_by_label_or_by_custom_id(fake: FakeDiscord) -> None:
    async with running(fake, a_bot()):
        message = await asked(fake)
        result = await fake.click(message, "why", "U1")
        assert result.modal
        with pytest.raises(AssertionError, match="longer than 20"):
            await fake.submit(result.modal, {"reason": "x" * 21, "Depth": ["deep"]}, "U1")
        await fake.submit(result.modal, {"reason": "because", "Depth": ["deep"]}, "U1")

    assert [one.content for one in fake.ephemerals("U1")] == ["because deep"]
    assert fake.modals("U1") == []


async def test_an_old_button_answers_after_a_restart(fake: FakeDiscord) -> None:
    async with running(fake, a_bot()):
        message = await asked(fake)
    restarted = Bot()
    restarted.add_view(Buttons())
    async with running(fake, restarted, sync=False):
        result = await fake.click(message, "ballots", "U1")

    assert result.accepted
    assert fake.gateway.sessions == 2


async def test_a_click_while_the_bot_is_offline_fails(fake: FakeDiscord) -> None:
    async with running(fake, a_bot()):
        message = await asked(fake)
    result = await fake.click(message, "ballots", "U1")

    assert not result.accepted
    assert fake.faults[0].what == "This interaction failed"


async def test_a_message_menu_hands_over_the_message(fake: FakeDiscord) -> None:
    bot = Bot()

    @bot.tree.context_menu(name="Ask the council")
    async def ask(interaction: Interaction, message: discord.Message) -> None:
        await interaction.response.send_message(f"You asked {message.content!r}", ephemeral=True)

    async with running(fake, bot):
        said = fake.message("U2", "C1", "Is it so?")
        await fake.context_menu("U1", said, "Ask the council")

    assert fake.ephemerals("U1")[0].content == "You asked 'Is it so?'"


async def test_autocomplete_suggests_while_typing(fake: FakeDiscord) -> None:
    bot = Bot()

    @bot.tree.command(name="show", description="Show")
    async def show(interaction: Interaction, round_: str) -> None:
        await interaction.response.send_message(round_)

    @show.autocomplete("round_")
    async def rounds(_: Interaction, current: str) -> list[app_commands.Choice[str]]:
        return [app_commands.Choice(name=f"Round {current}", value=current)]

    async with running(fake, bot):
        result = await fake.autocomplete("U1", "C1", "show", "round_", round_="7")

    assert result.choices == ["Round 7"]


async def test_a_stranger_sees_no_command_of_another_guild(fake: FakeDiscord) -> None:
    bot = Bot()

    @bot.tree.command(name="forget", description="Forget")
    @app_commands.default_permissions(manage_guild=True)
    async def forget(interaction: Interaction) -> None:
        await interaction.response.send_message("Forgotten")

    async with running(fake, bot):
        with pytest.raises(AssertionError, match="is not in general"):
            await fake.slash("USTRANGER", "C1", "forget")
        with pytest.raises(AssertionError, match="may not use forget"):
            await fake.slash("U1", "C1", "forget")
        result = await fake.slash("UADMIN", "C1", "forget")

    assert result.accepted


async def test_a_command_in_a_direct_conversation(fake: FakeDiscord) -> None:
    async with running(fake, a_bot()):
        said = fake.direct_message("U1", "Hello?")
        result = await fake.slash("U1", said.channel, "council ask", question="Why?")

    assert result.sent["context"] == 1
    assert "guild_id" not in result.sent
    assert [one.content for one in fake.direct("U1")] == ["Hello?", "Look"]


async def test_message_content_requires_a_mention_or_the_intent(fake: FakeDiscord) -> None:
    bot = Bot()
    async with running(fake, bot):
        fake.message("U1", "C1", "To nobody")
        mine = await bot.get_partial_messageable(int(fake.channel("C1").id)).send("Mine")
        said = fake.channel("C1").find(str(mine.id))
        fake.message("U1", "C1", f"{fake.bot.mention} to you")
        fake.message("U1", "C1", "A reply", reference=said)
        fake.direct_message("U1", "Between us")
        fake.message("U1", "C2", f"{fake.bot.mention} unseen")
        await fake.until(lambda: len(bot.received) == 5)

    heard = [message.content for message in bot.received]
    assert heard == ["", "Mine", f"{fake.bot.mention} to you", "A reply", "Between us"]


async def test_the_content_intent_shows_all_words() -> None:
    intents = discord.Intents(guilds=True, messages=True, message_content=True)
    async with (
        judged(app=Installation(privileged=1 << 15)) as fake,
        running(fake, bot := Bot(intents)),
    ):
        fake.message("U1", "C1", "To nobody")
        await fake.until(lambda: bot.received)

        assert bot.received[0].content == "To nobody"


async def test_a_user_installed_app_answers_without_the_bot(fake: FakeDiscord) -> None:
    bot = Bot()

    @bot.tree.command(name="ask", description="Ask")
    @app_commands.allowed_installs(guilds=True, users=True)
    async def ask(interaction: Interaction) -> None:
        await interaction.response.send_message("Here")
        for number in range(6):
            await interaction.followup.send(str(number))

    async with running(fake, bot):
        await fake.slash("U1", "E1", "ask")
        await fake.until(lambda: bot.errors)

    assert isinstance(bot.errors[0], discord.HTTPException)
    assert bot.errors[0].code == 40094
    assert len(fake.messages("E1")) == 6
    assert not fake.state.held(fake.channel("E1")) & Permission.VIEW_CHANNEL
