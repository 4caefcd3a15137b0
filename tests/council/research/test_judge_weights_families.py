import pytest

from council.research.judge_weights import family_voices, family_weights
from tests.council.research.share_builders import X, given

# Three judges of one maker, one of another, all on two answers of outsiders.
ROUND = [[1, 0], [1, 0], [1, 0], [0, 1]]
MAKERS = ("north", "north", "north", "south")


def test_every_maker_has_one_vote_however_many_seats() -> None:
    found = family_weights([given(ROUND, makers=MAKERS, members="xy")])

    assert [*found.weights.values()] == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])
    assert [line.basis for line in found.judges] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1])


def test_seats_count_only_where_their_ballots_do() -> None:
    lost: list[list[float]] = [[1, 0], [X, X], [X, X], [0, 1]]

    voices = family_voices(given(ROUND, lost, makers=MAKERS, members="xy"))

    assert voices.tolist() == [pytest.approx([1 / 3, 1 / 3, 1 / 3, 1]), [1, 0, 0, 1]]


def test_a_judge_that_never_voted_has_no_line() -> None:
    found = family_weights([given([[1, 0], [X, X]], judges="ab", members="xy")])

    assert found.weights == {"a": 1}


def test_without_rounds_nobody_weighs() -> None:
    assert family_weights([]).judges == ()
