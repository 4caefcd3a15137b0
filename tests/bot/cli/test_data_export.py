"""`council export`, `import` and `verify --from`: rounds elsewhere are the rounds they were."""

import json
from pathlib import Path

import pytest

from tests.bot.homes import Home, scripted_config


def unsealed(line: str, **changes: object) -> dict[str, object]:
    """Return an exported round without its link, as older versions wrote it."""
    document: dict[str, object] = json.loads(line)
    del document["seal"]
    return document | changes


def exported(home: Home) -> Path:
    path = home.folder / "all.jsonl"
    assert home.invoke("export", "--to", str(path)).code == 0
    return path


def _listed(value: object) -> list[dict[str, object]]:
    assert isinstance(value, list)
    return value


def test_each_round_is_a_line_with_all_that_is_stored(held: tuple[Home, str]) -> None:
    home, round_id = held
    home.invoke("ask", "And how?", "--json")

    ran = home.invoke("export")

    documents = [json.loads(line) for line in ran.out.splitlines()]
    assert [document["format"] for document in documents] == [1, 1]
    first = documents[0]
    assert first["id"] == round_id
    assert first["panel"]["members"][0]["model_id"] == "scripted/random"
    assert first["ballots"][0]["paper"]["reply"]["text"]
    assert first["ballots"][0]["paper"]["prompt"]["user"]
    assert ran.err == ""


def test_a_file_is_written_whole_and_says_how_many(held: tuple[Home, str]) -> None:
    home, _ = held

    ran = home.invoke("export", "--to", str(home.folder / "all.jsonl"))

    assert ran.out == f"1 round written to {home.folder / 'all.jsonl'}.\n"
    assert (home.folder / "all.jsonl").read_text(encoding="utf-8") == home.invoke("export").out
    assert not list(home.folder.glob("*.part"))


@pytest.mark.parametrize("target", ["nowhere/all.jsonl", "data"])
def test_a_file_that_cannot_be_written_leaves_everything_as_it_was(
    held: tuple[Home, str], target: str
) -> None:
    home, _ = held
    before = sorted(home.folder.iterdir())

    ran = home.invoke("export", "--to", str(home.folder / target))

    assert (ran.code, len(ran.lines)) == (1, 1)
    assert "cannot be written" in ran.err
    assert sorted(home.folder.iterdir()) == before


def test_only_rounds_since_a_day_are_written(held: tuple[Home, str]) -> None:
    home, old = held
    home.sql("UPDATE round SET asked_at = '2001-01-01 00:00:00.000000'")
    new = home.invoke("ask", "And how?", "--json").json["id"]

    ran = home.invoke("export", "--since", "2001-01-02")

    assert [json.loads(line)["id"] for line in ran.out.splitlines()] == [new]
    assert old in home.invoke("export", "--since", "2001-01-01").out


def test_a_day_that_is_none_is_misuse(home: Home) -> None:
    ran = home.invoke("export", "--since", "yesterday")

    assert (ran.code, "is no date" in ran.err) == (2, True)


def test_a_round_that_cannot_be_read_is_left_out_and_told_of(held: tuple[Home, str]) -> None:
    home, bad = held
    good = home.invoke("ask", "And how?", "--json").json["id"]
    home.sql("UPDATE verdict SET strength = 'crushing' WHERE round_id = ?", bad)

    ran = home.invoke("export")

    assert ran.code == 1
    assert [json.loads(line)["id"] for line in ran.out.splitlines()] == [good]
    assert bad in ran.err


def test_an_export_verifies_without_a_database(held: tuple[Home, str]) -> None:
    home, round_id = held
    path = exported(home)
    (home.data / "council.db").write_text("no database")

    ran = home.invoke("verify", "--from", str(path))

    assert (ran.code, ran.err) == (0, "")
    assert f"Round {round_id}: label map, slates and ballots are as recomputed" in ran.out


def test_a_line_that_was_changed_is_named_by_its_field(held: tuple[Home, str]) -> None:
    home, _ = held
    path = exported(home)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["tally"]["verdict"]["p"] = 0.5
    path.write_text(json.dumps(document) + "\n{broken\n\n", encoding="utf-8")

    ran = home.invoke("verify", "--from", str(path))

    assert ran.code == 1
    assert "differs in verdict.p" in ran.out
    assert "all.jsonl, line 2: it is no JSON" in ran.out


def test_an_empty_export_holds_no_round(home: Home) -> None:
    ran = home.invoke("verify", "--from", str(exported(home)))

    assert (ran.code, ran.out) == (0, "No round is stored.\n")


@pytest.mark.parametrize("command", [("verify", "--from"), ("import",)], ids=str)
def test_a_file_that_is_missing_is_misuse(home: Home, command: tuple[str, ...]) -> None:
    ran = home.invoke(*command, "missing.jsonl")

    assert (ran.code, len(ran.lines)) == (2, 1)


@pytest.mark.parametrize("arguments", [("--all", "--from", "x"), ("--text", "x"), ()], ids=str)
def test_what_to_verify_is_one_thing(home: Home, arguments: tuple[str, ...]) -> None:
    assert home.invoke("verify", *arguments).code == 2


def test_an_import_keeps_what_is_new_and_leaves_the_rest_alone(
    held: tuple[Home, str], tmp_path: Path
) -> None:
    home, round_id = held
    path = exported(home)
    path.write_text(path.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    other = Home(tmp_path / "other")
    other.folder.mkdir()
    other.with_config(scripted_config())

    first, second = other.invoke("import", str(path)), other.invoke("import", str(path))

    assert first.out == "1 round taken in, 0 there already.\n"
    assert second.out == "0 rounds taken in, 1 there already.\n"
    assert (first.code, "line 2: it is no JSON" in first.err) == (1, True)
    assert unsealed(other.invoke("export").out) == unsealed(home.invoke("export").out)
    assert other.invoke("verify", round_id).code == 0


def test_a_ballot_without_what_it_was_read_from_is_not_taken_in(held: tuple[Home, str]) -> None:
    home, _ = held
    path = exported(home)
    document = unsealed(path.read_text(encoding="utf-8"), id="other")
    document["ballots"] = [{**ballot, "paper": None} for ballot in _listed(document["ballots"])]
    path.write_text(json.dumps(document), encoding="utf-8")

    ran = home.invoke("import", str(path))

    assert (ran.code, len(ran.lines)) == (1, 1)
    assert "'other'" in ran.err
    assert len(home.invoke("rounds", "--json").json) == 1


def test_a_reader_that_leaves_early_is_no_fault(held: tuple[Home, str]) -> None:
    import subprocess
    import sys

    home, _ = held
    for i in range(8):
        document = unsealed(home.invoke("export").out.splitlines()[0], id=f"{i}" * 8)
        (home.folder / "one.jsonl").write_text(json.dumps(document), encoding="utf-8")
        home.invoke("import", str(home.folder / "one.jsonl"))

    ran = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m bot export | head -c 10"],
        cwd=home.folder,
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.stdout, ran.stderr) == ('{"format":', "")


def test_what_people_think_of_a_round_goes_along(held: tuple[Home, str], tmp_path: Path) -> None:
    home, round_id = held
    said = "INSERT INTO feedback VALUES (?, 'U1', 0, 'Too long.', '2026-11-21 09:00:00.000000')"
    home.sql(said, round_id)
    path = exported(home)
    other = Home(tmp_path / "other")
    other.folder.mkdir()
    other.with_config(scripted_config())

    other.invoke("import", str(path))

    (document,) = [json.loads(line) for line in other.invoke("export").out.splitlines()]
    (rating,) = document["ratings"]
    assert (rating["by"], rating["helpful"], rating["reason"]) == ("U1", False, "Too long.")
    assert other.invoke("verify", "--from", str(path)).code == 0


def test_a_round_that_was_taken_in_is_not_delivered_again(
    held: tuple[Home, str], tmp_path: Path
) -> None:
    home, _ = held
    other = Home(tmp_path / "other")
    other.folder.mkdir()
    other.with_config(scripted_config())

    other.invoke("import", str(exported(home)))

    assert other.sql("SELECT delivered FROM round") == [(1,)]
