"""Suites, bake-offs and schedules are exported too, and start nothing when imported."""

import json

from bot.bakeoffs.exports import IMPORTED_UNFINISHED
from bot.cli.verify import NO_ROUND
from council.bakeoffs.ports import BakeoffStores
from tests.bot.bakeoffs.cli.stored_examples import ENDED, one_of_each, use_stores
from tests.bot.cli.test_data_export import exported
from tests.bot.homes import Home
from tests.builders import ASKED_AT
from tests.council.bakeoffs.builders import a_schedule
from tests.storage.bakeoffs.benches import SUITE, a_bakeoff, suite_of


def test_bakeoff_data_is_imported_once(stored_round: tuple[Home, str], other_home: Home) -> None:
    home, round_id = stored_round
    use_stores(home, one_of_each)
    path = home.folder / "all.jsonl"
    exported = home.invoke("export", "--to", str(path))

    first, second = other_home.invoke("import", str(path)), other_home.invoke("import", str(path))

    counts = "1 round, 2 versions of a suite, 1 bake-off and 1 schedule"
    assert exported.out == f"{counts} written to {path}.\n"
    assert first.out == f"{counts} imported, 0 already here.\n"
    assert second.out == "0 rounds imported, 5 already here.\n"

    async def same(bench: BakeoffStores) -> None:
        assert await bench.bakeoffs.list_recent() == (ENDED,)
        assert await bench.suites.load(SUITE.scope, "sql") == SUITE
        assert len(await bench.suites.versions(SUITE.scope, "sql")) == 2
        assert await bench.schedules.list_all() == (a_schedule(paused=True),)

    use_stores(other_home, same)
    assert other_home.invoke("verify", str(path)).code == 0
    assert other_home.invoke("verify", round_id).code == 0


def test_what_is_imported_spends_nothing_by_itself(home: Home, other_home: Home) -> None:
    async def unfinished(bench: BakeoffStores) -> None:
        await bench.bakeoffs.open(a_bakeoff())
        await bench.schedules.save(a_schedule())

    use_stores(home, unfinished)
    path = home.folder / "all.jsonl"
    home.invoke("export", "--to", str(path))

    other_home.invoke("import", str(path))

    async def stopped(bench: BakeoffStores) -> None:
        [bakeoff] = await bench.bakeoffs.list_recent()
        [schedule] = await bench.schedules.list_all()
        assert bakeoff.ending
        assert bakeoff.ending.failure == IMPORTED_UNFINISHED
        assert schedule.paused

    use_stores(other_home, stopped)


def test_an_import_replaces_no_suite_and_no_schedule(home: Home, other_home: Home) -> None:
    use_stores(home, one_of_each)
    path = home.folder / "all.jsonl"
    home.invoke("export", "--to", str(path))
    own, taken = suite_of("Mine?"), a_schedule("own")

    async def of_their_own(bench: BakeoffStores) -> None:
        await bench.suites.save(own, "U2", ASKED_AT)
        await bench.schedules.save(taken)

    use_stores(other_home, of_their_own)
    result = other_home.invoke("import", str(path))

    async def as_before(bench: BakeoffStores) -> None:
        assert await bench.suites.load(own.scope, "sql") == own
        assert await bench.schedules.list_all() == (taken,)

    use_stores(other_home, as_before)
    assert (result.code, result.lines) == (
        1,
        ["Schedule 'weekly': there is already another one with this name."],
    )


def test_only_bakeoffs_since_a_day_are_exported(home: Home) -> None:
    use_stores(home, one_of_each)
    path = home.folder / "all.jsonl"

    home.invoke("export", "--since", "2030-01-01", "--to", str(path))

    lines = path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["suite", "suite", "schedule"]
    verified = home.invoke("verify", str(path))
    assert (verified.code, verified.out) == (0, f"{NO_ROUND}\n")


def test_a_forgotten_round_is_on_the_leaderboard_where_it_is_imported(
    stored_round: tuple[Home, str], other_home: Home
) -> None:
    home, round_id = stored_round
    home.invoke("forget", round_id, "--yes")
    before = home.invoke("leaderboard", "--json").json["rows"]

    assert other_home.invoke("import", str(exported(home))).code == 0

    after = other_home.invoke("leaderboard", "--json").json["rows"]
    assert [(row["member"], row["share"], row["rounds"]) for row in after] == [
        (row["member"], row["share"], row["rounds"]) for row in before
    ]
    assert after
    assert "match the 1 round" in other_home.invoke("verify", "--all").out
