from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from council.bakeoffs.changes import (
    MAX_TREND_RUNS,
    Changes,
    LostBaseline,
    Measure,
    MemberChange,
    SwapHint,
    SwapSign,
    compare_with_past,
    share_trend,
)
from council.bakeoffs.intervals import share_interval
from council.bakeoffs.records import Record
from tests.council.bakeoffs.record_builders import MONDAY, a_record, of
from tests.council.bakeoffs.simulated_runs import Drawn, drawn_runs

RUN = {"ada": 0.75, "bob": 0.25}


def _run(run: int, shares: Mapping[str, float | None] = RUN, questions: int = 12) -> list[Record]:
    return [a_record(shares, number=i, run=run) for i in range(1, questions + 1)]


def _changes(now: Sequence[Record], *before: Sequence[Record]) -> Changes:
    return compare_with_past(of(*now), of(*(record for run in before for record in run)))


def _move(found: Changes, member: str, measure: Measure = Measure.SHARE) -> MemberChange:
    return next(x for x in found.moves if (x.member, x.measure) == (member, measure))


def test_a_first_run_has_nothing_to_compare_with() -> None:
    found = _changes(_run(0))

    assert found == Changes("run0", 0)
    assert not found.is_news


def test_a_lost_baseline_is_news_that_makes_nothing_worse() -> None:
    lost = Changes("run0", 0, lost=LostBaseline("run-1"))

    assert (lost.is_news, lost.is_worse, lost.signature) == (True, False, ("lost run-1",))


def test_without_rounds_there_are_no_changes() -> None:
    assert compare_with_past(of(), of(*_run(0))) == Changes("", 0)


def test_a_fall_on_every_question_is_beyond_noise() -> None:
    found = _changes(_run(2, {"ada": 0.25, "bob": 0.75}), _run(0), _run(1))

    # A pair of members wins or loses whole: ada fell from 1 to 0, on 12 questions.
    move = _move(found, "ada")
    assert (move.before, move.now, move.difference) == (1, 0, -1)
    assert (move.questions, move.runs, move.is_beyond_noise) == (12, 2, True)
    assert move.p == 2**-11
    assert found.is_news
    assert [move.member for move in found.worse()] == ["ada"]
    assert found.worse("bob") == ()
    assert found.worse("ada") == (move,)


def test_runs_of_another_version_and_questions_of_people_are_not_the_past() -> None:
    other = [replace(record, suite_version="v0") for record in _run(0)]
    asked = [replace(record, bakeoff="") for record in _run(1)]

    assert _changes(_run(2), other, asked).runs == 0
    assert _changes(_run(2), other, asked, _run(1)).runs == 1


def test_new_and_missing_members_are_news() -> None:
    found = _changes(_run(1, {"ada": 0.75, "cyd": 0.25}), _run(0))

    assert (found.new, found.missing) == (("cyd",), ("bob",))
    assert found.is_news


def test_members_are_compared_among_those_that_both_runs_have() -> None:
    before = _run(0, {"ada": 0.5, "bob": 0.25, "cyd": 0.75})
    found = _changes(_run(1, {"ada": 0.75, "bob": 0.25, "dee": 1.0}), before)

    # Without cyd and dee, ada beats bob in both runs.
    assert _move(found, "ada").difference == 0
    assert not found.beyond_noise


def test_runs_in_which_a_member_did_not_sit_are_no_past_of_the_panel() -> None:
    found = _changes(_run(2), _run(0, {"ada": 0.75, "cyd": 0.25}), _run(1))

    assert (found.runs, _move(found, "ada").runs) == (2, 1)


def test_runs_of_different_lengths_are_paired_by_question() -> None:
    assert _move(_changes(_run(1, questions=12), _run(0, questions=5)), "ada").questions == 5
    assert _move(_changes(_run(1, questions=5), _run(0, questions=12)), "ada").questions == 5


def test_accuracy_moves_where_answers_are_graded() -> None:
    def run(number: int, right: bool) -> list[Record]:
        return [replace(r, authored=_graded(r, right)) for r in _run(number)]

    found = _changes(run(2, right=False), run(0, right=True), run(1, right=True))

    move = _move(found, "ada", Measure.ACCURACY)
    assert (move.before, move.now, move.is_beyond_noise) == (1, 0, True)
    assert not _move(found, "ada").is_beyond_noise


def _graded(record: Record, right: bool) -> tuple:  # type: ignore[type-arg]  # of authored
    return tuple(replace(one, correct=right or one.member != "ada") for one in record.authored)


@pytest.mark.parametrize(
    ("field", "sign", "before", "now"),
    [
        ("words", SwapSign.LENGTH, 100, 200),
        ("seconds", SwapSign.LATENCY, 2.0, 1.0),
        ("refused", SwapSign.REFUSALS, 0.0, 1.0),
    ],
)
def test_changed_style_hints_at_another_model(
    field: str, sign: SwapSign, before: float, now: float
) -> None:
    earlier = _with(_run(0), field, before)
    found = _changes(_with(_run(1), field, now), earlier)

    (hint,) = found.hints
    assert (hint.member, hint.sign, hint.p) == ("ada", sign, 2**-11)
    assert (hint.before, hint.now) == pytest.approx((before, now))
    assert found.is_news


def _with(records: list[Record], field: str, value: float) -> list[Record]:
    """Return the records with a field of ada's answers."""
    return [
        replace(r, authored=(replace(r.authored[0], **{field: value}), *r.authored[1:]))  # type: ignore[arg-type]  # a field by its name
        for r in records
    ]


@pytest.mark.parametrize("runs", [40, pytest.param(300, marks=pytest.mark.nightly)])
def test_of_equal_runs_at_least_95_of_100_post_no_change(runs: int) -> None:
    rng = np.random.default_rng(31)

    told = [compare_with_past(*drawn_runs(rng, Drawn(members=5))).is_news for _ in range(runs)]

    assert np.mean(told) <= 0.05


def test_each_run_has_a_share_of_each_member_with_its_interval() -> None:
    found = share_trend(
        of(
            a_record({"ada": 1.0, "bob": 0.0}, number=1, run=1),
            a_record({"ada": 0.5, "bob": 0.5}, number=2, run=1),
            a_record({"ada": 0.0, "bob": None}, number=1, run=0),
        )
    )

    assert [run.bakeoff for run in found] == ["run0", "run1"]
    assert found[1].at == MONDAY + timedelta(days=7, minutes=1)
    assert [(point.member, point.share, point.rounds) for point in found[1].points] == [
        ("ada", 0.75, 2),
        ("bob", 0.25, 2),
    ]
    assert found[1].points[0].ci == share_interval(np.array([1.0, 0.5]))
    assert [point.member for point in found[0].points] == ["ada"]


def test_questions_that_people_asked_belong_to_no_run() -> None:
    asked = replace(a_record({"ada": 1.0, "bob": 0.0}), bakeoff="")

    assert share_trend(of(asked)) == ()


def test_a_trend_has_the_newest_runs() -> None:
    found = share_trend(
        of(*(a_record({"ada": 1.0, "bob": 0.0}, run=i) for i in range(MAX_TREND_RUNS + 5)))
    )

    assert [found[0].bakeoff, found[-1].bakeoff] == ["run5", f"run{MAX_TREND_RUNS + 4}"]


def _a_move(difference: float, measure: Measure = Measure.SHARE) -> MemberChange:
    interval = (difference - 0.1, difference + 0.1)
    return MemberChange(
        "ada", measure, 0.5, 0.5 + difference, difference, interval, 0.0, True, 9, 2
    )


def test_a_fall_a_swap_or_a_silence_is_worse_and_a_rise_is_not() -> None:
    swap = SwapHint("ada", SwapSign.LENGTH, 480.0, 210.0, 0.0001)

    assert not Changes("b", 1, (_a_move(0.2),), new=("cyd",)).is_worse
    assert Changes("b", 1, (_a_move(-0.2),)).is_worse
    assert Changes("b", 1, hints=(swap,)).is_worse
    assert Changes("b", 1, missing=("bob",)).is_worse


def test_where_grades_decide_a_fall_in_points_is_not_worse() -> None:
    points, grades = _a_move(-0.2), _a_move(-0.2, Measure.ACCURACY)

    assert not Changes("b", 1, (points,), decides=Measure.ACCURACY).is_worse
    assert Changes("b", 1, (points, grades), decides=Measure.ACCURACY).worse() == (grades,)
    assert Changes("b", 1, (points,), decides=Measure.SHARE).worse("ada") == (points,)


def test_the_signature_says_what_changed_but_not_how_far() -> None:
    swap = SwapHint("ada", SwapSign.LENGTH, 480.0, 210.0, 0.0001)
    one = Changes("b", 1, (_a_move(-0.2),), (swap,), ("cyd",), ("bob",))

    assert one.signature == Changes("c", 2, (_a_move(-0.3),), (swap,), ("cyd",), ("bob",)).signature
    assert one.signature != Changes("b", 1, (_a_move(0.2),), (swap,), ("cyd",), ("bob",)).signature
    assert Changes("b", 1).signature == ()
