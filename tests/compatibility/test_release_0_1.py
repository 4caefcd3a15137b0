"""What release 0.1 wrote still works: its database, its export and its council.toml.

The files were written once, by that release, and are never written anew: see their README.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compatibility.product import DATA, Installed, installed

EXPECTED = DATA / "expected"
SHOWN = ("three", "five", "audited", "torn", "forgotten", "stopped")
IN_CHATS = ("slack_finished", "discord_finished")
BAKEOFF = "bo:24eadeeb21"


def expected(name: str) -> Any:  # noqa: ANN401 - a test knows the shape it asks for
    return json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Give a copy of the release's files that tests only read, once its database was upgraded."""
    home = installed(tmp_path_factory.mktemp("kept"))
    upgraded = home.council("db", "upgrade")
    assert upgraded.code == 0, upgraded.err
    return home


@pytest.fixture
def own(tmp_path: Path) -> Installed:
    """Give a copy of the release's files, to change."""
    return installed(tmp_path)


@pytest.fixture
def empty(tmp_path: Path) -> Installed:
    """Give the release's settings without its database."""
    return installed(tmp_path, database=False)


def test_stored_rounds_are_all_listed(kept: Installed) -> None:
    assert kept.council("rounds", "--json").json == expected("rounds")


@pytest.mark.parametrize("name", [*SHOWN, *IN_CHATS])
def test_a_stored_round_is_shown_as_it_was(kept: Installed, name: str) -> None:
    was = expected(name)

    assert kept.council("show", was["id"], "--json").json == was


def test_what_is_to_be_shown_is_there() -> None:
    # A file that was written anew without these would prove nothing.
    torn, audited, five = (expected(name) for name in ("torn", "audited", "five"))

    assert torn["absences"]
    assert torn["spoiled"]
    assert len(audited["ballots"]) == len(audited["answers"]) + 1
    assert len(five["ballots"]) == len(five["answers"]) + 1 == 6
    assert expected("stopped")["stage"] != "closed"
    assert expected("forgotten")["forgotten"]


def test_stored_rounds_and_chains_still_verify(kept: Installed) -> None:
    heads = (EXPECTED / "heads.txt").read_text(encoding="utf-8")
    since = [word for line in heads.splitlines() for word in ("--since-head", line.split()[-1])]

    ran = kept.council("verify", "--all", *since)

    assert ran.code == 0, ran.out
    closed = [line for line in expected("rounds") if line["stage"] == "closed"]
    told = " ".join(ran.out.split())  # it is wrapped
    recomputed = told.count("label map, slates and ballots are as recomputed")
    assert recomputed + told.count(": forgotten on") == len(closed) == 15
    assert told.count("is whole: ") == 3
    assert kept.council("verify", "--head").out == heads


def test_a_ranking_that_was_changed_is_still_found(own: Installed) -> None:
    ballot = "SELECT ranking FROM ballot WHERE round_id = ? AND judge = ?"
    key = (expected("three")["id"], "scripted/random-1")
    ((ranking,),) = own.sql(ballot, *key)
    turned = json.dumps(json.loads(ranking)[::-1])
    own.sql("UPDATE ballot SET ranking = ? WHERE round_id = ? AND judge = ?", turned, *key)

    assert own.council("verify", "--all").code != 0


def test_the_leaderboard_counts_every_stored_round(kept: Installed) -> None:
    rows = {row["member"]: row for row in kept.council("leaderboard", "--json").json["rows"]}

    assert {"north", "south", "east", "west", "middle", "muddled"} <= rows.keys()
    assert rows["scripted/random-2"]["rounds"] == 12
    assert rows["north"]["rounds"] == 1
    assert (rows["north"]["first_votes"], rows["north"]["ballots"]) == (3, 5)


def test_the_stored_bakeoff_has_its_result(kept: Installed) -> None:
    shown = kept.council("bakeoff", "show", BAKEOFF, "--json").json

    assert (shown["suite"], shown["panel"]) == ("kept", "house")
    assert (shown["questions"], shown["over"], shown["failed"]) == (2, 2, [])
    first = shown["rows"][0]
    assert (first["member"], first["first_votes"], first["ballots"]) == ("scripted/random-3", 4, 4)


def test_stored_schedules_and_suites_are_listed(kept: Installed) -> None:
    schedules = kept.council("schedule", "list", "--json").json
    suites = kept.council("suite", "list", "--json").json

    told = [(one["name"], one["suite"], one["words"], one["paused"]) for one in schedules]
    assert told == [
        ("nightly", "sql", "every day 03:00", True),
        ("weekly", "kept", "every monday 09:00", True),
    ]
    assert {one["name"]: one["questions"] for one in suites} == {"kept": 2, "law": 2, "sql": 2}


def test_a_stored_schedule_is_resumed(own: Installed) -> None:
    resumed = own.council("schedule", "resume", "weekly")

    assert resumed.code == 0, resumed.err
    listed = own.council("schedule", "list", "--json").json
    (weekly,) = [one for one in listed if one["name"] == "weekly"]
    assert (weekly["paused"], bool(weekly["next"]), weekly["fault"]) == (False, True, "")


def test_a_round_that_was_stopped_goes_on_to_its_end(own: Installed) -> None:
    stopped = expected("stopped")

    ended = own.council("ask", "--resume", stopped["id"], "--json").json

    assert (ended["id"], ended["stage"], ended["failure"]) == (stopped["id"], "closed", None)
    texts = {answer["member"]: answer["text"] for answer in ended["answers"]}
    assert len(texts) == 3
    # What had been answered is kept, and not asked for again.
    assert {
        answer["member"]: answer["text"] for answer in stopped["answers"]
    }.items() <= texts.items()
    assert own.council("verify", "--all").code == 0


def test_a_stored_round_can_be_forgotten_and_the_rest_verifies(own: Installed) -> None:
    was = expected("torn")

    assert own.council("forget", was["id"]).code == 0

    shown = own.council("show", was["id"], "--json").json
    assert (shown["question"], bool(shown["forgotten"])) == ("", True)
    assert shown["standings"] == was["standings"]
    assert own.council("verify", "--all").code == 0


def test_the_export_verifies_without_a_database(empty: Installed) -> None:
    ran = empty.council("verify", str(DATA / "export.jsonl"))

    assert ran.code == 0, ran.out
    assert ran.out.count("Round ") == len(expected("rounds"))


def test_the_export_is_taken_into_a_new_database_and_verifies_there(empty: Installed) -> None:
    taken = empty.council("import", str(DATA / "export.jsonl"))

    assert taken.code == 0, taken.err
    assert empty.council("rounds", "--json").json == expected("rounds")
    was = expected("five")
    assert empty.council("show", was["id"], "--json").json == was
    assert empty.council("verify", "--all").code == 0


def test_a_new_export_of_the_database_is_the_old_one(kept: Installed) -> None:
    # Whoever keeps exports compares them; and an older release may have to read them.
    old = (DATA / "export.jsonl").read_text(encoding="utf-8").splitlines()

    new = kept.council("export").out.splitlines()

    assert [json.loads(line) for line in new] == [json.loads(line) for line in old]


def test_the_settings_are_accepted_and_a_round_is_held_by_them(empty: Installed) -> None:
    held = empty.council("ask", "Is it still so?", "--json").json

    assert (held["panel"], held["stage"], held["failure"]) == ("house", "closed", None)
    assert empty.council("verify", held["id"]).code == 0
