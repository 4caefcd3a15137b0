"""A short soak; `make soak` runs a long one."""

from pathlib import Path

from tests.bot.homes import Home
from tests.soak.ports import free_port
from tests.soak.soak import soak


async def test_kills_lose_nothing_and_cost_nothing_twice(tmp_path: Path) -> None:
    home = Home(tmp_path, {"COUNCIL_PORT": str(free_port())})

    count = await soak(home, kills=5, rounds=8, at_once=1, seed=5)

    assert len(count.kills) == 5
    assert count.rounds >= 8
    assert (count.unfinished, count.repaid) == (0, [])
    assert count.answers_shown == count.rounds
