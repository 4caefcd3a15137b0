"""Changes of a stored round in the database are found, field by field."""

import json

import pytest

from tests.bot.homes import Home

VERIFIED = "as recomputed"


def flipped(listed: str) -> str:
    """Return a stored list reversed."""
    return json.dumps(list(reversed(json.loads(listed))))


def one(home: Home, column: str, table: str) -> str:
    return str(home.sql(f'SELECT "{column}" FROM {table} WHERE {SEAT[table]} LIMIT 1')[0][0])  # noqa: S608 - ours


SEAT = {
    "label": "member = 'north'",
    "slate": "judge = 'north'",
    "ballot": "judge = 'north'",
    "standing": "place = 1",
}
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
    assert VERIFIED not in result.out


@pytest.mark.parametrize(("table", "column"), [("slate", "shown"), ("ballot", "ranking")])
def test_a_reversed_order_is_reported(
    stored_round: tuple[Home, str], table: str, column: str
) -> None:
    home, round_id = stored_round
    before = one(home, column, table)
    home.sql(f"UPDATE {table} SET {column} = ? WHERE judge = 'north'", flipped(before))  # noqa: S608 - ours

    result = home.invoke("verify", round_id)

    assert result.code == 1
    assert ("slates[north]" if table == "slate" else "ballots[north].ranking") in result.out


def test_an_invalid_stored_value_is_reported(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    home.sql("UPDATE verdict SET strength = 'crushing'")

    result = home.invoke("verify", round_id)

    assert result.code == 1
    assert "verdict.strength" in result.out
    assert "'crushing'" in result.out


def test_all_rounds_are_verified_despite_a_changed_one(
    stored_round: tuple[Home, str],
) -> None:
    home, bad = stored_round
    good = home.invoke("ask", "And how?", "--json").json["id"]
    home.sql("UPDATE verdict SET p = 0.5 WHERE round_id = ?", bad)

    result = home.invoke("verify", "--all")

    lines = result.out.splitlines()
    assert result.code == 1
    assert [line for line in lines if good in line and VERIFIED in line]
    assert [line for line in lines if bad in line and "verdict.p" in line]


@pytest.mark.parametrize("table", ["label", "slate", "ballot", "standing", "verdict"])
def test_a_closed_round_without_its_rows_does_not_verify(
    stored_round: tuple[Home, str], table: str
) -> None:
    home, round_id = stored_round
    home.sql(f"DELETE FROM {table}")  # noqa: S608 - ours

    result = home.invoke("verify", round_id)

    assert result.code == 1


def test_showing_a_changed_round_does_not_crash(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    home.sql("UPDATE label SET label = 'Q' WHERE member = 'north'")

    result = home.invoke("show", round_id)

    assert "Traceback" not in result.err


def test_the_reason_of_a_spoiled_ballot_is_recomputed(home: Home) -> None:
    script = {"answers": ["Yes."], "ballots": ["babble", "babble"], "syntheses": ["Yes."]}
    (home.folder / "babbler.json").write_text(json.dumps(script), encoding="utf-8")
    home = home.with_config(
        '[panels.house]\nmembers = ["scripted/babbler.json", "scripted/random", "two"]\n'
        '[models.two]\nmodel = "scripted/random"\n'
    )
    round_id = home.invoke("ask", "Why?", "--json").json["id"]
    sound = home.invoke("verify", round_id)
    home.sql("UPDATE spoiled_ballot SET fault = 'it was late' WHERE attempt = 2")

    result = home.invoke("verify", round_id)

    assert sound.code == 0
    assert result.code == 1
    assert "spoiled[scripted/babbler.json #2].fault: stored it was late" in result.out
