"""Changes of a stored round in the database are found, field by field."""

from pathlib import Path

import pytest

from council.methods import Method
from tests.bot.distributions import install
from tests.bot.homes import Home, scripted_config

HAIKU = Method("haiku-first", "Haiku come first.")

# A change in each table, and the field that verify must name; the other fields are tested with
# the rules of verification.
TAMPERED = {
    "label": ("UPDATE label SET label = 'Q' WHERE member = 'north'", "label map[north]"),
    "ballot": ("UPDATE ballot SET reason = 'No.' WHERE judge = 'north'", "ballots[north].reason"),
    "raw-text": (
        "UPDATE ballot SET text = replace(text, 'random', 'will') WHERE judge = 'north'",
        "ballots[north].reason",
    ),
    "standing": ("UPDATE standing SET points = points + 1 WHERE position = 0", ".points"),
    "slate": ("UPDATE slate SET shown = '[]' WHERE judge = 'north'", "slates[north]"),
    "verdict": ("UPDATE verdict SET p = p / 2", "verdict.p"),
    "round": ("UPDATE round SET seed = 'other'", "label map[north]"),
}


@pytest.mark.parametrize(("statement", "field"), TAMPERED.values(), ids=TAMPERED)
def test_a_change_is_reported_with_its_field(
    stored_round: tuple[Home, str], statement: str, field: str
) -> None:
    home, round_id = stored_round
    home.sql(statement)

    result = home.invoke("verify", round_id)

    assert (result.code, result.err) == (1, "")
    assert any(field in line for line in result.out.splitlines() if "differs in" in line)
    assert ": verified: " not in result.out


def test_all_rounds_are_verified_despite_a_changed_one(
    stored_round: tuple[Home, str],
) -> None:
    home, bad = stored_round
    good = home.invoke("ask", "And how?", "--json").json["id"]
    home.sql("UPDATE verdict SET strength = 'crushing' WHERE round_id = ?", bad)

    result = home.invoke("verify", "--all")

    lines = result.out.splitlines()
    assert result.code == 1
    assert [line for line in lines if good in line and ": verified: " in line]
    assert [line for line in lines if bad in line and "verdict.strength" in line]


@pytest.mark.parametrize("table", ["label", "slate", "ballot", "standing", "verdict"])
def test_a_closed_round_without_its_rows_does_not_verify(
    stored_round: tuple[Home, str], table: str
) -> None:
    home, round_id = stored_round
    home.sql(f"DELETE FROM {table}")  # noqa: S608 - ours

    result = home.invoke("verify", round_id)

    assert result.code == 1


def test_a_bug_is_reported_in_one_line(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    home.sql("UPDATE label SET label = 'Q' WHERE member = 'north'")  # which no store would write

    result = home.invoke("show", round_id, "--full")

    assert (result.code, len(result.lines)) == (1, 1)
    assert result.err.startswith("Something went wrong (")


def test_a_round_of_an_unknown_method_does_not_stop_verification(
    stored_round: tuple[Home, str],
) -> None:
    home, bad = stored_round
    good = home.invoke("ask", "And how?", "--json").json["id"]
    home.sql('UPDATE round SET versions = \'{"method": "9"}\' WHERE id = ?', bad)

    verified = home.invoke("verify", "--all")

    assert verified.code == 1
    assert f"Round {bad} cannot be recomputed. This round used version 9" in verified.out
    assert verified.out.count("This round used version 9") == 1
    assert f"Round {good}: verified: " in verified.out
    assert "hash chain" in verified.out


def test_a_round_of_a_missing_method_is_unchanged_and_says_once_what_it_needs(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = f"Plugin(name='haiku', methods={{'haiku-first': '{__name__}:HAIKU'}})"
    install(tmp_path, monkeypatch, "haiku", f"from council.plugin import Plugin\nPLUGIN = {made}\n")
    panels = scripted_config(3)
    home = home.with_config(f'{panels}\n[plugins]\nenabled = ["haiku"]\n')
    asked = home.invoke("ask", "Why?", "--method", "haiku-first", "--json")
    home = home.with_config(panels)

    verified, shown = (
        home.invoke("verify", "--all"),
        home.invoke("show", asked.json["id"], "--full"),
    )

    needs = "Install or enable the plug-in that has the method haiku-first to recompute this round."
    assert (verified.code, shown.code) == (1, 0)
    assert verified.out.count(needs) == 1
    assert ": unchanged since it closed, link 1" in verified.out
    assert " ".join(shown.out.split()).count(needs) == 1


def test_a_round_without_rankings_is_not_said_to_match_them(home: Home) -> None:
    home = home.with_config(scripted_config(2))
    round_id = home.invoke("ask", "Why?", "--json").json["id"]

    verified = home.invoke("verify", round_id)

    assert verified.code == 0
    assert "verified: nothing was ranked" in verified.out
