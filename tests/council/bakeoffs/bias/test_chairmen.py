"""Bias of chairmen, from simulated ones, by hand and by a second oracle."""

from dataclasses import replace
from itertools import combinations
from math import exp, log

import numpy as np
import pytest
from scipy.optimize import minimize

from council.bakeoffs.bias.chairmen import (
    MIN_SPARE_ROUNDS,
    RIDGE,
    Choices,
    chairman_biases,
    fit_conditional_logit,
)
from council.bakeoffs.bias.report import ChairmanBias
from council.bakeoffs.record_arrays import Floats, pack_record, record_columns
from council.bakeoffs.records import CouncilRecord, Record
from tests.council.bakeoffs.bias.simulated_chairmen import MEMBERS, Chairman, chaired
from tests.council.bakeoffs.record_builders import a_record


def measured(kind: Chairman, seed: int = 2, rounds: int = 200) -> ChairmanBias:
    (found,) = chairman_biases(chaired(rounds, kind, seed), {})
    return found


def written(number: int, whole: CouncilRecord, *, chairman: str = "ada", drawn: str = "") -> Record:
    """Return a round of ada and bob in which bob is first."""
    record = a_record(
        {"ada": 0.0, "bob": 1.0},
        number=number,
        whole=replace(whole, winner="bob"),
        correct={"ada": None, "bob": False},
        drawn_on={"ada": drawn == "ada", "bob": drawn == "bob"} if drawn else {},
        chair_slot={"ada": 1, "bob": 2} if drawn else {},
    )
    return replace(record, chairman=chairman)


def biases(*rounds: Record, preferred: str = "") -> tuple[ChairmanBias, ...]:
    columns = record_columns(map(pack_record, rounds))
    choices = {row.round_id: preferred for row in columns.rows} if preferred else {}
    return chairman_biases(columns, choices)


def test_a_chairman_that_doubles_the_odds_of_its_own_answers_is_found() -> None:
    found = measured(Chairman(own=log(2)))

    assert found.own.is_found
    assert found.own.interval is not None
    assert found.own.interval[0] < log(2) < found.own.interval[1]
    assert found.own_expected is not None
    assert (found.own_used.value or 0) > found.own_expected + 0.05


@pytest.mark.parametrize("kind", [Chairman(), Chairman(better=1.5), Chairman(longer=log(2))])
def test_better_or_longer_answers_of_its_own_are_no_bias(kind: Chairman) -> None:
    found = measured(kind, rounds=600)

    assert not found.own.is_found
    assert found.own_used.value == pytest.approx(found.own_expected, abs=0.06)


def test_a_chairman_that_favours_what_it_reads_first_is_found() -> None:
    found = measured(Chairman(early=log(3)))

    assert found.early.is_found
    assert (found.early.value or 0) > 0
    assert not found.own.is_found


@pytest.mark.nightly
def test_a_planted_self_preference_is_found_and_hardly_ever_one_that_is_none() -> None:
    planted, fair = (
        sum(measured(kind, seed).own.is_found for seed in range(50)) / 50
        for kind in (Chairman(own=log(2)), Chairman())
    )

    assert planted >= 0.9
    assert fair <= 0.05


def test_of_two_answers_the_odds_are_those_of_the_rounds() -> None:
    # Own over the other in 30 of 40 rounds: e^β = 3, but for the ridge: 30 − 40·σ(β) = .1·β.
    features = np.tile([[[0.5], [-0.5]]], (40, 1, 1))
    drawn = np.array([[True, False]] * 30 + [[False, True]] * 10)

    values, errors = fit_conditional_logit([Choices(features, drawn)])

    beta = float(values[0])
    assert 30 - 40 / (1 + exp(-beta)) == pytest.approx(RIDGE * beta, abs=1e-6)
    assert exp(beta) == pytest.approx(3, rel=0.05)
    assert errors[0] == pytest.approx((1 / 30 + 1 / 10) ** 0.5, rel=0.05)


def test_it_maximises_the_exact_conditional_likelihood() -> None:
    draw = np.random.RandomState(3)
    features = draw.standard_normal((30, 5, 2))
    drawn = np.zeros((30, 5), dtype=bool)
    for row in drawn:
        row[draw.choice(5, 2, replace=False)] = True

    def loss(values: Floats) -> float:
        total = RIDGE / 2 * float(values @ values)
        for seen, named in zip(features @ values, drawn, strict=True):
            ways = [sum(seen[list(pair)]) for pair in combinations(range(5), 2)]
            total -= float(seen[named].sum() - np.log(np.exp(ways).sum()))
        return total

    values, _ = fit_conditional_logit([Choices(features, drawn)])

    assert values == pytest.approx(minimize(loss, np.zeros(2)).x, abs=1e-4)


def test_few_rounds_give_no_estimate() -> None:
    found = measured(Chairman(), rounds=MIN_SPARE_ROUNDS)

    assert found.rounds == MIN_SPARE_ROUNDS
    assert found.own.value is None
    assert found.own_expected is None


def test_a_chairman_that_is_no_member_has_no_answer_of_its_own() -> None:
    rounds = replace(chaired(100, Chairman(), 1), chairmen=("outsider",) * 100)

    (found,) = chairman_biases(rounds, {})

    assert found.own.value is None
    assert found.own_used.n == 0
    assert found.early.value is not None
    assert MEMBERS[0] != found.chairman


def test_rounds_without_a_chairman_or_what_it_used_are_left_out() -> None:
    (found,) = biases(
        written(1, CouncilRecord(), chairman=""), written(2, CouncilRecord(departs=False))
    )

    assert (found.chairman, found.rounds, found.own.n) == ("ada", 1, 0)
    assert found.departs.n == 1


DEPARTED = CouncilRecord(departs=True)


def test_grades_say_who_is_right_when_a_chairman_departs() -> None:
    (found,) = biases(
        written(1, replace(DEPARTED, council_correct=True)),
        written(2, replace(DEPARTED, council_correct=False)),
        written(3, CouncilRecord(departs=False, council_correct=True)),
    )

    # In round 2 both are wrong, so neither is right.
    assert found.departs.n == 3
    assert found.departs.value == pytest.approx(2 / 3)
    assert (found.backed.value, found.backed.n) == (1, 1)


def test_people_side_with_the_first_answer_or_one_that_the_chairman_used() -> None:
    departed = written(1, DEPARTED, drawn="ada")

    (with_first,) = biases(departed, preferred="bob")
    (with_chairman,) = biases(departed, preferred="ada")
    (unused,) = biases(written(1, DEPARTED, drawn="bob"), preferred="ada")
    (unknown,) = biases(departed, preferred="zoe")

    assert (with_first.backed.value, with_first.backed.n) == (0, 1)
    assert (with_chairman.backed.value, with_chairman.backed.n) == (1, 1)
    assert unused.backed.n == unknown.backed.n == 0


def test_a_round_without_a_first_place_backs_nobody() -> None:
    record = written(1, DEPARTED)
    unranked = replace(record, whole=replace(record.whole, winner=None))

    (found,) = biases(unranked, preferred="ada")

    assert (found.departs.n, found.backed.n) == (1, 0)
