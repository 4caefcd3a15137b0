"""Trials: whom they ask, when they stop, and what they show."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from council.bakeoffs.models import Bakeoff, BakeoffProgress, Ending, Grading, Reference, Suite
from council.bakeoffs.models import SuiteQuestion as Asked
from council.bakeoffs.record_arrays import Columns, Floats, pack_record, record_columns
from council.bakeoffs.trial import (
    USUAL_SPREAD,
    Outcome,
    can_still_decide,
    detectable_difference,
    earlier_spread,
    is_settled,
    look_sizes,
    next_look,
    outcome_at,
    paired_differences,
    questions_to_settle,
    rests_on_grades,
    round_panel,
    spread,
    trial_panel,
    trial_result,
    z_value,
)
from council.errors import PanelError, SuiteError
from council.methods import BOTH_ORDERS, find_method
from council.panel import Trial
from council.places import NOWHERE
from council.registry import NO_PLUGINS
from tests.builders import ASKED_AT, CLAUDE, DEEPSEEK, GEMINI, GPT, GROK, a_member, a_panel
from tests.council.bakeoffs.record_builders import a_record

BY_GRADES, BY_RANKS = Trial("new", "old"), Trial("new", "old", is_ranked=True)
RIGHT = Reference(Grading.EXACT, "42")


def a_suite(graded: int, others: int = 0) -> Suite:
    graded_ones = [Asked(f"Graded {n}?", reference=RIGHT) for n in range(graded)]
    return Suite("sums", (*graded_ones, *(Asked(f"Other {n}?") for n in range(others))))


def differences(won: int, lost: int, equal: int = 0) -> Floats:
    return np.array([1.0] * won + [-1.0] * lost + [0.0] * equal)


def graded_rounds(*pairs: tuple[float | None, float | None], **numbers: float) -> Columns:
    """Return rounds with the grades of the new model and the old one; None is an absence."""
    records = []
    for number, (new, old) in enumerate(pairs, start=1):
        grades = {"new": new or 0.0, "old": old or 0.0}
        correct = {name: float(grade == 1) for name, grade in grades.items()}
        shares = {"new": None if new is None else 0.5, "old": None if old is None else 0.5}
        fields = {name: {"new": value, "old": 3 * value} for name, value in numbers.items()}
        one = a_record(
            shares,
            number=number,
            grade=grades,
            correct=correct,
            **fields,  # type: ignore[arg-type]
        )
        records.append(pack_record(one))
    return record_columns(records)


def ranked_rounds(*pairs: tuple[float | None, float | None]) -> Columns:
    shares = [{"new": new, "old": old} for new, old in pairs]
    return record_columns(
        [pack_record(a_record(one, number=n)) for n, one in enumerate(shares, start=1)]
    )


# --- Whom and what it asks


@pytest.mark.parametrize(
    ("graded", "others", "rests"),
    [(3, 0, True), (9, 1, False), (10, 30, True), (0, 5, False)],
)
def test_grades_decide_where_all_questions_or_ten_are_graded(
    graded: int, others: int, rests: bool
) -> None:
    assert rests_on_grades(a_suite(graded, others)) is rests


def test_with_grades_only_the_candidate_and_the_incumbent_are_asked_and_nobody_ranks() -> None:
    panel = trial_panel(a_panel(3), a_suite(6), a_member(GROK))

    assert [seat.key for seat in panel.members] == [CLAUDE, GROK]
    assert panel.trial == Trial(GROK, CLAUDE)
    assert (panel.chairmen, panel.terms.quorum, panel.terms.audit_share) == ((), 2, 0)
    assert find_method(panel.terms.method, NO_PLUGINS).judges(panel) == ()


def test_without_grades_all_others_rank_in_both_orders() -> None:
    outside = a_panel(2, outside=1).outside_judges
    panel = replace(a_panel(2), outside_judges=(*outside, a_member(GROK)))

    trial = trial_panel(panel, a_suite(0, 6), a_member(GROK), GPT)

    assert [seat.key for seat in trial.members] == [GPT, GROK, CLAUDE]
    assert trial.terms.method == BOTH_ORDERS.name
    assert [seat.key for seat in BOTH_ORDERS.judges(trial)] == [CLAUDE, GEMINI]


@pytest.mark.parametrize(
    ("candidate", "incumbent", "message"),
    [
        pytest.param(GPT, "", "is already in panel house", id="in-the-panel"),
        pytest.param(GROK, "nobody", "Panel house has no model 'nobody'", id="no-incumbent"),
    ],
)
def test_a_pair_that_cannot_be_compared_is_refused(
    candidate: str, incumbent: str, message: str
) -> None:
    with pytest.raises(PanelError, match=message):
        trial_panel(a_panel(3), a_suite(6), a_member(candidate), incumbent)


def test_a_suite_that_can_show_nothing_is_refused() -> None:
    with pytest.raises(SuiteError, match="^5 of suite .* questions count, and that can't show"):
        trial_panel(a_panel(3), a_suite(5), a_member(GROK))


def test_models_without_an_answer_to_use_again_only_judge() -> None:
    panel = trial_panel(a_panel(4), a_suite(0, 6), a_member(GROK))

    one = round_panel(panel, [GPT])

    assert [seat.key for seat in one.members] == [CLAUDE, GROK, GPT]
    assert [seat.key for seat in one.outside_judges] == [GEMINI, DEEPSEEK]
    assert one.terms.quorum == 3
    assert round_panel(a_panel(3), [CLAUDE, GPT]).members == a_panel(3).members[:2]


def test_a_trial_by_grades_asks_only_graded_questions_in_a_drawn_order() -> None:
    suite, panel = a_suite(12, 5), a_panel(3)
    trial = Bakeoff("bo:1", suite, panel, NOWHERE, "U1", ASKED_AT)
    graded = replace(trial, panel=trial_panel(panel, suite, a_member(GROK)))

    assert trial.numbers == tuple(range(1, 18))
    assert sorted(graded.numbers) == [*range(1, 13)] != [*graded.numbers]
    assert replace(graded, id="bo:2").numbers != graded.numbers


def test_a_trial_that_ended_with_its_answer_is_complete() -> None:
    suite = a_suite(12)
    panel = trial_panel(a_panel(3), suite, a_member(GROK))
    trial = Bakeoff("bo:1", suite, panel, NOWHERE, "U1", ASKED_AT)

    def is_complete(ending: Ending | None) -> bool:
        return BakeoffProgress(replace(trial, ending=ending), over=6).is_complete

    assert is_complete(Ending(ASKED_AT))
    assert not is_complete(Ending(ASKED_AT, "It was cancelled."))
    assert not is_complete(None)


# --- When it stops


def test_it_looks_at_each_quarter() -> None:
    assert look_sizes(48) == (12, 24, 36, 48)
    assert look_sizes(10) == (3, 5, 8, 10)
    assert look_sizes(2) == (1, 2)
    assert [next_look(asked, 48) for asked in (0, 11, 12, 47, 48)] == [12, 12, 24, 48, 48]


def test_the_sum_is_measured_by_the_questions_that_differ() -> None:
    assert z_value(differences(9, 0, 30)) == pytest.approx(3)  # 9 / √9
    assert z_value(differences(10, 6)) == pytest.approx(1)  # 4 / √16
    assert z_value(differences(0, 0, 5)) == 0


def test_the_bound_falls_with_every_look() -> None:
    # |z| ≥ 2.3 · √(48 / n): 3.253 at 24, 2.3 at 48.
    assert outcome_at(differences(11, 0, 13), 24, 48) is Outcome.SWITCH  # √11 = 3.317
    assert outcome_at(differences(10, 0, 14), 24, 48) is Outcome.UNDECIDED  # √10 = 3.162
    assert outcome_at(differences(0, 6, 42), 48, 48) is Outcome.KEEP  # √6 = 2.449
    assert outcome_at(differences(5, 0, 43), 48, 48) is Outcome.UNDECIDED  # √5 = 2.236


def test_it_stops_at_a_look_when_the_answer_is_clear_or_none_can_come() -> None:
    clear, open_ = differences(12, 0, 12), differences(4, 2, 18)
    hopeless = differences(5, 5, 26)  # of 48, with 12 left: 12 / √22 = 2.56 would be enough
    assert is_settled(clear, 24, 48)
    assert not is_settled(clear, 23, 48)
    assert not is_settled(open_, 24, 48)
    assert can_still_decide(hopeless, 36, 48)
    assert is_settled(differences(15, 15, 6), 36, 48)  # 12 / √42 = 1.85
    assert is_settled(differences(1, 1, 46), 48, 48)


# --- What it can show


def test_forty_eight_questions_can_show_about_fourteen_points() -> None:
    assert detectable_difference(48) == pytest.approx(2.3 * sqrt(0.19 / 48))
    assert round(detectable_difference(48) * 100) == 14
    assert (detectable_difference(0), detectable_difference(1, 1.0)) == (1, 1)
    assert questions_to_settle(0.07) == 149  # .07 · (2.3 / .05)² = 148.1


def test_what_earlier_runs_show_replaces_the_usual_spread() -> None:
    rounds = graded_rounds((1, 0), (1, 1), (0, 1), (0, 0))
    assert earlier_spread(rounds, BY_GRADES) == 0.5
    assert earlier_spread(record_columns([]), BY_GRADES) == USUAL_SPREAD
    assert earlier_spread(graded_rounds((1, 1), (0, 0), (1, 1), (1, 1)), BY_GRADES) == 0.25
    assert spread(np.array([])) == USUAL_SPREAD


# --- What it shows


def test_grades_are_paired_by_question_and_an_absence_is_wrong() -> None:
    columns = graded_rounds((1, 0), (1, 1), (None, 1), (0.5, 1))

    assert paired_differences(columns, BY_GRADES).tolist() == [1, 0, -1, -0.5]


def test_ranks_are_paired_by_the_margin_among_other_judges() -> None:
    columns = ranked_rounds((0.75, 0.25), (0.5, 0.5), (None, 0.5), (0.5, None), (None, None))

    assert paired_differences(columns, BY_RANKS).tolist() == [0.5, 0, -1, 1, 0]


def test_a_model_that_sat_nowhere_is_not_compared() -> None:
    assert paired_differences(graded_rounds((1, 0)), Trial("else", "old")).tolist() == []
    result = trial_result(record_columns([]), BY_GRADES, 48)
    assert (result.outcome, result.asked, result.compared) == (Outcome.UNDECIDED, 0, 0)
    assert result.candidate.score is None


def test_the_result_has_both_sides_with_their_own_price_and_speed() -> None:
    pairs = [(1.0, 0.0)] * 6 + [(1.0, 1.0)] * 3 + [(None, 1.0)]
    result = trial_result(graded_rounds(*pairs, cost_usd=0.01, seconds=2.0), BY_GRADES, 10)

    new, old = result.candidate, result.incumbent
    assert (new.right, old.right, result.compared) == (9, 4, 10)
    assert (new.absences, old.absences) == (1, 0)
    assert (new.cost_usd, old.cost_usd, old.seconds) == (0.01, 0.03, 6.0)
    assert result.difference == pytest.approx(0.5)
    assert result.spread == pytest.approx(0.7)
    assert result.outcome is Outcome.UNDECIDED  # 5 / √7 = 1.89
    assert (new.preferred, new.score) == (None, 0.9)


def test_grades_in_part_have_no_count() -> None:
    result = trial_result(graded_rounds((0.5, 1), (1, 1)), BY_GRADES, 2)

    assert (result.candidate.right, result.candidate.score) == (None, 0.75)
    assert result.incumbent.right == 2


def test_without_grades_it_counts_on_how_many_questions_each_is_preferred() -> None:
    pairs = [(0.75, 0.25)] * 7 + [(0.25, 0.75)]
    result = trial_result(ranked_rounds(*pairs), BY_RANKS, 8)

    assert (result.candidate.preferred, result.incumbent.preferred) == (7, 1)
    assert result.candidate.right is None
    assert result.outcome is Outcome.UNDECIDED  # 3 / √2 = 2.12
    assert trial_result(ranked_rounds(*pairs[:7]), BY_RANKS, 7).outcome is Outcome.SWITCH


def test_one_that_is_not_over_has_decided_nothing_and_equal_answers_prove_little() -> None:
    columns = graded_rounds(*[(1.0, 0.0)] * 12)

    assert trial_result(columns, BY_GRADES, 12).outcome is Outcome.SWITCH
    assert trial_result(columns, BY_GRADES, 12, is_over=False).outcome is Outcome.UNDECIDED
    equal = trial_result(graded_rounds(*[(1.0, 1.0)] * 12), BY_GRADES, 12)
    assert equal.spread == pytest.approx(1 / 12)
