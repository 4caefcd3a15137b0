"""Preference for own answers, for the maker's answers, and for named authors."""

import numpy as np
import pytest

from council.bakeoffs.bias.judge_bias import (
    family_preference,
    maker_effects,
    named_preference,
    own_preference,
    shares_given,
)
from council.bakeoffs.bias.vote_arrays import pairwise_lead
from council.bakeoffs.bias.votes import Votes
from council.bakeoffs.record_arrays import Floats
from tests.council.bakeoffs.bias.vote_builders import a_vote, an_audit, blocks_of, votes

TWINS = ("qwen", "qwen", "google", "xai")


def _own(audit: str) -> Votes:
    """Return a round in which b, c and d ranked a's answer, and a ranked it too."""
    return votes(
        a_vote("a", "b c d"),
        a_vote("b", "c a d"),
        a_vote("c", "a b d"),
        a_vote("d", "b c a"),
        audit=an_audit("own", a_vote("a", audit)),
    )


def test_the_own_answer_is_compared_with_what_others_give_it_on_what_both_ranked() -> None:
    found = own_preference(blocks_of(*[_own("a b c d")] * 3))["a"]

    # a puts itself before all. b had it after c and before d: ½ of c, d, so a leads by ½.
    # c had it before b and d: by 0. d had it after b and c: by 1. The mean is ½.
    assert found.value == pytest.approx(0.5)
    assert (found.n, found.unit) == (3, "audit ballots")


def test_judges_without_such_an_audit_or_an_answer_have_none() -> None:
    outside = votes(
        a_vote("a", "b c"),
        a_vote("j", "a b c"),
        judges=tuple("abcj"),
        members=3,
        audit=an_audit("order", a_vote("j", "a b c")),
    )

    found = own_preference(blocks_of(outside, _own("a b c d")))

    assert {judge: effect.n for judge, effect in found.items()} == {
        **dict.fromkeys("bcdj", 0),
        "a": 1,
    }


def test_an_own_answer_that_no_other_judge_ranked_does_not_count() -> None:
    alone = votes(a_vote("a", "b c d"), audit=an_audit("own", a_vote("a", "a b c d")))

    assert own_preference(blocks_of(*[alone] * 5))["a"].n == 0


def test_the_makers_other_answers_are_compared_with_what_judges_of_other_makers_give() -> None:
    round_ = votes(
        a_vote("a", "b c d"),
        a_vote("b", "a c d"),
        a_vote("c", "b a d"),
        a_vote("d", "c b a"),
        makers=TWINS,
    )

    found = family_preference(blocks_of(*[round_] * 4))

    # Of b's rivals c and d, a puts it before both. c had b before d, its only rival there: 0.
    # d had it after c, its only rival there: 1. The mean is ½.
    assert found["a"].value == pytest.approx(0.5)
    # b puts a before c and d; c had it before d: 0; d had it after c: 1.
    assert found["b"].value == pytest.approx(0.5)
    assert (found["c"].n, found["d"].n) == (0, 0)
    assert (found["a"].n, found["a"].unit) == (4, "ballots")


def test_two_seats_of_makers_that_are_not_known_are_no_family() -> None:
    round_ = votes(
        a_vote("a", "b c d"), a_vote("c", "b a d"), makers=("unknown:x", "unknown:x", "m", "n")
    )

    assert {effect.n for effect in family_preference(blocks_of(round_)).values()} == {0}


def test_an_outside_judge_can_favour_its_maker_too() -> None:
    round_ = votes(
        a_vote("a", "b c"),
        a_vote("b", "c a"),
        a_vote("j", "a b c"),
        judges=tuple("abcj"),
        makers=("m", "n", "o", "m"),
        members=3,
    )

    # j has a before b and c; b had a after c, which j did not: 1.
    assert family_preference(blocks_of(*[round_] * 3))["j"].value == pytest.approx(1.0)


def _named(blind: str, named: str) -> Votes:
    return votes(a_vote("a", blind), audit=an_audit("named", a_vote("a", named)), makers=TWINS)


def test_the_effect_of_names_is_reported_for_the_judges_maker_and_each_maker() -> None:
    rounds = blocks_of(_named("c d b", "b c d"), _named("c b d", "b c d"), _named("b c d", "b c d"))

    own = named_preference(rounds)
    found = {brand.maker: brand.effect for brand in maker_effects(rounds)}

    # b went from 0, ½ and 1 to 1; c from 1, 1 and ½ to ½; d from ½, 0 and 0 to 0.
    assert own["a"].value == pytest.approx(0.5)
    assert own["b"].n == 0
    assert found["qwen"].value == pytest.approx(0.5)
    assert found["google"].value == pytest.approx(-1 / 3)
    assert found["xai"].value == pytest.approx(-1 / 6)


def test_what_each_judge_gave_each_author_is_its_own_from_audits() -> None:
    given = shares_given(blocks_of(_own("b a c d"), _own("a b c d")))

    assert given["a", "b"].tolist() == [1.0, 1.0]
    assert given["b", "a"].tolist() == [0.5, 0.5]
    assert given["a", "a"] == pytest.approx([2 / 3, 1.0])
    assert len(given["b", "b"]) == 0


def _array(*values: float) -> Floats:
    return np.array(values)


def test_only_rivals_that_both_judged_count() -> None:
    one, other = _array(1.0, 0.5, 0.0, 0.2), _array(0.5, np.nan, 0.5, 1.0)

    # Rivals 2 and 3: beaten both by the first; a tie and a defeat by the second.
    assert pairwise_lead(one, other, 0, [1, 2, 3]) == pytest.approx((1 + 1 - 0.5 - 0) / 2)
