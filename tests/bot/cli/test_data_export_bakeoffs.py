"""Suites, bake-offs and schedules go along with an export, and start nothing where they come in."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from council.bakeoffs.models import Ending
from council.bakeoffs.ports import BakeoffStores
from storage.engine import open_engine
from storage.migrate import upgrade
from tests.bot.homes import Home, scripted_config
from tests.builders import ASKED_AT, a_schedule
from tests.storage.benches import SUITE, a_bakeoff, sql_bakeoff_stores, suite_of

ENDED = a_bakeoff("bo:ended", ending=Ending(ASKED_AT))


def benched(home: Home, act: Callable[[BakeoffStores], Awaitable[None]]) -> None:
    """Use the stores of bake-offs while no program runs."""

    async def acting() -> None:
        engine = open_engine(f"sqlite+aiosqlite:///{home.database}")
        await upgrade(engine)
        await act(sql_bakeoff_stores(engine))
        await engine.dispose()

    asyncio.run(acting())


async def one_of_each(bench: BakeoffStores) -> None:
    await bench.suites.save(suite_of("Before?"), "U1", ASKED_AT)
    await bench.suites.save(SUITE, "U1", ASKED_AT)
    await bench.bakeoffs.open(ENDED)
    await bench.schedules.save(a_schedule())


def another(tmp_path: Path) -> Home:
    home = Home(tmp_path / "other")
    home.folder.mkdir()
    return home.with_config(scripted_config())


def kinds(home: Home) -> list[str]:
    lines = home.invoke("export").out.splitlines()
    return [json.loads(line).get("kind", "round") for line in lines]


def test_all_of_it_goes_along_and_says_how_much(held: tuple[Home, str]) -> None:
    home, _ = held
    benched(home, one_of_each)

    ran = home.invoke("export", "--to", str(home.folder / "all.jsonl"))

    assert ran.out == (
        "1 round, 2 versions of a suite, 1 bake-off and 1 schedule written to "
        f"{home.folder / 'all.jsonl'}.\n"
    )
    assert kinds(home) == ["suite", "suite", "schedule", "bakeoff", "round"]


def test_it_comes_in_elsewhere_once(held: tuple[Home, str], tmp_path: Path) -> None:
    home, round_id = held
    benched(home, one_of_each)
    path = home.folder / "all.jsonl"
    home.invoke("export", "--to", str(path))
    other = another(tmp_path)

    first, second = other.invoke("import", str(path)), other.invoke("import", str(path))

    assert first.out == (
        "1 round, 2 versions of a suite, 1 bake-off and 1 schedule taken in, 0 there already.\n"
    )
    assert second.out == "0 rounds taken in, 5 there already.\n"

    async def same(bench: BakeoffStores) -> None:
        assert await bench.bakeoffs.list_recent() == (ENDED,)
        assert await bench.suites.load(SUITE.scope, "sql") == SUITE
        assert len(await bench.suites.versions(SUITE.scope, "sql")) == 2
        assert await bench.schedules.list_all() == (a_schedule(paused=True),)

    benched(other, same)
    assert other.invoke("verify", "--from", str(path)).code == 0
    assert other.invoke("verify", round_id).code == 0


def test_what_comes_in_spends_nothing_by_itself(home: Home, tmp_path: Path) -> None:
    async def unfinished(bench: BakeoffStores) -> None:
        await bench.bakeoffs.open(a_bakeoff())
        await bench.schedules.save(a_schedule())

    home.invoke("rounds")
    benched(home, unfinished)
    path = home.folder / "all.jsonl"
    home.invoke("export", "--to", str(path))
    other = another(tmp_path)

    other.invoke("import", str(path))

    async def stopped(bench: BakeoffStores) -> None:
        [bakeoff] = await bench.bakeoffs.list_recent()
        [schedule] = await bench.schedules.list_all()
        assert bakeoff.ending
        assert "before its end" in (bakeoff.ending.failure or "")
        assert schedule.paused

    benched(other, stopped)


def test_suites_and_schedules_that_are_there_are_left_as_they_are(
    home: Home, tmp_path: Path
) -> None:
    home.invoke("rounds")
    benched(home, one_of_each)
    path = home.folder / "all.jsonl"
    home.invoke("export", "--to", str(path))
    other = another(tmp_path)
    other.invoke("rounds")
    own, taken = suite_of("Mine?"), a_schedule("own")

    async def of_their_own(bench: BakeoffStores) -> None:
        await bench.suites.save(own, "U2", ASKED_AT)
        await bench.schedules.save(taken)

    benched(other, of_their_own)
    ran = other.invoke("import", str(path))

    async def as_before(bench: BakeoffStores) -> None:
        assert await bench.suites.load(own.scope, "sql") == own
        assert await bench.schedules.list_all() == (taken,)

    benched(other, as_before)
    assert (ran.code, ran.lines) == (
        1,
        ["Schedule 'weekly': there is another of this name already."],
    )


def test_an_export_without_rounds_has_none_to_verify(home: Home) -> None:
    home.invoke("rounds")
    benched(home, one_of_each)
    path = home.folder / "all.jsonl"
    home.invoke("export", "--to", str(path))

    ran = home.invoke("verify", "--from", str(path))

    assert (ran.code, ran.out) == (0, "No round is stored.\n")


def test_bakeoffs_since_a_day_are_written(home: Home) -> None:
    home.invoke("rounds")
    benched(home, one_of_each)

    later = home.invoke("export", "--since", "2030-01-01").out.splitlines()

    assert [json.loads(line)["kind"] for line in later] == ["suite", "suite", "schedule"]
