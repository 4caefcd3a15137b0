"""The correlation of judges' errors, from simulated judges and by hand."""

from collections.abc import Iterator

import numpy as np
import pytest

from council.bakeoffs.bias.shared_error import (
    MIN_ROUNDS,
    estimate_rho,
    graded_rounds,
    grades_by_round,
)
from council.bakeoffs.bias.vote_arrays import pack_votes
from council.bakeoffs.bias.votes import Vote, Votes
from council.bakeoffs.record_arrays import Floats, pack_record
from council.bakeoffs.records import AuthorRecord, CouncilRecord, Record
from tests.builders import ASKED_AT

Round = tuple[Floats, Floats]


def simulated(rho: float, rounds: int, seats: int = 5) -> Iterator[Round]:
    """Yield rounds of judges that see √ρ·s + √(1−ρ)·e, and right answers two deviations higher."""
    draws = np.random.RandomState(int(100 * rho))
    for _ in range(rounds):
        grades = draws.randint(2, size=seats).astype(float)
        views = np.sqrt(rho) * draws.standard_normal(seats)
        views = views + np.sqrt(1 - rho) * draws.standard_normal((seats, seats)) + 2 * grades
        np.fill_diagonal(views, np.nan)  # nobody ranks itself
        yield views, grades


LONG = pytest.mark.nightly


@pytest.mark.parametrize(
    "rho", [0.0, 0.15, *(pytest.param(rho, marks=LONG) for rho in (0.05, 0.1, 0.2, 0.25))]
)
def test_a_planted_correlation_is_found(rho: float) -> None:
    assert estimate_rho(simulated(rho, 4_000)) == pytest.approx(rho)


def test_it_is_never_more_than_a_half() -> None:
    assert estimate_rho(simulated(0.9, 100)) == pytest.approx(0.5)


def test_judges_that_contradict_each_other_share_no_error() -> None:
    # Two judges, two wrong answers, opposite orders: (1 − 1)² − 2 = −2 over two pairs, so ρ < 0.
    opposed = (np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2))

    assert estimate_rho([opposed] * MIN_ROUNDS) == 0


def test_thirty_rounds_are_needed() -> None:
    assert estimate_rho(simulated(0.1, MIN_ROUNDS - 1)) is None
    assert estimate_rho([*simulated(0.9, MIN_ROUNDS, seats=8)]) is not None


def test_a_right_answer_before_a_wrong_one_is_no_error() -> None:
    judged = (np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, 0.0]))
    ungraded = (np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([np.nan, np.nan]))

    assert estimate_rho([judged, ungraded] * MIN_ROUNDS) is None


def test_a_rounds_shares_go_with_the_grades_of_the_same_members() -> None:
    seats = ("b", "a")
    authored = tuple(AuthorRecord(key, correct=key == "a") for key in seats)
    empty = Record("r1", ASKED_AT, "house", "", authored, (), (), CouncilRecord())
    record = pack_record(empty)
    cast = Votes((*seats, "x"), ("m", "m", "m"), 2, (Vote("x", ("b", "a"), (1.0, 2.0)),))
    votes = pack_votes(cast, record)

    known = grades_by_round([record])
    ((shares, grades),) = graded_rounds(known, [votes, votes._replace(round_id="r2")])

    assert shares[2].tolist() == [1, 0]
    assert grades.tolist() == [0, 1]
