"""A press counts once, whichever processes hear it."""

import asyncio

from bot.commands.buttons import ActionDeduplicator
from tests.bot.cluster_fakes import processes


async def test_a_press_counts_once_however_many_processes_hear_it() -> None:
    _, apps = processes(3)
    done: list[int] = []

    async def press(number: int, *, everywhere: bool) -> bool:
        async def act() -> None:
            done.append(number)

        once = ActionDeduplicator(apps[number])
        return await once.do(("U1", "C1", "again", "r1"), act, everywhere=everywhere)

    heard = await asyncio.gather(*(press(number, everywhere=True) for number in range(3)))
    looked = [await press(number, everywhere=False) for number in range(3)]

    assert sorted(heard) == [False, False, True]
    assert looked == [True, True, True]
    assert len(done) == 4
