import numpy as np
import pytest

from council.bakeoffs.council_value import (
    CouncilValue,
    CouncilValueLine,
    Payoff,
    mean_by_question,
    measure_council_value,
    question_numbers,
)
from council.bakeoffs.record_arrays import Columns
from council.bakeoffs.records import CouncilRecord, Record
from tests.council.bakeoffs.record_builders import a_record, of


def _graded(
    number: int,
    council: bool,
    *,
    run: int = 0,
    winner: str | None = "ada",
    costs: tuple[float | None, float] = (0.5, 0.1),
    **correct: bool,
) -> Record:
    """Return a graded round; costs are the whole round's and each answer's."""
    round_cost, own = costs
    return a_record(
        {"ada": 1.0, "bob": 0.5, "cyd": 0.0},
        number=number,
        run=run,
        correct={"ada": False, "bob": False, "cyd": False, **correct},
        cost_usd=dict.fromkeys(("ada", "bob", "cyd"), own),
        seconds=dict.fromkeys(("ada", "bob", "cyd"), 2.0),
        whole=CouncilRecord(
            winner=winner,
            council_correct=council,
            cost_usd=round_cost,
            seconds=9,
            synthesis_usd=0.25,
            synthesis_seconds=3,
        ),
    )


def _lines(columns: Columns) -> dict[str, CouncilValueLine]:
    return {line.name: line for line in measure_council_value(columns).rows}


def test_without_references_there_is_no_value() -> None:
    assert measure_council_value(of(a_record({"ada": 1.0, "bob": 0.0}))) == CouncilValue()


def test_council_and_winner_are_compared_with_the_best_member_by_question() -> None:
    rounds = [_graded(i, council=i <= 9, ada=i <= 3, bob=i <= 6) for i in range(1, 13)]

    found = measure_council_value(of(*rounds))

    council, winner = found.rows
    assert (council.name, council.graded, council.accuracy) == ("Council", 12, 0.75)
    assert (winner.name, winner.accuracy) == ("Winner", 0.25)
    assert found.best is not None
    assert (found.best.member, found.best.accuracy) == ("bob", 0.5)
    assert council.difference == pytest.approx(0.25)
    assert winner.difference == pytest.approx(-0.25)


def test_with_two_runs_the_best_is_picked_on_the_other_one() -> None:
    # ada is right in run 0 alone, bob in run 1 alone: each is picked where it is wrong.
    rounds = [_graded(i, council=True, run=0, ada=True) for i in range(1, 7)]
    rounds += [_graded(i, council=True, run=1, bob=True) for i in range(1, 7)]

    found = measure_council_value(of(*rounds))

    assert found.best is not None
    assert found.best.is_picked_elsewhere
    assert found.best.accuracy == 0
    assert found.rows[0].difference == 1


@pytest.mark.parametrize(
    ("questions", "council", "ada", "verdict"),
    [
        pytest.param(20, 10, 10, Payoff.NOT_WORTH_IT, id="right-no-more-often"),
        pytest.param(20, 20, 10, Payoff.WORTH_IT, id="right-far-more-often"),
        pytest.param(12, 7, 6, Payoff.OPEN, id="a-small-gain-on-few-questions"),
        # One question of 400 gained: .0025, and its interval ends below .05.
        pytest.param(400, 201, 200, Payoff.NOT_WORTH_IT, id="a-gain-below-a-twentieth"),
    ],
)
def test_a_council_that_costs_more_is_worth_it_if_it_is_more_often_right(
    questions: int, council: int, ada: int, verdict: Payoff
) -> None:
    rounds = [_graded(i, council=i <= council, ada=i <= ada) for i in range(1, questions + 1)]

    assert _lines(of(*rounds))["Council"].verdict is verdict


@pytest.mark.parametrize(
    ("costs", "verdict"),
    [
        pytest.param((0.05, 0.1), Payoff.OPEN, id="cheaper"),
        pytest.param((0.1, 0.1), Payoff.NOT_WORTH_IT, id="the-same-but-slower"),
        pytest.param((None, 0.1), Payoff.NOT_WORTH_IT, id="not-known"),
    ],
)
def test_only_what_costs_more_is_not_worth_its_cost(
    costs: tuple[float | None, float], verdict: Payoff
) -> None:
    rounds = [_graded(i, council=False, costs=costs) for i in range(1, 13)]

    assert _lines(of(*rounds))["Council"].verdict is verdict


def test_below_ten_graded_rounds_there_is_no_verdict() -> None:
    found = measure_council_value(of(*(_graded(i, council=False) for i in range(1, 10))))

    assert [line.verdict for line in found.rows] == [None, None]


def test_the_winner_is_had_without_the_synthesis() -> None:
    found = _lines(of(_graded(1, council=True), _graded(2, council=True, winner=None)))

    assert (found["Council"].cost_usd, found["Council"].seconds) == (0.5, 9)
    assert (found["Winner"].cost_usd, found["Winner"].seconds) == (0.25, 6)


def test_who_gave_no_answer_was_not_right() -> None:
    absent = a_record(
        {"ada": None, "bob": 1.0},
        correct={"bob": False},
        whole=CouncilRecord(winner="bob", council_correct=True),
    )

    found = measure_council_value(of(absent))

    assert found.best is not None
    assert (found.best.accuracy, found.rows[0].difference) == (0, 1)


def test_members_that_did_not_sit_in_every_round_are_no_candidates() -> None:
    one = a_record({"ada": 1.0}, correct={"ada": True}, whole=CouncilRecord(council_correct=True))
    two = a_record(
        {"bob": 1.0}, number=2, correct={"bob": True}, whole=CouncilRecord(council_correct=True)
    )

    found = measure_council_value(of(one, two))

    assert found.best is None
    assert found.rows[0].accuracy == 1
    assert (found.rows[0].difference, found.rows[0].verdict) == (None, None)


def test_of_equally_good_members_the_cheapest_is_the_best() -> None:
    record = a_record(
        {"ada": 1.0, "bob": 0.0, "cyd": 0.5},
        correct={"ada": True, "bob": True, "cyd": True},
        cost_usd={"ada": 0.5, "bob": 0.25},
        whole=CouncilRecord(winner="ada", council_correct=True),
    )

    best = measure_council_value(of(record)).best

    assert best is not None
    assert best.member == "bob"


def test_a_question_put_twice_counts_once() -> None:
    shares = {"ada": 1.0, "bob": 0.0}
    columns = of(
        a_record(shares, number=1, run=0),
        a_record(shares, number=1, run=1),
        a_record(shares, number=2, run=0),
    )
    questions = question_numbers(columns)
    right = np.array([float(row.number == 1) for row in columns.rows])

    assert mean_by_question(questions, right).tolist() == [1, 0]
