"""The hash chain on the command line: changes are reported, and a known head proves the past."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bot.homes import Home

FORGET_SEALS = "UPDATE round SET salt = '', digests = '[]'"


@pytest.fixture
def two(stored_round: tuple[Home, str]) -> tuple[Home, str, str]:
    home, first = stored_round
    return home, first, home.invoke("ask", "And how?", "--json").json["id"]


def head_of(home: Home) -> str:
    return home.invoke("verify", "--head").out.split()[-1]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE answer SET text = 'No.' WHERE member = 'north'", "answers[north]"),
        ("UPDATE verdict SET n_eff = 9", "standings and verdict"),
        pytest.param("DELETE FROM link", "its link in the chain is missing", id="link"),
    ],
)
def test_an_edit_is_reported(stored_round: tuple[Home, str], statement: str, named: str) -> None:
    home, round_id = stored_round
    home.sql(statement)

    result = home.invoke("verify", round_id)

    assert (result.code, result.err) == (1, "")
    assert f"Round {round_id} was changed after it closed: {named}" in result.out


def test_a_deleted_round_is_reported(two: tuple[Home, str, str]) -> None:
    home, first, second = two
    home.sql("DELETE FROM round WHERE id = ?", first)

    result = home.invoke("verify", "--all")

    assert result.code == 1
    assert f"In the main hash chain: round '{first}' of link 1 was deleted.\n" in result.out
    assert f"Round {second}: " in result.out


def test_a_round_older_than_the_chain_verifies(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    home.sql("DELETE FROM link")
    home.sql(FORGET_SEALS)

    result = home.invoke("verify", "--all")

    assert result.code == 0
    assert f"Round {round_id}: " in result.out
    assert "; it closed before the hash chain began\n" in result.out
    assert home.invoke("verify", "--head").out.startswith("There is no hash chain yet")


def test_an_edit_after_forgetting_is_reported(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round
    home.invoke("forget", "--yes", round_id)
    home.sql("UPDATE answer SET tokens_out = 1 WHERE member = 'north'")

    result = home.invoke("verify", round_id)

    assert result.code == 1
    assert "was changed after it closed: answers, beside their texts" in result.out
    assert f"Round {round_id}: forgotten on 20" in result.out


def test_a_known_head_proves_what_was_before_it(stored_round: tuple[Home, str]) -> None:
    home, _ = stored_round
    known = head_of(home)
    home.invoke("ask", "And how?", "--json")

    result = home.invoke("verify", "--all", "--since-head", known)

    scope, length, head = home.invoke("verify", "--head").out.split()
    assert (result.code, result.err, scope, length) == (0, "", "house", "2")
    assert home.sql("SELECT hash FROM link WHERE number = 2") == [(head,)]
    assert f"Hash {known}: nothing before it was changed.\n" in result.out
    assert f"The main hash chain is intact: 2 links, last hash {head}.\n" in result.out


def test_the_head_of_a_broken_chain_is_printed_with_the_break(two: tuple[Home, str, str]) -> None:
    home, *_ = two
    home.sql("UPDATE link SET digest = 'x' WHERE number = 1")

    result = home.invoke("verify", "--head")

    assert result.code == 1
    assert result.out.startswith("In the main hash chain: link 1 was changed.\nhouse 2 ")


def test_an_old_head_reveals_a_rebuilt_chain(two: tuple[Home, str, str]) -> None:
    home, *_ = two
    head = head_of(home)
    home.sql("DELETE FROM link")
    home.sql(FORGET_SEALS)

    unknown = home.invoke("verify", "--all")
    known = home.invoke("verify", "--all", "--since-head", head)

    assert (unknown.code, known.code) == (0, 1)
    assert f"Hash {head} is in no chain stored here" in known.out


def export_one(
    home: Home, round_id: str, change: Callable[[dict[str, Any]], object] = lambda _: None
) -> str:
    """Return the path of one round, changed, on a machine without a database."""
    path = home.folder / "one.json"
    assert home.invoke("export", round_id, "--output", str(path)).code == 0
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    home.database.unlink()
    return str(path)


def test_one_round_is_exported_and_verified_elsewhere(two: tuple[Home, str, str]) -> None:
    home, first, second = two
    before = home.sql("SELECT hash FROM link WHERE number = 1")[0][0]
    text = Path(export_one(home, second)).read_text(encoding="utf-8")

    result = home.invoke("verify", str(home.folder / "one.json"))

    document = json.loads(text)
    assert (document["id"], document["seal"]["link"]["previous"]) == (second, before)
    assert first not in text
    assert (result.code, result.err) == (0, "")
    assert f"Round {second}: verified: " in result.out
    assert f"link 2 of the main hash chain with hash {document['seal']['link']['hash']}" in (
        result.out
    )
    assert not home.database.exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param(lambda d: d["question"].update(text="Which?"), "question", id="question"),
        (lambda d: d["seal"]["link"].update(number=9), "its link was changed"),
    ],
)
def test_a_changed_export_is_reported_with_its_field(
    stored_round: tuple[Home, str], change: Callable[[dict[str, Any]], object], named: str
) -> None:
    home, round_id = stored_round

    result = home.invoke("verify", export_one(home, round_id, change))

    assert result.code == 1
    assert f"Round {round_id} was changed after it closed: {named}" in result.out


def test_an_export_without_a_link_verifies(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round

    result = home.invoke("verify", export_one(home, round_id, lambda d: d.pop("seal")))

    assert (result.code, result.out.endswith("; the export has no hash for it\n")) == (0, True)


def test_links_of_an_export_are_compared(two: tuple[Home, str, str]) -> None:
    home, _, second = two
    home.sql("UPDATE link SET previous = 'x' WHERE round_id = ?", second)
    path = home.folder / "all.jsonl"
    home.invoke("export", "--to", str(path))

    result = home.invoke("verify", str(path))

    assert result.code == 1
    assert "In the main hash chain: link 2 does not follow what is before it.\n" in result.out


def test_an_imported_round_keeps_its_origin(
    stored_round: tuple[Home, str], other_home: Home
) -> None:
    home, round_id = stored_round
    hash_ = head_of(home)
    other_home.invoke("import", export_one(home, round_id))

    result = other_home.invoke("verify", round_id)

    assert result.code == 0
    assert "; unchanged since it was imported, link 1 of the main hash chain" in result.out
    assert other_home.sql("SELECT origin FROM link") == [(hash_,)]


def test_a_changed_round_is_not_imported(stored_round: tuple[Home, str], other_home: Home) -> None:
    home, round_id = stored_round
    path = export_one(home, round_id, lambda d: d["question"].update(text="Which?"))

    result = other_home.invoke("import", path)

    assert result.code == 1
    assert f"Round {round_id!r}: it was changed after it closed (question)" in result.err
    assert other_home.invoke("rounds", "--json").json == []
