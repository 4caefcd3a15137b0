"""`council vote` and `council bakeoff vote`: people's votes in the terminal."""

import json
from pathlib import Path

import pytest

from bot.bakeoffs.cli import bakeoffs
from bot.bakeoffs.commands.voting import NO_MORE
from tests.bot.homes import LETTERS, Home, scripted_config

VOTES = "SELECT label, blind, ranking FROM human_vote ORDER BY at"


def test_a_vote_after_the_result_is_stored_as_such(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    standings = home.invoke("show", round_id, "--json").json["standings"]
    first, second, *_ = [line["label"] for line in standings]

    told = home.invoke("vote", "last", first, second)
    asked = home.invoke("vote", round_id)

    assert "Noted: you chose " in told.out
    assert (asked.code, "has its result" in asked.err) == (1, True)
    assert home.sql(VOTES) == [(first, 0, json.dumps([[first], [second]]))]
    assert "voted after the result" not in home.invoke("show", round_id).out  # one is not public


def test_until_the_result_show_names_no_author(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    labels = [line["label"] for line in home.invoke("show", round_id, "--json").json["standings"]]
    for change in (
        "DELETE FROM verdict",
        "DELETE FROM standing",
        "DELETE FROM synthesis",
        "UPDATE round SET seconds = NULL",
    ):
        home.sql(change)

    shown = home.invoke("show", round_id).out
    document = home.invoke("show", round_id, "--json").out
    judgments = home.invoke("export", round_id, "--as", "judgments")

    assert all(f"Response {label}\n" in shown for label in labels)
    assert not [name for name in LETTERS if name in f"{shown} {document}".lower()]
    assert json.loads(document)["seed"] is None  # the labels can be drawn from it
    assert (judgments.code, judgments.out) == (0, "")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sql.txt").write_text("Is Postgres enough?\nWhich queue?\n")
    home = Home(tmp_path).with_config(scripted_config(3)).with_tables()
    assert home.invoke("bakeoff", "run", "sql.txt", "--json").code == 0
    return home


class Terminal:
    """Standard input that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_bakeoff_is_voted_on_in_the_terminal(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    read = home.invoke("bakeoff", "vote")
    monkeypatch.setattr(bakeoffs, "stdin", Terminal())
    letters = [chr(code) for code in range(ord("K"), ord("Z") + 1)]

    voted = home.invoke("bakeoff", "vote", "last", stdin="\n".join(letters))

    assert "0 of 2 questions voted, by 0 people; 0 by you." in " ".join(read.out.split())
    assert not [name for name in LETTERS if f" {name} " in read.out.lower()]
    assert NO_MORE in " ".join(voted.out.split())
    assert "has no Response" in voted.err
    assert [row[1] for row in home.sql(VOTES)] == [1, 1]
