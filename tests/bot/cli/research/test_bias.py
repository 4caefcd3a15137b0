"""`council bias FILE`: what grades tell, printed, and as JSON."""

import json
from pathlib import Path

import pytest

from tests.bot.homes import Home


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def grades(folder: Path, items: int = 12) -> str:
    """Write grades of three judges, of whom a prefers its own work; give the file's name."""
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
    ran = Home(folder).invoke("bias", grades(folder))

    assert ran.code == 0, ran.err
    assert "a prefers its own work by 1.00 of a grade (12 items, each alike)" in ran.out
    assert "Judge  V     N" in ran.out
    assert "108 grades, by 3 judges on 12 items." in ran.out
    assert "nan" not in ran.out.lower()


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

    ran = Home(folder).invoke("bias", "--json", "--parse", "strict", name)

    assert ran.code == 0, ran.err
    assert ran.json["grades"] == 108


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "nowhere.jsonl cannot be read", id="no-file"),
        pytest.param("", "There is no grade in it", id="empty"),
        pytest.param('{"item": "1", "framing": "up"}', "a framing of 'up'", id="framing"),
    ],
)
def test_a_bad_file_is_told_in_a_sentence_and_ends_with_2(
    folder: Path, content: str | None, said: str
) -> None:
    if content is not None:
        (folder / "nowhere.jsonl").write_text(content)

    ran = Home(folder).invoke("bias", "nowhere.jsonl")

    assert ran.code == 2
    assert said in ran.err
    assert ran.out == ""


def test_two_items_are_too_few_and_that_is_said(folder: Path) -> None:
    ran = Home(folder).invoke("bias", grades(folder, 2))

    assert ran.code == 0
    assert "at least three items are needed" in " ".join(ran.out.split())


def test_without_a_file_it_says_how_it_is_used(folder: Path) -> None:
    ran = Home(folder).invoke("bias")

    assert ran.code == 2
    assert "council bias FILE" in ran.out + ran.err


def test_an_unknown_reading_is_bad_usage(folder: Path) -> None:
    assert Home(folder).invoke("bias", grades(folder), "--parse", "loose").code == 2
