"""A suite that lost a part of a grader, from its import to every file a bake-off writes."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.bot.homes import Home, scripted_config

YAML = """prompts: ['{{q}}?']
tests:
- vars: {q: Six}
  assert:
  - {type: icontains-any, value: [a, e, i, o, u]}
  - {type: javascript, value: output.length > 9000}
- vars: {q: Seven}
  assert: [{type: icontains-any, value: [a, e, i, o, u]}]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pf.yaml").write_text(YAML, encoding="utf-8")
    return Home(tmp_path).with_config(scripted_config(3)).with_tables()


def _run(home: Home, *options: str) -> tuple[dict[int, set[object]], str, ET.Element]:
    """Add the suite and run it; return grades by question, the Markdown and the test cases."""
    home.invoke("suite", "add", "pf", "pf.yaml", "--yes", *options)
    files = ("--junit", "cases.xml", "--markdown", "summary.md")
    ran = home.invoke("bakeoff", "run", "pf", "--json", *files).json
    grades: dict[int, set[object]] = {}
    for cell in ran["cells"]:
        grades.setdefault(cell["question"], set()).add(cell["grade"])
    return grades, Path("summary.md").read_text(), ET.parse("cases.xml").getroot()[0]  # noqa: S314


def test_a_question_that_lost_a_check_has_no_grade_anywhere(home: Home) -> None:
    grades, summary, cases = _run(home)
    shown = home.invoke("bakeoff", "show", "last").out

    assert grades == {1: {None}, 2: {True}}
    assert (cases.attrib["skipped"], cases.attrib["failures"], cases.attrib["errors"]) == (
        "3",
        "0",
        "0",
    )
    assert "Question 1 has no grade, shown as ?" in " ".join(summary.split())
    assert "Question 1 has no grade, shown as ?" in " ".join(shown.split())
    assert [one["graded"] for one in home.invoke("suite", "list", "--json").json] == [1]
    assert "1 with a missing grader" in home.invoke("suite", "show", "pf").out
    assert home.invoke("verify", "--all").code == 0


def test_a_partial_question_is_graded_and_says_by_how_many_checks(home: Home) -> None:
    grades, summary, cases = _run(home, "--partial")
    shown = home.invoke("bakeoff", "show", "last").out

    assert grades == {1: {True}, 2: {True}}
    assert cases.attrib["skipped"] == "0"
    assert "1 of 2 checks" in cases[0].attrib["name"]
    assert "Question 1 has a grade by 1 of 2 checks." in " ".join(summary.split())
    assert "Question 1 has a grade by 1 of 2 checks." in " ".join(shown.split())
    assert home.invoke("suite", "list", "--json").json[0]["graded"] == 2
