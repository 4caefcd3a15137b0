"""Limits of askers and workspaces hold across processes."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.access import Access, RoundLimitError
from bot.admission import admit_round, readmit_round
from bot.context import AppContext
from council.places import Place
from council.rounds import Question, Round
from tests.bot.processes import apps_on
from tests.builders import a_round

HERE = Place("slack", "T1", "C1")


def asked(app: AppContext, key: str, by: str = "U1") -> Round:
    round_ = a_round(question=Question("Why?", by, place=HERE))
    return replace(round_, id=key, asked_at=app.now())


async def open_all(apps: list[AppContext], rounds: int, by: str = "U1") -> list[object]:
    """Ask so many at once, at all processes in turn; return the result of each."""
    asking = (
        admit_round(app, asked(app, f"r{number}", by or f"U{number}"))
        for number, app in enumerate(apps * (rounds // len(apps)))
    )
    return await asyncio.gather(*asking, return_exceptions=True)


async def test_of_one_askers_questions_as_many_come_in_as_may_in_an_hour(
    migrated_url: str,
) -> None:
    async with apps_on(migrated_url, Access(rounds_per_hour=4)) as apps:
        found = await open_all(apps, 12)

    assert found.count(True) == 4
    assert sum(isinstance(one, RoundLimitError) for one in found) == 8


async def test_a_workspace_runs_only_as_many_rounds_as_allowed(migrated_url: str) -> None:
    async with apps_on(migrated_url, Access(rounds_at_once=2)) as apps:
        found = await open_all(apps, 12, by="")

    assert found.count(True) == 2
    assert sum(isinstance(one, RoundLimitError) for one in found) == 10


async def test_a_resumed_round_counts_in_every_process(migrated_url: str) -> None:
    async with apps_on(migrated_url, Access(rounds_at_once=1)) as apps:
        first, second, _ = apps
        round_ = asked(first, "r1")
        await first.store.open(round_)
        await first.store.pause("r1", paused=True)
        await readmit_round(first, round_)

        [refused] = await asyncio.gather(
            admit_round(second, asked(second, "r2")), return_exceptions=True
        )

    assert isinstance(refused, RoundLimitError)


@pytest.mark.parametrize("each", [34, pytest.param(334, marks=pytest.mark.nightly)])
async def test_repeated_deliveries_of_one_event_make_one_round(
    migrated_url: str, each: int
) -> None:
    async with apps_on(migrated_url) as apps:
        event = asked(apps[0], "slack:T1:C1:1700000000.0001")

        # Each delivery draws its own seed, by which a retried write knows its own round.
        deliveries = (
            admit_round(app, replace(event, seed=f"{n}")) for n in range(each) for app in apps
        )
        found = await asyncio.gather(*deliveries)

        assert found.count(True) == 1
        assert len(await apps[0].store.ids()) == 1


async def test_an_hour_of_one_asker_is_as_long_at_every_process(migrated_url: str) -> None:
    apart = (60.0, 0.0, -60.0)
    async with apps_on(migrated_url, Access(rounds_per_hour=1), ahead_seconds=apart) as apps:
        ahead, right, behind = apps
        old = replace(asked(ahead, "r1"), asked_at=ahead.now() - timedelta(minutes=59, seconds=30))
        await ahead.store.open(old)
        found = await asyncio.gather(
            *(admit_round(app, asked(app, f"r{n}")) for n, app in enumerate((right, behind), 2)),
            return_exceptions=True,
        )

    assert [type(one) for one in found] == [RoundLimitError] * 2
