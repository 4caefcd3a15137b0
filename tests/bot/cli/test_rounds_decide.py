"""`council decide`: disputed points in the terminal, with the cost first, and as JSON."""

import json

import pytest

from tests.bot.homes import Home
from tests.disputes import BROKER, NO, OLD_TEXT, YES

MAP = {
    "drawn_on": [],
    "disputed": [
        {
            "point": BROKER,
            "positions": [{"labels": [*"KLMNOPQRSTUVWXYZ"], "says": says} for says in (YES, NO)],
        }
    ],
}
PANEL = """
default_panel = "house"
[panels.house]
members = ["scripted/yes.json", "scripted/no.json", "scripted/random"]
chairman = ["scripted/chair.json"]
"""


@pytest.fixture
def asked(home: Home) -> Home:
    """Return a home with a disputed round."""
    home.with_config(PANEL).with_tables()
    for name, says in (("yes", YES), ("no", NO)):
        script = {"answers": [f"{says}."], "ballots": [[["A"], ["B"]]] * 2}
        (home.folder / f"{name}.json").write_text(json.dumps(script))
    write_chairman(home, f"{OLD_TEXT}\n{json.dumps(MAP)}")
    assert home.invoke("ask", "Is Postgres enough for a job queue?", "--json").code == 0
    return home


def write_chairman(home: Home, reply: str) -> None:
    (home.folder / "chair.json").write_text(json.dumps({"syntheses": [reply]}))


def test_points_and_cost_come_first_and_a_decision_is_written_and_verified(asked: Home) -> None:
    listed = asked.invoke("decide", "last")
    write_chairman(asked, f"Settled: {YES}.")

    decided = asked.invoke("decide", "last", "1=A")
    document = asked.invoke("show", "last", "--json").json
    verified = asked.invoke("verify", "--all")
    exported = asked.invoke("export", document["id"]).out

    assert f"1. {BROKER}" in listed.out
    assert f"Decide with council decide {document['id']} 1=A;" in " ".join(listed.out.split())
    assert f"A: “{YES}”" in listed.out
    assert "It costs nothing" in " ".join(listed.out.split())
    assert decided.out.index(f"Settled: {YES}.") < decided.out.index("Before the decision")
    assert [(one["point"], one["says"]) for one in document["decisions"]] == [(BROKER, YES)]
    assert [one["text"] for one in document["earlier"]] == [OLD_TEXT]
    assert document["unfollowed"] == []
    assert (verified.code, "2 links" in verified.out) == (0, True)
    assert YES in json.loads(exported)["decisions"][0]["choices"][0]["says"]


def test_a_chairman_that_ignores_it_is_named(asked: Home) -> None:
    document = asked.invoke("decide", "last", "1=B", "--json").json

    assert [one["point"] for one in document["unfollowed"]] == [BROKER]
    assert "does not follow the decision" in asked.invoke("show", "last").out


def test_a_tampered_decision_does_not_verify(asked: Home) -> None:
    asked.invoke("decide", "last", "1=B", "--json")
    asked.sql("UPDATE decision SET choices = replace(choices, 'Postgres alone', 'MySQL')")

    verified = asked.invoke("verify", "--all")

    assert verified.code == 1
    assert "decisions[1].says[0]" in verified.out
    assert f"decisions[1][{BROKER}]: stored MySQL" in verified.out


def test_a_forgotten_decision_leaves_no_text(asked: Home) -> None:
    asked.invoke("decide", "last", "1=B", "--json")

    asked.invoke("forget", "last", "--yes")
    verified = asked.invoke("verify", "--all")

    assert verified.code == 0
    assert NO.encode() not in asked.database.read_bytes()
    assert asked.sql("SELECT choices, text FROM decision") == [('[["", ""]]', "")]


def test_a_wrong_choice_is_named(asked: Home) -> None:
    refused = asked.invoke("decide", "last", "9=A")

    assert (refused.code, "no point 9" in refused.err) == (1, True)
