"""Which answers and grades of an experiment are missing."""

from council.bakeoffs.models import SuiteQuestion
from council.research.experiment import (
    ExperimentState,
    finished_calls,
    grade_of,
    is_complete,
    item_id,
    missing_answers,
    missing_grades,
    restrict_to_members,
)
from council.research.grades import Framing, Grade
from tests.builders import CLAUDE, GPT, a_panel
from tests.council.research.experiment_builders import a_cell, a_mark, a_work, an_experiment


def test_at_first_every_call_is_missing() -> None:
    left = [
        (one.number, one.member.key) for one in missing_answers(an_experiment(), ExperimentState())
    ]

    assert left == [(1, CLAUDE), (1, GPT), (2, CLAUDE), (2, GPT)]
    assert [*missing_grades(an_experiment(), ExperimentState())] == []


def test_each_member_grades_each_answer_its_own_too_in_both_framings() -> None:
    left = [*missing_grades(an_experiment(), ExperimentState((a_work(),)))]

    assert [(cell.framing, cell.judge) for cell in left] == [
        (Framing.POSITIVE, CLAUDE),
        (Framing.POSITIVE, GPT),
        (Framing.NEGATIVE, CLAUDE),
        (Framing.NEGATIVE, GPT),
    ]


def test_a_grade_that_exists_or_was_spoiled_twice_is_not_asked_for() -> None:
    once, twice = a_mark(raw=None), a_mark(a_cell(judge=CLAUDE), None, attempt=2)

    left = [*missing_grades(an_experiment(), ExperimentState((a_work(),), (once, twice)))]

    assert a_cell() in left
    assert a_cell(judge=CLAUDE) not in left


def test_it_is_complete_when_nothing_is_missing() -> None:
    experiment = an_experiment(questions=1)
    works = (a_work(), a_work(member=GPT))
    marks = [
        a_mark(a_cell(1, author, framing, judge))
        for author in (CLAUDE, GPT)
        for framing in Framing
        for judge in (CLAUDE, GPT)
    ]

    assert is_complete(experiment, ExperimentState(works, marks))
    assert finished_calls(ExperimentState(works, marks)) == experiment.calls == 10
    assert not is_complete(experiment, ExperimentState(works, marks[1:]))
    assert not is_complete(experiment, ExperimentState(works[1:], marks))


def test_a_mark_is_a_grade_with_five_best() -> None:
    experiment = an_experiment()
    item = item_id(experiment.suite.questions[0])
    negative = a_mark(a_cell(framing=Framing.NEGATIVE), raw=2)

    assert grade_of(experiment, negative) == Grade(item, Framing.NEGATIVE, GPT, CLAUDE, 4.0)
    assert grade_of(experiment, a_mark(raw=None)).score is None


def test_an_item_is_identified_by_text_and_context() -> None:
    asked = SuiteQuestion("Why?", "sums")

    assert item_id(asked) == item_id(SuiteQuestion("Why?"))
    assert item_id(asked) != item_id(SuiteQuestion("Why?", context="This."))


def test_only_members_sit_in_an_experiment() -> None:
    seated = restrict_to_members(a_panel(3, outside=1, chairmen=(CLAUDE,)))

    assert seated.judges == seated.members
    assert seated.chairmen == ()
