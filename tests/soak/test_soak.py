"""A short soak, and a longer one at night; `make soak` runs a long one."""

from pathlib import Path

import pytest

from tests.bot.homes import Home
from tests.ports import free_port
from tests.soak.soak import soak

BUSY_SECONDS = 1.0  # how long other tests may delay a save; `make soak` allows less


@pytest.mark.parametrize(("kills", "rounds"), [pytest.param(5, 8, marks=pytest.mark.nightly)])
async def test_kills_lose_nothing_and_cost_nothing_twice(
    tmp_path: Path, kills: int, rounds: int
) -> None:
    home = Home(tmp_path, {"COUNCIL_PORT": str(free_port())})

    count = await soak(home, kills, rounds, at_once=1, seed=5)

    assert len(count.kills) == kills
    assert count.rounds >= rounds
    assert (count.unfinished, [age for age in count.repaid if age > BUSY_SECONDS]) == (0, [])
    assert count.answers_shown == count.rounds
