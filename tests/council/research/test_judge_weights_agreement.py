import pytest

from council.research.judge_weights import Choice, human_agreement
from tests.council.research.share_builders import X, given

# ada puts x first, bob ties x and y, cyd puts y first, dee did not vote.
ROUND = [[1, 0.5, 0], [0.75, 0.75, 0], [0.5, 1, 0], [X, X, X]]


def _votes(member: str, count: int, round_id: str = "r0") -> list[Choice]:
    return [Choice(round_id, member)] * count


def test_a_judge_agrees_where_it_puts_the_chosen_answer_above_each_other_one() -> None:
    found = human_agreement([given(ROUND, members="xyz")], _votes("x", 15) + _votes("y", 5))

    assert {judge: (one.same, one.ballots) for judge, one in found.items()} == {
        "ada": (15, 20),
        "bob": (0, 20),
        "cyd": (5, 20),
    }
    assert found["ada"].share == 0.75
    assert found["ada"].ci == pytest.approx((0.531, 0.888), abs=0.001)


def test_nineteen_votes_say_too_little() -> None:
    assert human_agreement([given(ROUND, members="xyz")], _votes("x", 19)) == {}


def test_votes_on_other_rounds_and_other_members_are_left_out() -> None:
    elsewhere = _votes("x", 10, "r9") + _votes("nobody", 10)

    assert human_agreement([given(ROUND, members="xyz")], [*elsewhere, *_votes("x", 19)]) == {}


def test_a_judge_is_not_asked_about_its_own_answer() -> None:
    own = given([[X, 1, 0]], judges=["x"], members="xyz")

    assert human_agreement([own], _votes("x", 20)) == {}
