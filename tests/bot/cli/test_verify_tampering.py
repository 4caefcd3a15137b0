"""Whoever changes a stored round behind the program's back is found out, field by field."""

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
# What is done to the database, and the field that verify must name.
TAMPERED = {
    "label-map": ("UPDATE label SET label = 'Q' WHERE member = 'north'", "label map[north]"),
    "nonce": ("UPDATE ballot SET nonce = 'ff' WHERE judge = 'north'", "ballots[north].nonce"),
    "reason": ("UPDATE ballot SET reason = 'No.' WHERE judge = 'north'", "ballots[north].reason"),
    "share": ("UPDATE standing SET share = share + 0.01 WHERE position = 0", ".share"),
    "points": ("UPDATE standing SET points = points + 1 WHERE position = 0", ".points"),
    "strength": (
        "UPDATE verdict SET strength = iif(strength = 'clear', 'close', 'clear')",
        "verdict.strength",
    ),
    "p": ("UPDATE verdict SET p = p / 2", "verdict.p"),
    "first-votes": ("UPDATE verdict SET first_on = first_on + 1", "verdict.first_on"),
    "flags": ("UPDATE verdict SET flags = '[]'", "verdict.flags"),
    "raw-text": (
        "UPDATE ballot SET text = replace(text, 'random', 'will') WHERE judge = 'north'",
        "ballots[north].reason",
    ),
    "deleted-ballot": ("DELETE FROM ballot WHERE judge = 'north'", "verdict.flags"),
    "seed": ("UPDATE round SET seed = 'other'", "label map[north]"),
}


@pytest.mark.parametrize(("statement", "field"), TAMPERED.values(), ids=TAMPERED)
def test_a_change_is_found_and_its_field_named(
    held: tuple[Home, str], statement: str, field: str
) -> None:
    home, round_id = held
    home.sql(statement)

    ran = home.invoke("verify", round_id)

    assert (ran.code, ran.err) == (1, "")
    assert any(field in line for line in ran.out.splitlines() if "differs in" in line)
    assert VERIFIED not in ran.out


@pytest.mark.parametrize(("table", "column"), [("slate", "shown"), ("ballot", "ranking")])
def test_an_order_turned_round_is_found(held: tuple[Home, str], table: str, column: str) -> None:
    home, round_id = held
    before = one(home, column, table)
    home.sql(f"UPDATE {table} SET {column} = ? WHERE judge = 'north'", flipped(before))  # noqa: S608 - ours

    ran = home.invoke("verify", round_id)

    assert ran.code == 1
    assert ("slates[north]" if table == "slate" else "ballots[north].ranking") in ran.out


def test_a_word_that_no_round_can_hold_is_a_sentence(held: tuple[Home, str]) -> None:
    home, round_id = held
    home.sql("UPDATE verdict SET strength = 'crushing'")

    ran = home.invoke("verify", round_id)

    assert ran.code == 1
    assert "verdict.strength" in ran.out
    assert "'crushing'" in ran.out


def test_all_names_every_round_that_differs_and_verifies_the_others(
    held: tuple[Home, str],
) -> None:
    home, bad = held
    good = home.invoke("ask", "And how?", "--json").json["id"]
    home.sql("UPDATE verdict SET p = 0.5 WHERE round_id = ?", bad)

    ran = home.invoke("verify", "--all")

    lines = ran.out.splitlines()
    assert ran.code == 1
    assert [line for line in lines if good in line and VERIFIED in line]
    assert [line for line in lines if bad in line and "verdict.p" in line]


@pytest.mark.parametrize("table", ["label", "slate", "ballot", "standing", "verdict"])
def test_a_closed_round_that_lost_its_rows_is_not_verified(
    held: tuple[Home, str], table: str
) -> None:
    home, round_id = held
    home.sql(f"DELETE FROM {table}")  # noqa: S608 - ours

    ran = home.invoke("verify", round_id)

    assert ran.code == 1


def test_a_tampered_round_is_shown_or_refused_in_a_sentence(held: tuple[Home, str]) -> None:
    home, round_id = held
    home.sql("UPDATE label SET label = 'Q' WHERE member = 'north'")

    ran = home.invoke("show", round_id)

    assert "Traceback" not in ran.err


def test_the_fault_of_a_spoiled_ballot_is_recomputed(home: Home) -> None:
    script = {"answers": ["Yes."], "ballots": ["babble", "babble"], "syntheses": ["Yes."]}
    (home.folder / "babbler.json").write_text(json.dumps(script), encoding="utf-8")
    home = home.with_config(
        '[panels.house]\nmembers = ["scripted/babbler.json", "scripted/random", "two"]\n'
        '[models.two]\nmodel = "scripted/random"\n'
    )
    round_id = home.invoke("ask", "Why?", "--json").json["id"]
    sound = home.invoke("verify", round_id)
    home.sql("UPDATE spoiled_ballot SET fault = 'it was late' WHERE attempt = 2")

    ran = home.invoke("verify", round_id)

    assert sound.code == 0
    assert ran.code == 1
    assert "spoiled[scripted/babbler.json #2].fault: stored it was late" in ran.out
