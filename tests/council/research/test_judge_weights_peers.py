import pytest

from council.research.judge_weights import peer_rank, peer_weights
from tests.council.research.share_builders import E1, X, given


def test_members_weigh_by_what_their_answers_are_worth_with_a_floor_of_a_quarter() -> None:
    one = given(E1)

    found = peer_weights([one])

    assert [*found.weights.values()] == pytest.approx(peer_rank(one.shares[0]).weights.tolist())
    assert min(found.weights.values()) == pytest.approx(0.25 / 4)
    assert found.judges[0].basis == pytest.approx(0.85, abs=0.1)


def test_shares_are_taken_over_all_rounds() -> None:
    turned = [[X, 0, 0.5, 1], [0, X, 0.75, 0.75], [0, 0.75, X, 0.75], [0.5, 0, 1, X]]

    found = peer_weights([given(E1, turned)])

    assert [*found.weights.values()] == pytest.approx([0.25] * 4)


def test_a_judge_without_answers_weighs_as_the_average_one() -> None:
    outside = given([[X, 1], [1, X], [1, 0]], judges=("a", "b", "out"), members=("a", "b"))

    found = peer_weights([outside])

    assert found.weights["out"] == pytest.approx(1 / 3)
    assert sum(found.weights.values()) == pytest.approx(1)
    assert found.judges[2].basis is None
