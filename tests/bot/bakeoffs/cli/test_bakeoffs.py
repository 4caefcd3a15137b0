"""`council bakeoff`: run, listed, shown and compared, with members that answer at random."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.bot.homes import Home, panel_toml, scripted_config, seat_toml

SCREEN = 24  # lines
QUESTIONS = "Is Postgres enough?\nWhich queue?\nWhich index?\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder with a suite."""
    monkeypatch.chdir(tmp_path)
    for name in ("sql.txt", "My Suite.txt"):
        (tmp_path / name).write_text(QUESTIONS)
    return tmp_path


@pytest.fixture
def home(folder: Path) -> Home:
    return Home(folder).with_config(scripted_config(3)).with_tables()


def test_a_bakeoff_is_listed_and_shown(home: Home) -> None:
    ran = home.invoke("bakeoff", "run", "sql.txt", "--json")
    result = ran.json

    listed = home.invoke("bakeoff", "list", "--json").json
    shown = home.invoke("bakeoff", "show", "last", "--json").json
    text = home.invoke("bakeoff", "show", result["id"])
    lines = home.invoke("bakeoff", "list")

    assert "3 questions, each for North, South and East." in ran.err
    assert "It costs nothing" in ran.err
    assert "3 of 3 questions" in text.out
    assert (result["suite"], result["over"], result["failed"]) == ("sql", 3, [])
    assert [row["number"] for row in result["rounds"]] == [1, 2, 3]
    assert all(set(row["shares"]) == {"north", "south", "east"} for row in result["rounds"])
    assert len(result["records"]) == 3
    assert [line["id"] for line in listed] == [result["id"]]
    assert shown == result
    named = home.invoke("bakeoff", "run", "My Suite.txt", "--json").json["suite"]
    assert named == "my-suite"
    again = home.invoke("bakeoff", "run", "--resume", "last")
    assert (again.code, "has no questions left. `council bakeoff" in again.err) == (1, True)
    assert "Bake-off of sql by house" in text.out
    assert result["id"] in lines.out
    assert "By the judges’ points, " in lines.out


@pytest.mark.parametrize("columns", [40, 80])
def test_no_line_of_the_list_is_wider_than_the_terminal(home: Home, columns: int) -> None:
    ran = home.invoke("bakeoff", "run", "sql.txt")

    listed = home.with_settings(COLUMNS=str(columns)).invoke("bakeoff", "list")

    assert ran.out.count("\n") <= SCREEN
    assert max(map(cell_len, listed.out.splitlines())) <= columns
    assert "sql by house" in listed.out


def test_outside_judges_grade_by_a_rubric_and_their_agreement_is_shown(home: Home) -> None:
    suite = home.folder / "r.yaml"
    suite.write_text("- {question: Why?, rubric: Says why.}\n- {question: How?, answer: 7}\n")
    refused = home.invoke("bakeoff", "run", "r.yaml", "--yes")
    seats = ("north", "south", "east", "west", "middle")
    judged = panel_toml(seats[:3], outside_judges=seats[3:])
    home = home.with_config(judged + "".join(seat_toml(x, model="scripted/random") for x in seats))

    files = ("--markdown", "r.md", "--junit", "r.xml")
    ran = home.invoke("bakeoff", "run", "r.yaml", "--yes", "--json", *files)
    shown = " ".join(home.invoke("bakeoff", "show", "last").out.split())

    assert (refused.code, "1 question that outside judges grade" in refused.err) == (2, True)
    assert "2 questions, 1 with a reference answer, 1 with a rubric, each for" in ran.err
    assert ran.json["graders"]["texts"] == 4  # three answers and the council's
    assert {cell["grade"] for cell in ran.json["cells"] if cell["question"] == 2} == {False}
    # Judges that grade at random may share no answer; then there is no agreement to show.
    assert "1 question graded by 2 outside judges, who saw no names." in shown
    assert "graded by 2 outside judges" in (home.folder / "r.md").read_text()
    ungraded = sum(cell["grade"] is None for cell in ran.json["cells"])
    assert (home.folder / "r.xml").read_text().count("The grader judge was split") == ungraded
    assert home.invoke("verify", "--all").code == 0


def test_two_runs_are_compared_question_by_question_though_the_suite_changed(home: Home) -> None:
    first = home.invoke("bakeoff", "run", "sql.txt", "--json").json
    (home.folder / "sql.txt").write_text(QUESTIONS.replace("Which index?", "Which lock?"))
    second = home.invoke("bakeoff", "run", "sql.txt", "--json").json
    table = home.folder / "matrix.csv"

    shown = home.invoke("bakeoff", "show", second["id"], "--against", first["id"], "--json").json
    text = home.invoke("bakeoff", "show", "last", "--against", first["id"], "--csv", str(table))

    cells = shown["cells"]
    assert len(cells) == 9
    fields = {"question", "round_id", "member", "place", "share", "grade", "cost_usd", "seconds"}
    assert {*cells[0]} == fields
    assert cells[0]["round_id"] == f"{second['id']}.1"
    assert shown["against"]["id"] == first["id"]
    assert (shown["against"]["added"], shown["against"]["dropped"]) == ([3], ["Which index?"])
    assert second["against"] is None
    said = " ".join(text.out.split())
    assert "Question by question" in said
    assert "The suite changed between the runs" in said
    assert len(table.read_text().splitlines()) == 4


def test_a_suite_of_council_toml_is_found_by_name(folder: Path) -> None:
    suite = '[suites.small]\nquestions = ["Why?", "How?"]\n'
    home = Home(folder).with_config(scripted_config(3) + suite).with_tables()

    result = home.invoke("bakeoff", "run", "small", "--json")

    assert result.code == 0, result.err
    assert (result.json["suite"], result.json["over"]) == ("small", 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param((), "Name a suite or its file", id="nothing"),
        pytest.param(("nope",), "There is no suite 'nope'", id="unknown-suite"),
        pytest.param(("nope.csv",), "Can't read nope.csv", id="no-file"),
        pytest.param(("sql.txt", "--panel", "x"), "There is no panel 'x'", id="unknown-panel"),
        pytest.param(
            ("sql.txt", "--cap", "lots"), "'lots' is not an amount of money", id="bad-cap"
        ),
        pytest.param(("sql.txt", "--cap", "0"), "'0' is not an amount of money", id="no-money"),
        (("sql.txt", "--baseline", "b.json"), "b.json can't be read"),
        pytest.param(("sql.txt", "--member", "west"), "has no model 'west'", id="no-member"),
        pytest.param(("sql.txt", "--resume", "x"), "Name a suite or its file", id="both"),
    ],
)
def test_bad_usage_exits_with_2_and_says_why(
    home: Home, arguments: tuple[str, ...], message: str
) -> None:
    result = home.invoke("bakeoff", "run", *arguments)

    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err
    assert result.out == ""


def test_an_equal_run_passes_the_baseline_check(home: Home) -> None:
    first = home.invoke("bakeoff", "run", "sql.txt", "--save", "base.json", "--markdown", "s.md")

    second = home.invoke("bakeoff", "run", "sql.txt", "--baseline", "base.json")

    assert first.code == 0
    assert (home.folder / "s.md").read_text().startswith("# Bake-off of sql by house\n")
    assert second.code == 0, second.err
    assert "# Bake-off of sql by house: no worse than the baseline" in second.out
    assert "| Model | Measure | Before | Now | Difference (95 %) | Beyond noise |" in second.out


def test_a_baseline_of_other_questions_cannot_be_compared(home: Home) -> None:
    home.invoke("bakeoff", "run", "sql.txt", "--save", "base.json")
    (home.folder / "sql.txt").write_text("Something else?\n")

    result = home.invoke("bakeoff", "run", "sql.txt", "--baseline", "base.json")

    assert result.code == 2
    assert ". Their questions differ, so" in result.err
    assert len(home.invoke("bakeoff", "list", "--json").json) == 1  # nothing was begun


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("{", "is not valid JSON", id="broken"),
        pytest.param("[]", "has no records of a bake-off", id="a-list"),
        pytest.param('{"records": [{}]}', "can't be read", id="no-record"),
    ],
)
def test_a_broken_baseline_is_bad_usage(home: Home, text: str, message: str) -> None:
    (home.folder / "base.json").write_text(text)

    result = home.invoke("bakeoff", "run", "sql.txt", "--baseline", "base.json")

    assert result.code == 2
    assert message in result.err


def test_a_bakeoff_whose_questions_all_fail_exits_with_1(folder: Path) -> None:
    (folder / "mute.json").write_text('{"answers": []}')
    seats = "".join(seat_toml(key, model="scripted/mute.json") for key in ("one", "two"))
    home = Home(folder).with_config(panel_toml(("one", "two")) + seats).with_tables()

    result = home.invoke("bakeoff", "run", "sql.txt")

    assert result.code == 1
    assert "3 of 3 questions failed" in " ".join(result.out.split())


def test_a_pipeline_gets_junit_and_markdown(folder: Path, home: Home) -> None:
    (folder / "graded.csv").write_text("question,answer\nWhy?,x\nHow?,\n")

    ran = home.invoke("bakeoff", "run", "graded.csv", "--junit", "a.xml", "--markdown", "a.md")

    assert ran.code == 0, ran.err
    [suite] = ET.parse(folder / "a.xml").getroot()  # noqa: S314
    assert [case.get("name") for case in suite] == ["1. Why?"] * 3 + ["2. How?"] * 3
    assert (suite.get("failures"), suite.get("errors")) == ("3", "0")
    assert "## 3 wrong answers" in (folder / "a.md").read_text()


def test_a_file_of_promptfoo_runs_and_says_what_is_left_out(folder: Path, home: Home) -> None:
    (folder / "p.yaml").write_text("prompts: [Why?, file://of.py]\nproviders: [openai:x]\n")

    ran = home.invoke("bakeoff", "run", "p.yaml", "--json")

    assert ran.json["over"] == 1
    assert "of.py" in ran.err
    assert "providers" not in ran.err  # it means nothing here, so nothing is lost
