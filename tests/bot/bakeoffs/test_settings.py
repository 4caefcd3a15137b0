"""Sections of council.toml about bake-offs: suites here and in files, rounds, the time zone."""

from pathlib import Path

import pytest

from bot.settings import SettingsError, load_panel_config
from council.bakeoffs.models import Grading, Reference, Suite, SuiteQuestion
from tests.bot.settings.test_council_toml import DOCUMENTED


def suites(folder: Path, text: str) -> tuple[Suite, ...]:
    path = folder / "council.toml"
    path.write_text(text, encoding="utf-8")
    parsed: tuple[Suite, ...] = load_panel_config(path).sections.get("suites", ())
    return parsed


def faults(folder: Path, text: str) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        suites(folder, text)
    return caught.value.faults


def test_questions_stand_in_the_section_itself(tmp_path: Path) -> None:
    text = """
    [suites.sql]
    category = "sql"
    judges_see_references = true
    questions = ["Why?", {question = "How many?", answer = 3, category = "counts"}]
    """

    (suite,) = suites(tmp_path, text)

    assert suite == Suite(
        "sql",
        (
            SuiteQuestion("Why?", "sql"),
            SuiteQuestion("How many?", "counts", Reference(Grading.NUMBER, "3")),
        ),
        judges_see_references=True,
    )


def test_a_relative_file_is_resolved_against_the_settings(tmp_path: Path) -> None:
    folder = tmp_path / "suites"
    folder.mkdir()
    (folder / "sql.csv").write_text("question,answer\nHow many?,3\n", encoding="utf-8")

    (suite,) = suites(tmp_path, '[suites.sql]\nfile = "suites/sql.csv"\ncategory = "c"\n')

    assert suite.questions == (SuiteQuestion("How many?", "c", Reference(Grading.NUMBER, "3")),)


@pytest.mark.parametrize(
    ("section", "told"),
    [
        pytest.param("[suites.sql]\n", "suites.sql: write either questions", id="neither"),
        ('[suites.sql]\nquestions = ["a"]\nfile = "a.csv"\n', "write either questions"),
        pytest.param('[suites.sql]\nfile = "no.csv"\n', "can't be read (No such file", id="gone"),
        pytest.param('[suites.sql]\nquestions = ["a", "A"]\n', "Question 2 asks the same", id="2x"),
        pytest.param("[suites.sql]\nquestions = []\n", "There are no questions in it", id="none"),
        pytest.param('[suites."a b"]\nquestions = ["a"]\n', "A suite can't be called", id="name"),
        pytest.param('[suites.sql]\nqs = ["a"]\n', "suites.sql.qs", id="unknown"),
        pytest.param("suites = 3\n", "must be written as [suites.NAME]", id="shape"),
    ],
)
def test_each_fault_is_a_line(tmp_path: Path, section: str, told: str) -> None:
    found = faults(tmp_path, section)

    assert all(fault.startswith("council.toml: ") for fault in found)
    assert told in "\n".join(found)


def test_faults_of_two_suites_are_two_lines(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"question\n\xe9\n")
    text = '[suites.a]\nfile = "bad.csv"\n[suites.b]\nquestions = [1]\n'

    found = faults(tmp_path, text)

    assert len(found) == 2
    assert "Line 2 of bad.csv is not UTF-8" in found[0]


def test_rounds_at_once_and_the_time_zone_are_read(tmp_path: Path) -> None:
    path = tmp_path / "council.toml"
    path.write_text('time_zone = "europe/budapest"\n[bakeoffs]\nrounds_at_once = 4\n')

    sections = load_panel_config(path).sections

    assert (sections["bakeoffs"].rounds_at_once, sections["time_zone"]) == (4, "Europe/Budapest")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param("[bakeoffs]\nrounds_at_once = 0", "bakeoffs.rounds_at_once: ", id="none"),
        pytest.param(
            'time_zone = "Europe/Budapst"',
            "there is no time zone 'Europe/Budapst'; write it as in 'Europe/Budapest'",
            id="zone",
        ),
    ],
)
def test_a_fault_is_named(tmp_path: Path, text: str, fault: str) -> None:
    [found] = faults(tmp_path, text)

    assert fault in found


def test_the_documented_file_may_have_a_suite(tmp_path: Path) -> None:
    [suite] = suites(tmp_path, f'{DOCUMENTED}[suites.sql]\nquestions = ["Why?", "How?"]\n')

    assert (suite.name, len(suite.questions)) == ("sql", 2)


def test_a_whole_configuration_of_promptfoo_is_a_suite(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("providers: [x]\ndescription: d\nprompts: file://q.txt\n")
    (tmp_path / "q.txt").write_text("Six?")

    (suite,) = suites(tmp_path, '[suites.six]\nfile = "p.yaml"\n')

    assert suite.questions == (SuiteQuestion("Six?"),)


def test_a_column_that_a_suite_has_not_is_refused_by_name(tmp_path: Path) -> None:
    text = '[suites.sql]\nquestions = [{question = "How many?", answr = 3}]\n'

    assert "Question 1: answr, a suite has no such column" in faults(tmp_path, text)[0]
