"""Borda points and shares of one ballot."""

import pytest

from council.tally.borda import borda_points, borda_shares, ranks
from tests.builders import a_ranking


def test_a_tie_counts_half() -> None:
    assert borda_shares(a_ranking("A B=C")) == {"A": 1.0, "B": 0.25, "C": 0.25}


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        pytest.param("B C D", {"B": 1, "C": 0.5, "D": 0}, id="strict"),
        pytest.param("A=B C", {"A": 0.75, "B": 0.75, "C": 0}, id="tie-for-first"),
        pytest.param("A=B=C", {"A": 0.5, "B": 0.5, "C": 0.5}, id="all-tied"),
        pytest.param("A B=C=D", {"A": 1, "B": 1 / 3, "C": 1 / 3, "D": 1 / 3}, id="rest-unranked"),
        pytest.param("A B", {"A": 1, "B": 0}, id="two"),
    ],
)
def test_a_share_is_the_fraction_of_rivals_beaten(ranking: str, expected: dict[str, float]) -> None:
    assert borda_shares(a_ranking(ranking)) == pytest.approx(expected)


def test_a_single_answer_has_no_share() -> None:
    assert borda_shares(a_ranking("A")) == {}


def test_tied_labels_have_their_mean_rank() -> None:
    assert ranks(a_ranking("A B=C=D E")) == {"A": 1, "B": 3, "C": 3, "D": 3, "E": 5}


def test_points_count_the_rivals_beaten() -> None:
    assert borda_points(a_ranking("A B=C D")) == {"A": 3, "B": 1.5, "C": 1.5, "D": 0}


@pytest.mark.parametrize(("ranked", "shown"), [(1, 4), (2, 5), (3, 4), (1, 9)])
def test_an_unranked_answer_has_the_mean_remaining_rank(ranked: int, shown: int) -> None:
    # k ranked, m shown: the ranks left over are k+1 … m, and their mean is (k + 1 + m) / 2.
    letters = "ABCDEFGHI"[:shown]
    ranking = " ".join([*letters[:ranked], "=".join(letters[ranked:])])

    found = ranks(a_ranking(ranking))

    assert {found[label] for label in found if label in letters[ranked:]} == {
        (ranked + 1 + shown) / 2
    }
