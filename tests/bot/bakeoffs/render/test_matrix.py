"""A bake-off's matrix as texts, a table, JSON and CSV."""

import csv
from io import StringIO

import pytest

from bot.bakeoffs.render.matrix import (
    cell_class,
    cell_documents,
    cell_text,
    comparison_document,
    comparison_lines,
    council_text,
    matrix_csv,
    matrix_post,
    totals,
    was_text,
)
from bot.chat import Note, Table
from council.bakeoffs.changes import Changes
from council.bakeoffs.matrix import Cell, MatrixRow, RunMatrix, compare_runs
from council.bakeoffs.models import Grading, Reference, SuiteQuestion
from council.bakeoffs.records import CouncilRecord
from tests.bot.bakeoffs.render.boards.builders import a_leaderboard, a_move
from tests.builders import CLAUDE, GEMINI, GPT, NAMES, a_panel
from tests.council.bakeoffs.record_builders import a_record
from tests.council.bakeoffs.test_matrix import a_bakeoff, a_graded_record, a_matrix

RIGHT, WRONG = Cell(CLAUDE, 1, 1.0, True), Cell(CLAUDE, 3, 0.2, False)


@pytest.mark.parametrize(
    ("cell", "text", "css"),
    [
        (None, "", "none"),
        (Cell(CLAUDE, absent=True), "–", "none"),
        (Cell(CLAUDE), "not ranked", ""),
        (Cell(CLAUDE, 2, is_ungraded=True), "? 2nd", ""),
        (RIGHT, "✓ 1st", "right"),
        (WRONG, "✗ 3rd", "wrong"),
        (Cell(CLAUDE, grade=True), "✓", "right"),
        (Cell(CLAUDE, 2, 0.5), "2nd", "h2"),
        (Cell(CLAUDE, 1, 1.0), "1st", "h4"),
        (Cell(CLAUDE, 5, 0.0), "5th", "h0"),
    ],
)
def test_a_cell_says_its_result_in_text_and_colour(cell: Cell | None, text: str, css: str) -> None:
    assert (cell_text(cell), cell_class(cell)) == (text, css)


@pytest.mark.parametrize(
    ("cell", "before", "text"),
    [
        (RIGHT, None, ""),
        (RIGHT, RIGHT, ""),
        (RIGHT, WRONG, "was ✗"),
        (RIGHT, Cell(CLAUDE, 4, 0.1, True), ""),  # its grade is the same
        (Cell(CLAUDE, 1, 1.0), Cell(CLAUDE, 3, 0.2), "was 3rd"),
        (None, RIGHT, "was ✓"),
        (Cell(CLAUDE, absent=True), Cell(CLAUDE, 2, 0.5), "was 2nd"),
    ],
)
def test_a_compared_cell_says_what_it_was(
    cell: Cell | None, before: Cell | None, text: str
) -> None:
    assert was_text(cell, before) == text


def test_the_council_is_ungraded_only_where_its_question_has_a_grader() -> None:
    cells, graded = {CLAUDE: RIGHT}, SuiteQuestion("", reference=Reference(Grading.JUDGE, "a"))

    assert council_text(MatrixRow(1, graded, failure="Down.")) == "failed"
    assert council_text(MatrixRow(1, graded, cells=cells)) == "?"
    assert council_text(MatrixRow(1, graded, cells=cells, council_grade=True)) == "✓"
    assert council_text(MatrixRow(1, graded)) == ""
    assert council_text(MatrixRow(1, SuiteQuestion(""), cells=cells)) == ""


def a_run() -> RunMatrix:
    record = a_graded_record(CLAUDE)
    now = a_matrix(a_bakeoff("one", "two", "three"), dict.fromkeys((1, 2), record), {3: "Down."})
    earlier = {1: a_graded_record(CLAUDE, GPT, council=False), 2: record}
    before = a_matrix(a_bakeoff("one", "gone", "three"), earlier)
    changes = Changes("bo:1", 1, (a_move(CLAUDE),))
    other = a_bakeoff("one", run=1)
    return RunMatrix(a_bakeoff("x"), now, other, compare_runs(now, before), changes)


def test_a_comparison_says_what_changed_and_what_cannot_be_compared() -> None:
    assert [*comparison_lines(a_run(), NAMES)] == [
        "1 result changed of 1 question that both runs finished; 0 answers became right and 1 "
        "became wrong.",
        "Not compared: 1 question that one run did not finish.",
        "The suite changed between the runs: 1 question only in this one, 1 question only in the "
        "earlier one. These are not compared.",
        "Claude Sonnet 4.6 fell from 64 % to 49 % of rivals beaten (−15 points, −22 to −8); "
        "unlikely to be chance.",
    ]
    assert [*comparison_lines(RunMatrix(a_bakeoff("a"), a_matrix(a_bakeoff("a"), {})), {})] == []


def test_a_comparison_names_models_of_only_one_run() -> None:
    small, record = a_bakeoff("a", panel=a_panel(2)), a_record({CLAUDE: 1.0, GPT: 0.0})
    whole = a_record({CLAUDE: 1.0, GPT: 0.5, GEMINI: 0.0})
    now, before = a_matrix(small, {1: record}), a_matrix(a_bakeoff("a"), {1: whole})

    left = RunMatrix(small, now, a_bakeoff("a"), compare_runs(now, before), Changes("b", 1))
    joined = RunMatrix(small, before, small, compare_runs(before, now))

    assert [*comparison_lines(left, NAMES)][1:] == [
        "Gemini 3 Pro answered only in the earlier run.",
        "No change beyond chance since that run.",
    ]
    assert [*comparison_lines(joined, NAMES)][1:] == ["Gemini 3 Pro answered only in this run."]


def test_a_comparison_says_nothing_twice_and_nothing_of_a_model_that_never_answered() -> None:
    absent = a_record({CLAUDE: 1.0, GPT: 0.0, GEMINI: None})
    now = a_matrix(a_bakeoff("a"), {1: absent})
    small = a_matrix(a_bakeoff("a", panel=a_panel(2)), {1: a_record({CLAUDE: 1.0, GPT: 0.0})})
    whole = a_matrix(a_bakeoff("a"), {1: a_record({CLAUDE: 1.0, GPT: 0.5, GEMINI: 0.0})})
    gone = Changes("b", 1, missing=(GEMINI,))

    joined = RunMatrix(a_bakeoff("a"), now, a_bakeoff("a"), compare_runs(now, small))
    left = RunMatrix(a_bakeoff("a"), now, a_bakeoff("a"), compare_runs(now, whole), gone)

    assert not any("Gemini" in line for line in comparison_lines(joined, NAMES))
    assert [line for line in comparison_lines(left, NAMES) if "Gemini" in line] == [
        "Gemini 3 Pro answered only in the earlier run."
    ]


def test_nobody_is_named_as_the_winner_of_a_tie() -> None:
    tied = a_record(
        {CLAUDE: 0.5, GPT: 0.5, GEMINI: 0.5},
        place={CLAUDE: 1, GPT: 1, GEMINI: 1},
        whole=CouncilRecord(GPT),
    )
    bakeoff = a_bakeoff("a")
    run = RunMatrix(bakeoff, a_matrix(bakeoff, {1: tied}))

    table = next(part for part in matrix_post(run, NAMES).parts if isinstance(part, Table))
    (row,) = csv.DictReader(matrix_csv(run).splitlines())

    assert table.rows[0][-1] == "tied"
    assert (row["winner"], row["winner_grade"]) == ("", "")


def test_totals_have_place_points_right_price_and_time() -> None:
    rows = dict(totals(a_leaderboard(), (CLAUDE, GPT, "openai/gone")))

    assert rows["Place"][:3] == ("=1", "=1", "")
    assert rows["Points"] == ("71 %", "66 %", "", "", "")
    assert rows["Right"] == ("19 of 24", "17 of 24", "", "19 of 24", "18 of 24")
    assert rows["Price"][:2] == ("$0.012", "$0.0060")
    assert rows["Time"][3] == "21 s"


def test_the_terminal_has_a_row_for_each_question() -> None:
    many = a_matrix(a_bakeoff(*("?" * n for n in range(1, 104))), {1: a_graded_record(CLAUDE)})

    post = matrix_post(a_run(), NAMES)
    long = matrix_post(RunMatrix(a_bakeoff("a"), many), NAMES)

    (table,) = [part for part in post.parts if isinstance(part, Table)]
    assert table.columns[2:] == (
        "Claude Sonnet 4.6",
        "GPT-5.1",
        "Gemini 3 Pro",
        "Council",
        "Winner",
    )
    assert table.rows[0] == ("1", "one", "✓ 1st", "✗ 2nd", "✗ 3rd", "✓", "Claude Sonnet 4.6")
    assert table.rows[2] == ("3", "three", "", "", "", "failed", "")
    assert isinstance(long.parts[-1], Note)
    assert "And 3 more questions" in long.parts[-1].text


def test_json_has_every_cell_and_what_changed() -> None:
    cells = cell_documents(a_run())

    assert len(cells) == 6
    assert cells[1] == {
        "question": 1,
        "round_id": "run0.1",
        "member": GPT,
        "place": 2,
        "share": 0.5,
        "grade": False,
        "cost_usd": None,
        "seconds": None,
    }
    assert comparison_document(a_run()) == {
        "id": "run1",
        "changed": [1],
        "added": [2],
        "dropped": ["gone"],
        "left": [],
        "joined": [],
    }
    assert comparison_document(RunMatrix(a_bakeoff("a"), a_matrix(a_bakeoff("a"), {}))) is None


def test_csv_has_a_row_for_each_question_and_columns_for_each_model() -> None:
    rows = [*csv.DictReader(StringIO(matrix_csv(a_run())))]
    none = RunMatrix(a_bakeoff(), a_matrix(a_bakeoff(), {}))

    assert [row["text"] for row in rows] == ["one", "two", "three"]
    assert (rows[0]["winner"], rows[0]["council_grade"]) == (CLAUDE, "True")
    assert rows[0][f"{GEMINI} place"] == "3"
    assert (rows[2]["failure"], rows[2][f"{GEMINI} place"]) == ("Down.", "")
    assert matrix_csv(none) == "question\n"
