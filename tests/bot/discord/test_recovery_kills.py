"""The product dies at any moment, and is stopped at any moment: it goes on where it was."""

import asyncio
import signal
from pathlib import Path

from tests.bot.discord.process import run_process
from tests.bot.discord.story import QUICK, custom_id_of
from tests.bot.homes import Home
from tests.soak.discord import soak
from tests.wire.discord import FakeDiscord, Slow


async def test_a_kill_neither_loses_nor_repeats_messages(tmp_path: Path) -> None:
    count = await soak(Home(tmp_path), kills=5, at_once=4, seed=3, life=1.2)

    assert len(count.kills) == 5
    assert count.asked == count.rounds == count.roots == count.answers == count.files
    assert count.wrong == 0, str(count)


async def test_a_stop_in_mid_delivery_is_clean_and_the_next_start_goes_on(tmp_path: Path) -> None:
    posts = "POST /channels/*/messages"
    async with FakeDiscord(QUICK) as discord:
        async with run_process(tmp_path, discord) as bot:
            discord.trouble(posts, Slow(0), times=2)  # the root, and a thread that is not there
            discord.trouble(posts, Slow(5.0))  # done, but who asked never hears it
            await discord.slash("U1", "C1", "council ask", question="Which queue?")
            await discord.until(lambda: len(discord.called(posts)) > 2)
            loop = asyncio.get_running_loop()
            began = loop.time()
            bot.process.send_signal(signal.SIGTERM)

            assert await bot.process.wait() == 0
            assert loop.time() - began < 8
        async with run_process(tmp_path, discord) as bot:
            root = await bot.answered("C1")
            thread = await bot.told(root)
            deed = await discord.click(root, custom_id_of(root, "answers"), "U2")

        marks = [message.components[0]["id"] for message in thread]
        assert len(marks) == len(set(marks)) == 7
        assert discord.said_by_bot("C1") == [root]
        assert deed.accepted
        assert discord.faults == []
