"""The fake Discord against a stock discord.py bot: a whole round, from login to its thread."""

import asyncio
import io
from collections.abc import AsyncIterator

import discord
import pytest

from tests.wire.discord import FakeDiscord, Upload
from tests.wire.discord.openapi_check import Referee
from tests.wire.discord_bot import Bot, Interaction, council, judged, running


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with judged() as discord_:
        yield discord_


class Answer(discord.ui.LayoutView):
    """An answer of the new kind, with a button."""

    def __init__(self) -> None:
        super().__init__(timeout=None)
        box: discord.ui.Container[Answer] = discord.ui.Container(accent_color=0x00FF00)
        box.add_item(discord.ui.TextDisplay("## Because of Rayleigh"))
        box.add_item(discord.ui.Separator())
        box.add_item(discord.ui.File("attachment://table.txt"))
        row: discord.ui.ActionRow[Answer] = discord.ui.ActionRow()
        row.add_item(discord.ui.Button(label="Ballots", custom_id="council:ballots:7"))
        self.add_item(box)
        self.add_item(row)


async def a_round(interaction: Interaction) -> None:
    await interaction.response.defer(thinking=True)
    await interaction.edit_original_response(content="Stage 1: 1 of 3")
    attachment = interaction.extras["attachment"]
    table = discord.File(io.BytesIO(await attachment.read()), "table.txt")
    answer = await interaction.edit_original_response(
        content=None, view=Answer(), attachments=[table]
    )
    await interaction.followup.send("A followup", ephemeral=True)
    found = interaction.client.get_partial_messageable(
        answer.channel.id, guild_id=interaction.guild_id
    )
    thread = await found.get_partial_message(answer.id).create_thread(name="Round 7")
    await thread.send("Response A", embed=discord.Embed(title="A", description="Blue scatters."))
    await thread.send("All of it", file=discord.File(io.BytesIO(b"# Round 7"), "round.md"))


async def test_a_round_from_question_to_thread(fake: FakeDiscord) -> None:
    bot = Bot()
    bot.tree.add_command(council(a_round))
    async with running(fake, bot):
        text = Upload("q.txt", b"a | b", "text/plain")
        result = await fake.slash("U1", "C1", "council ask", question="Why?", attachment=text)
        assert result.accepted
        assert result.message
        message = result.message
        await fake.until(lambda: message.thread and len(fake.messages(message.thread)) == 2)

    assert result.answer == 5
    assert result.seconds < 0.5
    assert fake.messages("C1") == [message]
    assert "Rayleigh" in message.text
    assert message.file("table.txt").content == b"a | b"
    assert [one.content for one in fake.ephemerals("U1")] == ["A followup"]
    thread = fake.thread_of(message)
    assert thread.id == message.id
    assert fake.messages(thread)[1].file("round.md").content == b"# Round 7"
    assert bot.errors == []
    assert fake.refusals == []
    assert fake.pings() == []


async def with_a_file(interaction: Interaction) -> None:
    file = discord.File(io.BytesIO(b"all of it"), "round.md", description="The round")
    await interaction.response.send_message("Here", file=file, ephemeral=True)
    more = discord.File(io.BytesIO(b"more"), "more.md")
    shown = await interaction.original_response()
    await shown.edit(attachments=[*shown.attachments, more])


async def test_responses_and_their_edits_may_have_files(fake: FakeDiscord) -> None:
    bot = Bot()
    bot.tree.add_command(council(with_a_file))
    async with running(fake, bot):
        await fake.slash("U1", "C1", "council ask", question="Why?")
        (message,) = fake.ephemerals("U1")
        await fake.until(lambda: len(message.files) == 2 or bot.errors)

    assert bot.errors == []
    assert [file.content for file in message.files] == [b"all of it", b"more"]
    assert message.file("round.md").description == "The round"


async def test_a_silent_bot_fails_the_interaction(fake: FakeDiscord) -> None:
    bot = Bot()
    bot.tree.add_command(council(lambda _: asyncio.sleep(0)))
    async with running(fake, bot):
        result = await fake.slash("U1", "C1", "council ask", question="Why?")

    assert not result.accepted
    assert [fault.what for fault in fake.faults] == ["The application did not respond"]


def test_discords_own_document_is_at_hand() -> None:
    if Referee.at_hand() is None:
        pytest.skip("discord-openapi.json does not lie in ../shared/reference: nothing was judged")
