"""Process: the product is killed or stopped at any moment, and resumes where it was."""

import asyncio
import signal
from pathlib import Path

import pytest

from tests.bot.discord.process import TIMEOUT_SECONDS, run_process
from tests.bot.discord.story import QUICK, custom_id_of
from tests.bot.homes import Home
from tests.soak.discord import soak
from tests.wire.discord import FakeDiscord, Slow


@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.nightly)])
async def test_a_kill_neither_loses_nor_repeats_messages(tmp_path: Path, kills: int) -> None:
    count = await soak(Home(tmp_path), kills=kills, at_once=2, seed=3, life=1.2)

    assert len(count.kills) == kills
    assert count.asked == count.rounds == count.roots == count.answers == count.lasts
    assert count.wrong == 0, str(count)


@pytest.mark.nightly
async def test_a_stop_during_delivery_is_clean_and_the_next_start_resumes(tmp_path: Path) -> None:
    posts = "POST /channels/*/messages"
    async with FakeDiscord(QUICK) as discord:
        async with run_process(tmp_path, discord, fresh=True) as bot:
            discord.trouble(posts, Slow(0), times=2)  # the root and the results
            discord.trouble(posts, Slow(5.0))  # done, but who asked never hears it
            await discord.slash("U1", "C1", "council ask", question="Which queue?")
            await discord.until(lambda: len(discord.called(posts)) > 2)
            bot.process.send_signal(signal.SIGTERM)

            assert await asyncio.wait_for(bot.process.wait(), TIMEOUT_SECONDS) == 0
        async with run_process(tmp_path, discord, fresh=True) as bot:
            root = await bot.answered("C1")
            thread = await bot.wait_for_thread(root)
            result = await discord.click(root, custom_id_of(root, "answers"), "U2")

        marks = [message.components[0]["id"] for message in thread]
        assert len(marks) == len(set(marks)) == 2
        assert discord.said_by_bot("C1") == [root]
        assert result.accepted
        assert discord.faults == []
