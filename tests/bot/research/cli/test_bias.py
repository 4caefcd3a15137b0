"""`council bias FILE`: the report on grades, as text and as JSON."""

import json
from pathlib import Path

import pytest

from tests.bot.homes import Home


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def grades(folder: Path, items: int = 12) -> str:
    """Write grades of three judges, of whom a prefers its own work; return the file's name."""
    rows = [
        {
            "item": str(item),
            "framing": "pos",
            "judge": judge,
            "author": author,
            "score": 3 + (item + at) % 2 + (judge == author == "a"),
        }
        for item in range(items)
        for at, judge in enumerate("abc")
        for author in "abc"
    ]
    (folder / "g.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return "g.jsonl"


def test_findings_and_tables_are_printed(folder: Path) -> None:
    result = Home(folder).invoke("bias", grades(folder))

    assert result.code == 0, result.err
    assert "a prefers its own work by 1.00 of a grade (12 items, each alike)" in result.out
    assert "Judge  V     N" in result.out
    assert "108 grades, by 3 judges on 12 items." in result.out
    assert "nan" not in result.out.lower()


def test_json_is_one_document(folder: Path) -> None:
    document = Home(folder).invoke("bias", grades(folder), "--json").json

    assert [(row["judge"], row["framing"]) for row in document["rows"]] == [
        ("a", "pos"),
        ("b", "pos"),
        ("c", "pos"),
    ]
    assert document["rows"][0]["did"] == pytest.approx(1)
    assert document["findings"]


def test_options_may_come_first(folder: Path) -> None:
    name = grades(folder)

    result = Home(folder).invoke("bias", "--json", "--parse", "strict", name)

    assert result.code == 0, result.err
    assert result.json["grades"] == 108


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(None, "Can't read nowhere.jsonl", id="no-file"),
        pytest.param("", "The file has no grades", id="empty"),
        pytest.param('{"item": "1", "framing": "up"}', "has the framing", id="framing"),
    ],
)
def test_a_bad_file_exits_with_2_and_says_why(
    folder: Path, content: str | None, message: str
) -> None:
    if content is not None:
        (folder / "nowhere.jsonl").write_text(content)

    result = Home(folder).invoke("bias", "nowhere.jsonl")

    assert result.code == 2
    assert message in result.err
    assert result.out == ""


def test_two_items_are_too_few_for_a_finding(folder: Path) -> None:
    result = Home(folder).invoke("bias", grades(folder, 2))

    assert result.code == 0
    assert (
        "this needs at least three items on which it and its peers graded each other"
        in " ".join(result.out.split())
    )


def test_the_help_names_files(folder: Path) -> None:
    lines = [
        " ".join(line.split()) for line in Home(folder).invoke("bias", "--help").out.split("\n")
    ]

    assert "council bias FILE from a file of grades" in lines


def test_an_unknown_reading_is_bad_usage(folder: Path) -> None:
    assert Home(folder).invoke("bias", grades(folder), "--parse", "loose").code == 2
