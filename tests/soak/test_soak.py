"""A short soak, and a longer one at night; `make soak` runs a long one."""

from pathlib import Path

import pytest

from tests.bot.homes import Home
from tests.ports import free_port
from tests.soak.soak import Count, soak

BUSY_SECONDS = 1.0  # how long other tests may delay a save; `make soak` allows less


METHODS = ("blind-ranking", "multiple-evidence", "solve-first", "grading", "worst-first")
STEPPED = ("critique", "peer-review", "pairwise-elimination", "peer-discussion")


def test_percentiles_are_those_of_the_nearest_rank() -> None:
    ages = [number / 1000 for number in range(1, 21)]
    table = dict(line.rsplit(maxsplit=1) for line in str(Count(ages=ages)).splitlines())

    found = [table[f"arrived before the kill, in ms, {share} %"] for share in (50, 90, 95, 100)]
    assert found == ["10", "18", "19", "20"]
    assert "arrived before the kill, in ms, 50 %                     -" in str(Count())


@pytest.mark.nightly
@pytest.mark.parametrize("method", [*METHODS, *STEPPED])
async def test_kills_lose_nothing_and_cost_nothing_twice(tmp_path: Path, method: str) -> None:
    home = Home(tmp_path, {"COUNCIL_PORT": str(free_port())})

    count = await soak(home, kills=5, rounds=8, method=method)

    assert len(count.kills) == 5
    assert count.rounds >= 8
    assert count.verified == count.rounds
    assert (count.unfinished, [age for age in count.repaid if age > BUSY_SECONDS]) == (0, [])
    assert count.answers_shown == count.rounds
