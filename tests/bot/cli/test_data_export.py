"""`council export`, `import` and `verify --from`: imported rounds equal the exported ones."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.cli import data
from bot.cli.data import LEFT_OUT
from storage import export as export_format
from tests.bot.homes import Home


def unsealed(line: str, **changes: object) -> dict[str, Any]:
    """Return an exported round without its link and messages, as older versions wrote it."""
    document: dict[str, Any] = json.loads(line)
    del document["seal"]
    document.pop("sent", None)
    return document | changes


def exported(home: Home) -> Path:
    path = home.folder / "all.jsonl"
    assert home.invoke("export", "--to", str(path)).code == 0
    return path


def test_each_round_is_exported_with_everything_stored(
    stored_round: tuple[Home, str],
) -> None:
    home, round_id = stored_round
    home.invoke("ask", "And how?", "--json")

    result = home.invoke("export")

    documents = [json.loads(line) for line in result.out.splitlines()]
    assert [document["format"] for document in documents] == [1, 1]
    first = documents[0]
    assert first["id"] == round_id
    assert first["panel"]["members"][0]["model_id"] == "scripted/random"
    assert first["ballots"][0]["paper"]["reply"]["text"]
    assert first["ballots"][0]["paper"]["prompt"]["user"]
    assert result.err == ""


def test_an_export_to_a_file_is_complete_and_counted(stored_round: tuple[Home, str]) -> None:
    home, _ = stored_round

    result = home.invoke("export", "--to", str(home.folder / "all.jsonl"))

    assert result.out == f"1 round written to {home.folder / 'all.jsonl'}.\n"
    assert (home.folder / "all.jsonl").read_text(encoding="utf-8") == home.invoke("export").out
    assert not list(home.folder.glob("*.part"))


@pytest.mark.parametrize("target", ["nowhere/all.jsonl", "data"])
def test_a_file_that_cannot_be_written_leaves_everything_as_it_was(
    stored_round: tuple[Home, str], target: str
) -> None:
    home, _ = stored_round
    before = sorted(home.folder.iterdir())

    result = home.invoke("export", "--to", str(home.folder / target))

    assert (result.code, len(result.lines)) == (1, 1)
    assert "Can't write " in result.err
    assert sorted(home.folder.iterdir()) == before


def test_only_rounds_since_a_day_are_exported(stored_round: tuple[Home, str]) -> None:
    home, old = stored_round
    home.sql("UPDATE round SET asked_at = '2001-01-01 00:00:00.000000'")
    new = home.invoke("ask", "And how?", "--json").json["id"]

    result = home.invoke("export", "--since", "2001-01-02")

    assert [json.loads(line)["id"] for line in result.out.splitlines()] == [new]
    assert old in home.invoke("export", "--since", "2001-01-01").out


def test_an_unreadable_round_is_left_out_and_reported(
    stored_round: tuple[Home, str],
) -> None:
    home, bad = stored_round
    good = home.invoke("ask", "And how?", "--json").json["id"]
    home.sql("UPDATE verdict SET strength = 'crushing' WHERE round_id = ?", bad)

    result = home.invoke("export")

    assert result.code == 1
    assert [json.loads(line)["id"] for line in result.out.splitlines()] == [good]
    assert bad in result.err


def test_a_changed_line_is_reported_with_its_field(stored_round: tuple[Home, str]) -> None:
    home, _ = stored_round
    path = exported(home)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["tally"]["verdict"]["p"] = 0.5
    path.write_text(json.dumps(document) + "\n{broken\n\n", encoding="utf-8")

    result = home.invoke("verify", str(path))

    assert result.code == 1
    assert "differs in verdict.p" in result.out
    assert "all.jsonl, line 2: it is not valid JSON" in result.out


def test_an_import_adds_new_rounds_once(stored_round: tuple[Home, str], other_home: Home) -> None:
    home, round_id = stored_round
    path = exported(home)
    path.write_text(path.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")

    first, second = other_home.invoke("import", str(path)), other_home.invoke("import", str(path))

    assert first.out == "1 round imported, 0 already here.\n"
    assert second.out == "0 rounds imported, 1 already here.\n"
    assert (first.code, "line 2: it is not valid JSON" in first.err) == (1, True)
    assert unsealed(other_home.invoke("export").out) == unsealed(home.invoke("export").out)
    assert other_home.invoke("verify", round_id).code == 0


def test_a_ballot_without_its_reply_is_not_imported(
    stored_round: tuple[Home, str],
) -> None:
    home, _ = stored_round
    path = exported(home)
    document = unsealed(path.read_text(encoding="utf-8"), id="other")
    document["ballots"] = [{**ballot, "paper": None} for ballot in document["ballots"]]
    path.write_text(json.dumps(document), encoding="utf-8")

    result = home.invoke("import", str(path))

    assert (result.code, len(result.lines)) == (1, 1)
    assert "'other'" in result.err
    assert len(home.invoke("rounds", "--json").json) == 1


def test_a_reader_that_closes_the_pipe_early_is_no_error(stored_round: tuple[Home, str]) -> None:
    home, _ = stored_round
    line = home.invoke("export").out.splitlines()[0]
    # More than a pipe holds, so that the program still writes when the reader has left.
    copies = [json.dumps(unsealed(line, id=f"{i}" * 8)) for i in range(8)]
    (home.folder / "copies.jsonl").write_text("\n".join(copies), encoding="utf-8")
    home.invoke("import", str(home.folder / "copies.jsonl"))

    result = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m bot export | head -c 10"],
        cwd=home.folder,
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (result.stdout, result.stderr) == ('{"format":', "")


def test_feedback_is_imported_and_a_delivered_round_is_not_posted_again(
    stored_round: tuple[Home, str], other_home: Home
) -> None:
    home, round_id = stored_round
    row = "INSERT INTO feedback VALUES (?, 'U1', 0, 'Too long.', '2026-11-21 09:00:00.000000')"
    home.sql(row, round_id)
    path = exported(home)

    other_home.invoke("import", str(path))

    (document,) = [json.loads(line) for line in other_home.invoke("export").out.splitlines()]
    (rating,) = document["ratings"]
    assert (rating["by"], rating["helpful"], rating["reason"]) == ("U1", False, "Too long.")
    assert other_home.sql("SELECT delivered FROM round") == [(1,)]
    assert other_home.invoke("verify", str(path)).code == 0


def test_an_imported_vote_from_the_future_does_not_outlive_a_later_one(
    stored_round: tuple[Home, str], other_home: Home
) -> None:
    home, round_id = stored_round
    first, second = home.invoke("show", round_id, "--json").json["standings"][:2]
    home.invoke("vote", round_id, first["label"])
    path = exported(home)
    document = json.loads(path.read_text())
    document["votes"][0]["at"] = "2999-01-01T00:00:00Z"
    path.write_text(json.dumps(document) + "\n")

    imported = other_home.invoke("import", str(path))
    other_home.invoke("vote", round_id, second["label"])

    assert (imported.code, imported.err) == (0, "")
    assert other_home.sql("SELECT label FROM human_vote") == [(second["label"],)]


def test_an_export_says_what_it_leaves_out_of_an_absent_plug_in(home: Home) -> None:
    home.invoke("rounds")
    home.sql("CREATE TABLE haiku (line TEXT)")
    home.sql("INSERT INTO haiku VALUES ('An old pond')")

    exported = home.invoke("export")

    assert (exported.code, exported.out) == (0, "")
    assert exported.err == f"{LEFT_OUT.format(tables='haiku')}\n"


def test_a_line_that_is_too_long_is_reported_and_the_next_is_read(
    stored_round: tuple[Home, str], other_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, _ = stored_round
    path = exported(home)
    line = path.read_text(encoding="utf-8")
    limit = len(line.encode()) + 10
    for module in (export_format, data):
        monkeypatch.setattr(module, "MAX_LINE_BYTES", limit)
    path.write_text(f"{'x' * (3 * limit)}\n{line}", encoding="utf-8")

    result = other_home.invoke("import", str(path))

    assert result.out == "1 round imported, 0 already here.\n"
    assert (result.code, len(result.lines)) == (1, 1)
    assert "line 1: it is longer than" in result.err


def test_where_a_round_was_posted_is_imported_with_it_alone(
    stored_round: tuple[Home, str], other_home: Home
) -> None:
    home, round_id = stored_round
    home.sql(
        "INSERT INTO outgoing (key, round_id, claimed_at, claimed_by, message) "
        "VALUES (?, ?, '2026-11-21 09:00:00.000000', 'x', '17.5')",
        f"slack/T1/C1/{round_id}/1",
        round_id,
    )
    path = exported(home)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["sent"][0]["key"] = "slack/T1/C1/another/0"
    other = home.folder / "changed.jsonl"
    other.write_text(json.dumps(document), encoding="utf-8")

    refused, taken = other_home.invoke("import", str(other)), other_home.invoke("import", str(path))

    assert "sent.0.key: it belongs to another round" in refused.err
    assert taken.code == 0
    key = f"slack/T1/C1/{round_id}/1"
    assert other_home.sql("SELECT message FROM outgoing WHERE key = ?", key) == [("17.5",)]
