"""The chain on the command line: what was changed is named, and a head proves what was before."""

import json
from pathlib import Path

import pytest

from tests.bot.homes import Home, scripted_config

FORGET_SEALS = "UPDATE round SET salt = '', digests = '[]'"


@pytest.fixture
def two(held: tuple[Home, str]) -> tuple[Home, str, str]:
    home, first = held
    return home, first, home.invoke("ask", "And how?", "--json").json["id"]


def head_of(home: Home) -> str:
    return home.invoke("verify", "--head").out.split()[-1]


def test_a_round_says_its_link(held: tuple[Home, str]) -> None:
    home, round_id = held

    ran = home.invoke("verify", round_id)

    assert ran.code == 0
    assert ran.out.endswith("; as it closed, link 1 of the chain of the house\n")


def test_all_walks_the_chain(two: tuple[Home, str, str]) -> None:
    home, *_ = two

    ran = home.invoke("verify", "--all")

    assert ran.code == 0
    assert ran.out.splitlines()[-1] == (
        f"The chain of the house is whole: 2 links, head {head_of(home)}."
    )


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        pytest.param(
            "UPDATE answer SET text = 'No.' WHERE member = 'north'", "answers[north]", id="answer"
        ),
        pytest.param("UPDATE round SET asked_by = 'U2'", "asker and place", id="asker"),
        pytest.param("UPDATE answer SET cost_usd = 0.5", "answers, beside their texts", id="cost"),
        pytest.param(
            "UPDATE verdict SET n_eff = 9", "standings and verdict", id="what-is-not-recomputed"
        ),
        pytest.param("UPDATE round SET salt = 'x'", "the salt or the digests", id="salt"),
        pytest.param("DELETE FROM link", "its link in the chain is gone", id="link"),
    ],
)
def test_an_edit_is_named_in_a_line(held: tuple[Home, str], statement: str, named: str) -> None:
    home, round_id = held
    home.sql(statement)

    ran = home.invoke("verify", round_id)

    assert (ran.code, ran.err) == (1, "")
    assert f"Round {round_id} is not as it closed: {named}" in ran.out


def test_a_round_that_was_deleted_is_named(two: tuple[Home, str, str]) -> None:
    home, first, second = two
    home.sql("DELETE FROM round WHERE id = ?", first)

    ran = home.invoke("verify", "--all")

    assert ran.code == 1
    assert f"In the chain of the house: round '{first}' of link 1 was deleted.\n" in ran.out
    assert f"Round {second}: " in ran.out


def test_a_round_of_before_the_chain_says_so(held: tuple[Home, str]) -> None:
    home, round_id = held
    home.sql("DELETE FROM link")
    home.sql(FORGET_SEALS)

    ran = home.invoke("verify", "--all")

    assert ran.code == 0
    assert f"Round {round_id}: " in ran.out
    assert "; it closed before the chain began\n" in ran.out
    assert home.invoke("verify", "--head").out.startswith("No chain has begun")


def test_a_forgotten_round_is_as_it_closed(held: tuple[Home, str]) -> None:
    home, round_id = held
    home.invoke("forget", round_id)

    ran = home.invoke("verify", "--all")

    assert ran.code == 0
    assert f"Round {round_id}: forgotten on 20" in ran.out
    assert "as it closed, link 1" in ran.out


def test_an_edit_after_forgetting_is_named(held: tuple[Home, str]) -> None:
    home, round_id = held
    home.invoke("forget", round_id)
    home.sql("UPDATE answer SET tokens_out = 1 WHERE member = 'north'")

    ran = home.invoke("verify", round_id)

    assert ran.code == 1
    assert "is not as it closed: answers, beside their texts" in ran.out
    assert f"Round {round_id}: forgotten on 20" in ran.out


def test_a_head_can_be_written_down(two: tuple[Home, str, str]) -> None:
    home, *_ = two

    scope, length, head = home.invoke("verify", "--head").out.split()

    assert (scope, length) == ("house", "2")
    assert home.sql("SELECT hash FROM link WHERE number = 2") == [(head,)]


def test_a_head_of_a_broken_chain_says_so(two: tuple[Home, str, str]) -> None:
    home, *_ = two
    home.sql("UPDATE link SET digest = 'x' WHERE number = 1")

    ran = home.invoke("verify", "--head")

    assert ran.code == 1
    assert ran.out.startswith("In the chain of the house: link 1 was changed.\nhouse 2 ")


def test_a_head_proves_what_was_before_it(held: tuple[Home, str]) -> None:
    home, _ = held
    head = head_of(home)
    home.invoke("ask", "And how?", "--json")

    ran = home.invoke("verify", "--all", "--since-head", head)

    assert (ran.code, ran.err) == (0, "")
    assert f"Head {head}: nothing up to it was rewritten.\n" in ran.out


def test_a_chain_that_was_made_anew_is_shown_up_by_an_old_head(two: tuple[Home, str, str]) -> None:
    home, *_ = two
    head = head_of(home)
    home.sql("DELETE FROM link")
    home.sql(FORGET_SEALS)

    silent = home.invoke("verify", "--all")
    told = home.invoke("verify", "--all", "--since-head", head)

    assert (silent.code, told.code) == (0, 1)
    assert f"Head {head} is in no chain that is stored here" in told.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--head", "--all"),
        ("beef", "--head"),
        ("--since-head", "x"),
        ("beef", "--since-head", "x"),
    ],
    ids=str,
)
def test_what_to_verify_is_one_thing(home: Home, arguments: tuple[str, ...]) -> None:
    ran = home.invoke("verify", *arguments)

    assert (ran.code, len(ran.lines)) == (2, 1)


def alone(home: Home, round_id: str) -> Path:
    """Return one round in a file, on a machine without a database."""
    path = home.folder / "one.json"
    assert home.invoke("export", round_id, "--output", str(path)).code == 0
    (home.data / "council.db").unlink()
    return path


def test_one_round_is_exported_and_verified_elsewhere(two: tuple[Home, str, str]) -> None:
    home, first, second = two
    before = home.sql("SELECT hash FROM link WHERE number = 1")[0][0]
    path = alone(home, second)

    ran = home.invoke("verify", str(path))

    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["id"], document["seal"]["link"]["previous"]) == (second, before)
    assert first not in path.read_text(encoding="utf-8")
    assert (ran.code, ran.err) == (0, "")
    assert f"Round {second}: label map, slates and ballots are as recomputed" in ran.out
    assert f"link 2 of the chain of the house with hash {document['seal']['link']['hash']}" in (
        ran.out
    )
    assert not (home.data / "council.db").exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param(lambda d: d["question"].update(text="Which?"), "question", id="question"),
        pytest.param(lambda d: d["closing"].update(seconds=99), "closing", id="closing"),
        pytest.param(lambda d: d["seal"]["notes"].update(salt="x"), "the salt", id="salt"),
        pytest.param(
            lambda d: d["seal"]["link"].update(number=9), "its link was changed", id="link"
        ),
    ],
)
def test_a_file_that_was_changed_is_named_by_its_field(
    held: tuple[Home, str], change: object, named: str
) -> None:
    home, round_id = held
    path = alone(home, round_id)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert callable(change)
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")

    ran = home.invoke("verify", str(path))

    assert ran.code == 1
    assert f"Round {round_id} is not as it closed: {named}" in ran.out


def test_a_file_without_a_link_says_so(held: tuple[Home, str]) -> None:
    home, round_id = held
    path = alone(home, round_id)
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["seal"]
    path.write_text(json.dumps(document), encoding="utf-8")

    ran = home.invoke("verify", str(path))

    assert (ran.code, ran.out.endswith("; no link came with it\n")) == (0, True)


def test_links_in_a_file_are_held_against_each_other(two: tuple[Home, str, str]) -> None:
    home, _, second = two
    home.sql("UPDATE link SET previous = 'x' WHERE round_id = ?", second)
    path = home.folder / "all.jsonl"
    home.invoke("export", "--to", str(path))

    ran = home.invoke("verify", str(path))

    assert ran.code == 1
    assert "In the chain of the house: link 2 does not follow what is before it.\n" in ran.out


def test_one_round_is_not_asked_for_by_a_day_too(held: tuple[Home, str]) -> None:
    home, round_id = held

    ran = home.invoke("export", round_id, "--since", "2001-01-01")

    assert (ran.code, len(ran.lines)) == (2, 1)


def taken_in(path: Path, folder: Path) -> tuple[Home, str]:
    other = Home(folder / "other")
    other.folder.mkdir()
    other.with_config(scripted_config())
    ran = other.invoke("import", str(path))
    return other, ran.err


def test_a_round_that_was_taken_in_says_that_it_comes_from_elsewhere(
    held: tuple[Home, str], tmp_path: Path
) -> None:
    home, round_id = held
    hash_ = head_of(home)
    other, _ = taken_in(alone(home, round_id), tmp_path)

    ran = other.invoke("verify", round_id)

    assert ran.code == 0
    assert "; as it was taken in from elsewhere, link 1 of the chain of the house" in ran.out
    assert other.sql("SELECT origin FROM link") == [(hash_,)]


def test_a_round_that_was_changed_is_not_taken_in(held: tuple[Home, str], tmp_path: Path) -> None:
    home, round_id = held
    path = alone(home, round_id)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["question"]["text"] = "Which?"
    path.write_text(json.dumps(document), encoding="utf-8")

    other, told = taken_in(path, tmp_path)

    assert f"Round {round_id!r}: it is not as it closed (question), so it is not taken in" in told
    assert other.invoke("rounds", "--json").json == []
