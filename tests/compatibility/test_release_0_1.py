"""What release 0.1 wrote still works: its database, its export and its council.toml.

The files were written once, by that release, and are never written anew: see their README.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.compatibility.product import (
    DATA,
    CommandRunner,
    Installation,
    command_runner,
    install,
)

EXPECTED = DATA / "expected"
ADDED_SINCE: dict[str, Any] = {
    "analysis": None,
    "late": [],
    "files": [],
    "exchanges": [],
    "weighted": None,
    "decisions": [],
    "earlier": [],
}
ADDED_TO: dict[str, dict[str, Any]] = {
    "answers": {"missed": [], "sources": [], "draft": None},
    "ballots": {"pass": 1, "grades": {}, "canary": None},
    "spoiled": {"pass": 1},
}
# Who wrote what, since people may vote without knowing it.
UNTIL_CLOSED: dict[str, Any] = {
    "seed": None,
    "answers": [],
    "ballots": [],
    "spoiled": [],
    "standings": [],
}
SHOWN = ("three", "five", "audited", "torn", "forgotten", "stopped")
IN_CHATS = ("slack_finished", "discord_finished")
BAKEOFF = "bo:24eadeeb21"


def expected(name: str) -> Any:  # noqa: ANN401 - a test knows the shape it asks for
    return json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def runner() -> Iterator[CommandRunner]:
    """Yield a process of the product that runs every command of this module."""
    with command_runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, runner: CommandRunner) -> Installation:
    """Return a copy of the release's files that tests only read, its database upgraded."""
    copy = replace(install(tmp_path_factory.mktemp("shared")), runner=runner)
    upgraded = copy.council("db", "upgrade")
    assert upgraded.code == 0, upgraded.err
    return copy


@pytest.fixture
def own(tmp_path: Path, runner: CommandRunner) -> Installation:
    """Return a copy of the release's files, to change."""
    return replace(install(tmp_path), runner=runner)


@pytest.fixture
def empty(tmp_path: Path, runner: CommandRunner) -> Installation:
    """Return the release's settings without its database."""
    return replace(install(tmp_path, database=False), runner=runner)


def test_stored_rounds_are_all_listed(shared: Installation) -> None:
    assert shared.council("rounds", "--json").json == expected("rounds")


@pytest.mark.parametrize("name", [*SHOWN, *IN_CHATS])
def test_a_stored_round_is_shown_as_it_was(shared: Installation, name: str) -> None:
    was = expected(name)

    assert shared.council("show", was["id"], "--json").json == as_shown_now(was)


def as_shown_now(was: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a round of that release, with what was added since."""
    parts = {name: [part | added for part in was[name]] for name, added in ADDED_TO.items()}
    hidden = {} if was["stage"] == "closed" else UNTIL_CLOSED
    return was | ADDED_SINCE | parts | hidden


def test_the_expected_rounds_cover_every_kind() -> None:
    # A new file without these would prove nothing.
    torn, audited, five = (expected(name) for name in ("torn", "audited", "five"))

    assert torn["absences"]
    assert torn["spoiled"]
    assert len(audited["ballots"]) == len(audited["answers"]) + 1
    assert len(five["ballots"]) == len(five["answers"]) + 1 == 6
    assert expected("stopped")["stage"] != "closed"
    assert expected("forgotten")["forgotten"]


def test_stored_rounds_and_chains_still_verify(shared: Installation) -> None:
    heads = (EXPECTED / "heads.txt").read_text(encoding="utf-8")
    since = [word for line in heads.splitlines() for word in ("--since-head", line.split()[-1])]

    ran = shared.council("verify", "--all", *since)

    assert ran.code == 0, ran.out
    closed = [line for line in expected("rounds") if line["stage"] == "closed"]
    report = " ".join(ran.out.split())  # it is wrapped
    recomputed = report.count(": verified: ")
    assert recomputed + report.count(": forgotten on") == len(closed) == 15
    assert report.count("is intact: ") == 3
    assert shared.council("verify", "--head").out == heads


def test_a_changed_ranking_is_still_found(own: Installation) -> None:
    ballot = "SELECT ranking FROM ballot WHERE round_id = ? AND judge = ?"
    key = (expected("three")["id"], "scripted/random-1")
    ((ranking,),) = own.sql(ballot, *key)
    turned = json.dumps(json.loads(ranking)[::-1])
    own.sql("UPDATE ballot SET ranking = ? WHERE round_id = ? AND judge = ?", turned, *key)

    assert own.council("verify", "--all").code != 0


def test_the_leaderboard_counts_every_stored_round(shared: Installation) -> None:
    rows = {row["member"]: row for row in shared.council("leaderboard", "--json").json["rows"]}

    assert {"north", "south", "east", "west", "middle", "muddled"} <= rows.keys()
    assert rows["scripted/random-2"]["rounds"] == 13  # also the one that was forgotten
    assert rows["north"]["rounds"] == 1
    assert (rows["north"]["first_votes"], rows["north"]["ballots"]) == (3, 5)


def test_the_stored_bakeoff_has_its_result(shared: Installation) -> None:
    shown = shared.council("bakeoff", "show", BAKEOFF, "--json").json

    assert (shown["suite"], shown["panel"]) == ("kept", "house")
    assert (shown["questions"], shown["over"], shown["failed"]) == (2, 2, [])
    first = shown["rows"][0]
    assert (first["member"], first["first_votes"], first["ballots"]) == ("scripted/random-3", 4, 4)


def test_stored_schedules_and_suites_are_listed(shared: Installation) -> None:
    schedules = shared.council("schedule", "list", "--json").json
    suites = shared.council("suite", "list", "--json").json

    shown = [(one["name"], one["suite"], one["words"], one["paused"]) for one in schedules]
    assert shown == [
        ("nightly", "sql", "every day 03:00", True),
        ("weekly", "kept", "every monday 09:00", True),
    ]
    assert {one["name"]: one["questions"] for one in suites} == {"kept": 2, "law": 2, "sql": 2}


def test_a_stored_schedule_is_resumed(own: Installation) -> None:
    resumed = own.council("schedule", "resume", "weekly")

    assert resumed.code == 0, resumed.err
    listed = own.council("schedule", "list", "--json").json
    (weekly,) = [one for one in listed if one["name"] == "weekly"]
    assert (weekly["paused"], bool(weekly["next"]), weekly["fault"]) == (False, True, "")


def test_a_stopped_round_can_be_resumed(own: Installation) -> None:
    stopped = expected("stopped")

    ended = own.council("ask", "--resume", stopped["id"], "--json").json

    assert (ended["id"], ended["stage"], ended["failure"]) == (stopped["id"], "closed", None)
    texts = {answer["member"]: answer["text"] for answer in ended["answers"]}
    assert len(texts) == 3
    # Earlier answers stay and are not requested again.
    assert {
        answer["member"]: answer["text"] for answer in stopped["answers"]
    }.items() <= texts.items()
    assert own.council("verify", "--all").code == 0


def test_a_stored_round_can_be_forgotten_and_the_rest_verifies(own: Installation) -> None:
    was = expected("torn")

    assert own.council("forget", "--yes", was["id"]).code == 0

    shown = own.council("show", was["id"], "--json").json
    assert (shown["question"], bool(shown["forgotten"])) == ("", True)
    assert shown["standings"] == was["standings"]
    assert own.council("verify", "--all").code == 0


def test_the_export_verifies_without_a_database(empty: Installation) -> None:
    ran = empty.council("verify", str(DATA / "export.jsonl"))

    assert ran.code == 0, ran.out
    assert ran.out.count("Round ") == len(expected("rounds"))


def test_the_export_can_be_imported_and_verifies(empty: Installation) -> None:
    imported = empty.council("import", str(DATA / "export.jsonl"))

    assert imported.code == 0, imported.err
    assert empty.council("rounds", "--json").json == expected("rounds")
    was = expected("five")
    assert empty.council("show", was["id"], "--json").json == as_shown_now(was)
    assert empty.council("verify", "--all").code == 0


def test_a_new_export_equals_the_old_one(shared: Installation) -> None:
    # People compare exports, and an older release may have to read them: it reports the lines of
    # kinds that it lacks, and passes over fields that it lacks.
    old = (DATA / "export.jsonl").read_text(encoding="utf-8").splitlines()

    new = [json.loads(line) for line in shared.council("export").out.splitlines()]

    since = {"setting", "spending", "bakeoffs.record", "bakeoffs.votes"}
    known = [line for line in new if line.get("kind") not in since]
    for line in known:
        line.pop("sent", None)
    assert known == [json.loads(line) for line in old]


def test_a_round_runs_with_the_settings(empty: Installation) -> None:
    ended = empty.council("ask", "Is it still so?", "--json").json

    assert (ended["panel"], ended["stage"], ended["failure"]) == ("house", "closed", None)
    assert empty.council("verify", ended["id"]).code == 0
