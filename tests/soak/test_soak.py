"""A short soak; `make soak` runs a long one."""

from pathlib import Path

from tests.bot.homes import Home
from tests.ports import free_port
from tests.soak.soak import soak

BUSY_SECONDS = 1.0  # what other tests beside it may hold a save up for; `make soak` allows less


async def test_kills_lose_nothing_and_cost_nothing_twice(tmp_path: Path) -> None:
    home = Home(tmp_path, {"COUNCIL_PORT": str(free_port())})

    count = await soak(home, kills=5, rounds=8, at_once=1, seed=5)

    assert len(count.kills) == 5
    assert count.rounds >= 8
    assert (count.unfinished, [age for age in count.repaid if age > BUSY_SECONDS]) == (0, [])
    assert count.answers_shown == count.rounds
