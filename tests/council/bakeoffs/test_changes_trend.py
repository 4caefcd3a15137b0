from dataclasses import replace
from datetime import timedelta

import numpy as np

from council.bakeoffs.changes import MAX_TREND_RUNS, share_trend
from council.bakeoffs.intervals import share_interval
from tests.council.bakeoffs.record_builders import MONDAY, a_record, of


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
