"""A round in Discord, from the command to the thread that reveals."""

from pathlib import Path

from tests.bot.discord.serving import serving
from tests.wire.discord import FakeDiscord


async def test_a_question_becomes_an_answer_and_a_thread_that_reveals(tmp_path: Path) -> None:
    async with FakeDiscord() as discord, serving(tmp_path, discord) as bot:
        deed = await discord.slash("U1", "C1", "council ask", question="Which queue?")
        root = await bot.answered("C1")
        thread = await bot.told(root)

    assert deed.accepted
    assert "Asking North, South, East and West" in str(discord.ephemerals("U1")[-1].components)
    assert "Which queue?" in str(root.components)
    titles = [str(message.components)[:90] for message in thread]
    assert "Who wrote what" in titles[0]
    assert "Ballots" in titles[1]
    assert sum("Response " in title for title in titles) == 4
    assert (discord.pings(), discord.faults) == ([], [])
