from collections.abc import Mapping
from dataclasses import replace

import pytest

from council.bakeoffs.matrix import (
    Cell,
    Matrix,
    MatrixRow,
    RunMatrix,
    build_matrix,
    changed_grades,
    compare_methods,
    compare_runs,
    has_changed,
    select_rows,
)
from council.bakeoffs.models import Bakeoff, Grading, Reference, Suite, SuiteQuestion
from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import CouncilRecord, Record
from council.panel import Panel, Trial
from council.places import NOWHERE
from council.ports import RoundSummary
from council.rounds import Stage
from tests.builders import ASKED_AT, CLAUDE, GEMINI, GPT, a_panel
from tests.council.bakeoffs.record_builders import a_record

SHARES = {CLAUDE: 1.0, GPT: 0.5, GEMINI: 0.0}


def a_bakeoff(*texts: str, run: int = 0, panel: Panel | None = None) -> Bakeoff:
    suite = Suite("sql", tuple(SuiteQuestion(text, category=text[:1]) for text in texts))
    return Bakeoff(f"run{run}", suite, panel or a_panel(3), NOWHERE, "U1", ASKED_AT)


def a_summary(
    bakeoff: Bakeoff, number: int, strength: str = "clear", failure: str | None = None
) -> RoundSummary:
    id_ = bakeoff.round_id(number)
    return RoundSummary(id_, "", ASKED_AT, Stage.CLOSED, strength=strength, failure=failure)


def a_matrix(
    bakeoff: Bakeoff, records: Mapping[int, Record], failures: Mapping[int, str] | None = None
) -> Matrix:
    """Return the matrix of these records, by the numbers of their questions."""
    rounds = [a_summary(bakeoff, number) for number in records]
    packed = [pack_record(replace(one, number=number)) for number, one in records.items()]
    return build_matrix(bakeoff, rounds, packed, failures or {})


def a_graded_record(*right: str, winner: str = CLAUDE, council: bool = True) -> Record:
    correct = {member: member in right for member in SHARES}
    whole = CouncilRecord(winner, council, cost_usd=0.1, seconds=3)
    return a_record(SHARES, whole=whole, correct=correct, place={CLAUDE: 1, GPT: 2, GEMINI: 3})


def test_a_cell_has_place_share_grade_cost_and_time() -> None:
    record = a_record(
        {CLAUDE: 2 / 3, GPT: None},
        place={CLAUDE: 1},
        correct={CLAUDE: True},
        cost_usd={CLAUDE: 0.0123},
        seconds={CLAUDE: 4.1},
        whole=CouncilRecord(CLAUDE, False, cost_usd=0.1, seconds=21),
    )

    matrix = a_matrix(a_bakeoff("How many?"), {1: record})

    (row,) = matrix.rows
    assert matrix.members == (CLAUDE, GPT, GEMINI)  # as in the panel
    assert row.cells[CLAUDE] == Cell(CLAUDE, 1, 0.6666667, True, 0.0123, 4.1)
    assert row.cells[GPT] == Cell(GPT, absent=True)
    assert GEMINI not in row.cells
    assert (row.winner, row.winner_grade, row.council_grade) == (CLAUDE, True, False)
    assert (row.round_id, row.cost_usd, row.seconds) == ("run0.1", 0.1, 21)
    assert (row.question.text, row.is_over) == ("How many?", True)


def test_an_answer_without_a_grade_is_marked_where_its_question_has_a_grader() -> None:
    record = a_record({CLAUDE: 1.0, GPT: None}, correct={})
    plain = a_bakeoff("Why?")
    asked = replace(plain.suite.questions[0], reference=Reference(Grading.JUDGE, "Says why."))
    graded = replace(plain, suite=replace(plain.suite, questions=(asked,)))

    (row,), (other,) = (a_matrix(one, {1: record}).rows for one in (graded, plain))

    assert [row.cells[key].is_ungraded for key in (CLAUDE, GPT)] == [True, False]
    assert not other.cells[CLAUDE].is_ungraded


def test_a_question_without_a_record_has_no_cells() -> None:
    bakeoff = a_bakeoff("a", "b", "c", "d")
    rounds = [
        a_summary(bakeoff, 1, strength="no consensus"),
        a_summary(bakeoff, 2, failure="Nobody answered."),
    ]

    rows = build_matrix(bakeoff, rounds, [], {3: "The cap is reached."}).rows

    assert [row.round_id for row in rows] == ["run0.1", "run0.2", "", ""]
    assert [row.failure for row in rows] == ["", "Nobody answered.", "The cap is reached.", ""]
    assert [row.is_disputed for row in rows] == [True, False, False, False]
    assert [row.is_over for row in rows] == [False, True, True, False]
    assert rows[0].winner_grade is None


def test_a_stand_in_comes_after_the_members_of_the_panel() -> None:
    record = a_record({CLAUDE: 1.0, "openai/spare": 0.0})

    assert a_matrix(a_bakeoff("a"), {1: record}).members == (CLAUDE, GPT, GEMINI, "openai/spare")


def compared(now: Matrix, before: Matrix) -> RunMatrix:
    return RunMatrix(a_bakeoff("x"), now, a_bakeoff("x", run=1), compare_runs(now, before))


def test_runs_are_matched_by_the_words_of_questions_in_any_order() -> None:
    record = a_graded_record(CLAUDE)
    now = a_matrix(a_bakeoff("new", "same", "twice", "twice"), dict.fromkeys((1, 2, 3, 4), record))
    before = a_matrix(a_bakeoff("twice", "old", "same"), dict.fromkeys((1, 2, 3), record))

    found = compare_runs(now, before)

    assert {number: row.number for number, row in found.before.items()} == {2: 3, 3: 1}
    assert [row.question.text for row in found.dropped] == ["old"]


def test_members_of_only_one_run_are_named() -> None:
    now = a_matrix(a_bakeoff("a", panel=a_panel(2)), {})
    before = a_matrix(a_bakeoff("a"), {})

    assert (compare_runs(now, before).left, compare_runs(now, before).joined) == ((GEMINI,), ())
    assert compare_runs(before, now).joined == (GEMINI,)


def test_a_model_that_never_answered_is_in_no_run_alone() -> None:
    absent = a_record({CLAUDE: 1.0, GPT: 0.0, GEMINI: None})
    now = a_matrix(a_bakeoff("a"), {1: absent})
    before = a_matrix(a_bakeoff("a", panel=a_panel(2)), {1: a_record({CLAUDE: 1.0, GPT: 0.0})})
    whole = a_matrix(a_bakeoff("a"), {1: a_record(SHARES)})

    assert compare_runs(now, before).joined == (GEMINI,)
    assert compare_runs(now, before).only_now == ()
    assert compare_runs(now, whole).only_before == (GEMINI,)
    assert compare_runs(whole, now).only_now == (GEMINI,)


def test_the_answer_that_stands_in_after_a_tie_is_no_winner() -> None:
    tied = {CLAUDE: 1, GPT: 1, GEMINI: 1}
    rows = [
        a_matrix(
            a_bakeoff("a"), {1: a_record(SHARES, place=tied, whole=CouncilRecord(winner))}
        ).rows[0]
        for winner in (CLAUDE, GPT)
    ]

    assert [(row.is_tied, row.sole_winner) for row in rows] == [(True, ""), (True, "")]
    assert not has_changed(*rows)


@pytest.mark.parametrize(
    ("before", "is_changed"),
    [
        pytest.param(a_graded_record(CLAUDE), False, id="the same"),
        pytest.param(a_graded_record(CLAUDE, GPT), True, id="a grade"),
        pytest.param(a_graded_record(CLAUDE, winner=GPT), True, id="the winner"),
        pytest.param(a_graded_record(CLAUDE, council=False), True, id="the council's grade"),
        pytest.param(
            a_record({CLAUDE: 1.0}, whole=CouncilRecord(CLAUDE, True)), False, id="fewer members"
        ),
    ],
)
def test_a_question_changed_if_a_grade_or_the_winner_did(before: Record, is_changed: bool) -> None:
    now = a_matrix(a_bakeoff("a"), {1: a_graded_record(CLAUDE)})

    run = compared(now, a_matrix(a_bakeoff("a"), {1: before}))

    assert run.changed == (frozenset({1}) if is_changed else frozenset())
    assert select_rows(run, "changed") == (list(now.rows) if is_changed else [])


def test_a_question_that_failed_in_one_run_changed() -> None:
    answered = a_matrix(a_bakeoff("a"), {1: a_record(SHARES)}).rows[0]
    failed = a_matrix(a_bakeoff("a"), {}, {1: "Nobody answered."}).rows[0]

    assert has_changed(failed, answered)
    assert not has_changed(failed, failed)


def test_a_question_that_one_run_did_not_reach_is_not_compared() -> None:
    now = a_matrix(a_bakeoff("a", "b"), dict.fromkeys((1, 2), a_graded_record(CLAUDE)))
    stopped = a_matrix(a_bakeoff("a", "b"), {1: a_graded_record(CLAUDE)})

    run = compared(now, stopped)

    assert [row.number for row, _ in run.pairs] == [1]
    assert run.changed == frozenset()


def test_rows_are_filtered_by_state_and_category() -> None:
    bakeoff = a_bakeoff("a", "b", "c", "c")
    rounds = [a_summary(bakeoff, 1, failure="x"), a_summary(bakeoff, 2, strength="tied")]
    run = RunMatrix(bakeoff, build_matrix(bakeoff, rounds, [], {}))

    assert run.categories == ("a", "b", "c")
    assert [row.number for row in select_rows(run)] == [1, 2, 3, 4]
    assert [row.number for row in select_rows(run, category="c")] == [3, 4]
    assert [row.number for row in select_rows(run, "failed")] == [1]
    assert [row.number for row in select_rows(run, "disputed")] == [2]
    assert (run.pairs, select_rows(run, "changed")) == ([], [])


def test_methods_are_compared_by_what_their_rounds_found() -> None:
    plain = a_bakeoff("a", "b")
    bakeoff = replace(plain, suite=plain.suite.under(("blind-ranking", "both-orders")))
    records = {
        1: a_graded_record(CLAUDE),
        2: a_graded_record(GPT, council=False),
        3: a_graded_record(CLAUDE),
    }

    first, second = compare_methods(a_matrix(bakeoff, records))

    assert (first.method, first.over, first.graded) == ("blind-ranking", 2, 2)
    assert (first.winner_right, first.council_right) == (2, 2)
    assert (second.over, second.winner_right, second.council_right) == (1, 0, 0)
    assert compare_methods(a_matrix(plain, {})) == ()


def test_a_winner_counts_where_its_own_answer_is_graded() -> None:
    plain = a_bakeoff("a", "b", "c")
    bakeoff = replace(plain, suite=plain.suite.under(("blind-ranking", "both-orders")))
    unknown = a_record(SHARES, whole=CouncilRecord(CLAUDE, True), place={CLAUDE: 1})
    no_council = a_record(
        shares=SHARES,
        whole=CouncilRecord(CLAUDE),
        place={CLAUDE: 1},
        correct={CLAUDE: True},
    )
    records = {1: unknown, 3: no_council, 5: a_graded_record(GPT)}

    first, _ = compare_methods(a_matrix(bakeoff, records))

    assert (first.winner_right, first.winners_graded) == (1, 2)
    assert (first.council_right, first.graded) == (2, 2)


def test_runs_of_several_methods_match_under_the_same_method() -> None:
    record = a_graded_record(CLAUDE)
    both = a_bakeoff("a").suite.under(("both-orders", "blind-ranking"))
    turned = a_bakeoff("a").suite.under(("blind-ranking", "both-orders"))
    one = a_matrix(replace(a_bakeoff("a"), suite=both), dict.fromkeys((1, 2), record))
    other = a_matrix(replace(a_bakeoff("a"), suite=turned), dict.fromkeys((1, 2), record))
    plain = a_matrix(a_bakeoff("a"), {1: record})

    assert {n: row.number for n, row in compare_runs(one, other).before.items()} == {1: 2, 2: 1}
    # A run without methods is one under the panel's own.
    assert {n: row.number for n, row in compare_runs(one, plain).before.items()} == {2: 1}


def test_a_failed_round_is_neither_graded_nor_in_the_means() -> None:
    plain = a_bakeoff("a", "b")
    bakeoff = replace(plain, suite=plain.suite.under(("blind-ranking",)))
    paid = a_graded_record(CLAUDE)
    nothing = replace(paid, whole=CouncilRecord(council_correct=False, cost_usd=0.0, seconds=60.0))
    matrix = a_matrix(bakeoff, {1: paid, 2: nothing}, {2: "Nobody answered."})

    (line,) = compare_methods(matrix)

    assert (line.over, line.failed, line.graded, line.council_right) == (2, 1, 1, 1)
    assert (line.cost_usd, line.seconds) == (paid.whole.cost_usd, paid.whole.seconds)


def test_an_answer_that_is_gone_is_a_changed_grade() -> None:
    bakeoff = a_bakeoff("a")
    graded = replace(bakeoff.suite.questions[0], reference=Reference(Grading.EXACT, "4"))
    gone = MatrixRow(1, graded, cells={CLAUDE: Cell(CLAUDE, absent=True)})
    right = MatrixRow(1, graded, cells={CLAUDE: Cell(CLAUDE, grade=True)})

    assert [*changed_grades(gone, right)] == [False]
    assert gone.grade_of(gone.cells[CLAUDE]) is False


def test_a_trial_has_no_council_and_disputes_nothing() -> None:
    bakeoff = a_bakeoff("a")
    tried = replace(bakeoff, panel=replace(bakeoff.panel, trial=Trial(CLAUDE, GPT, False)))

    (row,) = build_matrix(tried, [a_summary(tried, 1, strength="tied")], [], {}).rows

    assert (row.has_council, row.is_disputed) == (False, False)
