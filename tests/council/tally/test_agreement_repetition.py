"""How much a second ranking of the same answers differs from the first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.tally.agreement import RankingChange, compare_rankings
from tests.builders import a_ranking


@pytest.mark.parametrize(
    ("first", "again", "changed", "pairs"),
    [
        pytest.param("K L M", "K L M", 0, 3, id="the-same"),
        pytest.param("K L M", "M L K", 3, 3, id="reversed"),
        pytest.param("K L M", "L K M", 1, 3, id="neighbours-swapped"),
        pytest.param("K L M", "K L=M", 1, 3, id="a-tie-is-a-change"),
        pytest.param("K=L M", "M K=L", 2, 3, id="a-tie-that-stays-is-none"),
        pytest.param("K L=M", "K M=L", 0, 3, id="a-tie-has-no-order"),
        pytest.param("K L", "L K", 1, 1, id="one-pair"),
        pytest.param("K L M", "M K", 1, 1, id="only-what-both-rank"),
    ],
)
def test_changed_pairs_match_the_hand_count(
    first: str, again: str, changed: int, pairs: int
) -> None:
    assert compare_rankings(a_ranking(first), a_ranking(again)) == RankingChange(changed, pairs)


@given(st.permutations("KLMNOP"), st.permutations("KLMNOP"))
def test_comparing_rankings_is_symmetric(one: list[str], two: list[str]) -> None:
    first, again = a_ranking(" ".join(one)), a_ranking(" ".join(two))

    assert compare_rankings(first, again) == compare_rankings(again, first)
    assert compare_rankings(first, first[::-1]) == RankingChange(15, 15)
