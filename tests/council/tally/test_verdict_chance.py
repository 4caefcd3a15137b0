"""The probability that random ballots give a share as high as the winner's."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import permutations, product
from math import asin, pi, sqrt
from statistics import fmean

import numpy as np
import pytest
from numpy.typing import NDArray

from council.labels import Label
from council.tally.borda import TOLERANCE, standings
from council.tally.chance import (
    FINE_BLOCKS,
    SAMPLED_OUTCOMES,
    SHARED_ERROR_DRAWS,
    NullDistribution,
    null_distribution,
)
from council.tally.chance_rule import INDEPENDENT, LEAD_DECIDES, SHARED_ERRORS, ChanceRule
from council.tally.verdict import CLEAR_P, count_ballots, outside_judges_needed, unanimity_p
from tests.builders import a_ballot, labels
from tests.council.tally.examples import full_panel

PANEL = labels("A B C D E F")
RULE_1 = ChanceRule(INDEPENDENT, 0.0)


def _slates(members: int) -> list[tuple[Label, ...]]:
    panel = PANEL[:members]
    return [tuple(label for label in panel if label != judge) for judge in panel]


@cache
def _table(members: int, seed: str = "s") -> NullDistribution:
    return null_distribution(_slates(members), seed, RULE_1)


# Method §4: p by the winner's points of how many; a share is points over the most there are.
PUBLISHED = {
    4: {6: 0.148, 5: 0.556, 4: 0.981},
    5: {12: 0.020, 11: 0.096, 10: 0.286, 9: 0.608},
    6: {20: 0.002, 19: 0.012, 18: 0.040, 17: 0.107, 16: 0.236, 15: 0.438},
}
ROWS = [(n, points, p) for n, row in PUBLISHED.items() for points, p in row.items()]


@pytest.mark.parametrize(("points", "p"), PUBLISHED[4].items())
def test_p_is_exact_for_four(points: int, p: float) -> None:
    assert _table(4).is_exact
    assert _table(4).p_value(points / 6) == pytest.approx(p, abs=0.0005)


@pytest.mark.parametrize(("members", "points", "p"), [row for row in ROWS if row[0] > 4])
def test_sampled_p_is_within_sampling_error(members: int, points: int, p: float) -> None:
    most = (members - 1) * (members - 2)
    four_deviations = 4 * sqrt(p * (1 - p) / SAMPLED_OUTCOMES) + 0.001  # table rounded to .0005

    assert not _table(members).is_exact
    assert _table(members).p_value(points / most) == pytest.approx(p, abs=four_deviations)


def test_three_members_cannot_rule_out_chance() -> None:
    # 3 · (½)²: some answer is first on both of the ballots that see it in six of eight outcomes.
    assert _table(3).p_value(1.0) == unanimity_p(3, 0, RULE_1) == 0.75


@pytest.mark.parametrize(
    ("members", "outside", "p"), [(4, 0, 0.265), (5, 0, 0.080), (5, 1, 0.026), (6, 0, 0.027)]
)
def test_the_p_of_a_unanimous_first_place_is_that_of_the_method(
    members: int, outside: int, p: float
) -> None:
    assert unanimity_p(members, outside) == pytest.approx(p, abs=0.005)


def test_two_members_alone_have_nothing_to_rank() -> None:
    assert unanimity_p(2, 0) == 1


@pytest.mark.parametrize(
    ("members", "outside", "more"), [(3, 0, 3), (4, 0, 2), (4, 1, 1), (5, 0, 1), (5, 1, 0)]
)
def test_the_fewest_outside_judges_that_make_unanimity_count(
    members: int, outside: int, more: int
) -> None:
    assert outside_judges_needed(members, outside) == more
    assert unanimity_p(members, outside + more) <= CLEAR_P
    assert more == 0 or unanimity_p(members, outside + more - 1) > CLEAR_P


def _outcomes_by_points(members: int) -> NDArray[np.float64]:
    """Convolve the ballots: how many outcomes lead to which points, one axis an answer."""
    most = (members - 1) * (members - 2)
    counts = np.zeros((most + 1,) * members)
    counts[(0,) * members] = 1
    for slate in _slates(members):
        total = np.zeros_like(counts)
        for order in permutations(slate):
            gained = [order[::-1].index(x) if x in order else 0 for x in PANEL[:members]]
            total += np.roll(counts, gained, axis=range(members))  # never wraps: most is enough
        counts = total
    return counts


@pytest.mark.parametrize(("points", "p"), PUBLISHED[5].items())
def test_the_published_table_is_near_a_full_count_for_five(points: int, p: float) -> None:
    # The published figures were themselves drawn: the full count gives .0195 .0977 .2865 .6093.
    counts = _full_count_of_five()

    below = counts[(slice(0, points),) * 5].sum()

    assert counts.sum() == 24**5
    assert 1 - below / 24**5 == pytest.approx(p, abs=0.002)


@pytest.mark.parametrize("points", [9, 10, 11, 12])
def test_sampled_p_is_near_the_exact_p_for_five(points: int) -> None:
    exact = 1 - float(_full_count_of_five()[(slice(0, points),) * 5].sum()) / 24**5

    drawn = [_table(5, seed).p_value(points / 12) for seed in ("s", "t", "u", "v")]

    # Four seeds draw 8,000: the mean stays within four standard deviations and 1/2001.
    assert fmean(drawn) == pytest.approx(exact, abs=4 * sqrt(exact * (1 - exact) / 8_000) + 0.0005)


@cache
def _full_count_of_five() -> NDArray[np.float64]:
    return _outcomes_by_points(5)


def test_the_exact_table_agrees_with_a_count_by_hand_for_three() -> None:
    # Each of three judges puts one of its two first: 2³ outcomes, points of the best in each.
    best = [
        max((b, c, a).count(member) for member in "ABC") for b, c, a in product("BC", "AC", "AB")
    ]

    assert sorted(_table(3).best_shares) == sorted(points / 2 for points in best)


def test_slates_of_different_length_use_the_pair_form() -> None:
    # J sees A B C, K sees A B. A leads all with p_AB = p_AC = 1: J puts A first (⅓), K too (½).
    # B likewise. C is first on J's ballot alone (⅓) and then p_CA = p_CB = 1.
    found = null_distribution([labels("A B C"), labels("A B")], "s", RULE_1)

    assert found.p_value(1.0) == pytest.approx(1 / 6 + 1 / 6 + 1 / 3)


def test_a_share_is_reached_despite_rounding() -> None:
    assert _table(4).p_value(5 / 6 + 1e-12) == _table(4).p_value(5 / 6)


def test_every_outcome_reaches_a_share_of_zero() -> None:
    assert _table(4).p_value(0.0) == 1.0
    assert _table(5).p_value(0.0) == 1.0


def test_a_sampled_p_is_never_zero() -> None:
    assert _table(5).p_value(1.1) == 1 / (1 + SAMPLED_OUTCOMES)


@pytest.mark.parametrize(
    ("sizes", "exact"),
    [
        pytest.param((4, 4, 4, 4), True, id="331776"),
        pytest.param((4, 4, 4, 4, 2), True, id="663552"),
        pytest.param((4, 4, 4, 4, 3), False, id="1990656"),
        pytest.param((6, 6, 2), False, id="1036800"),
    ],
)
def test_up_to_a_million_outcomes_are_counted_exactly(sizes: tuple[int, ...], exact: bool) -> None:
    found = null_distribution([PANEL[:size] for size in sizes], "s", RULE_1)

    assert found.is_exact is exact
    assert (len(found.best_shares) == SAMPLED_OUTCOMES) is not exact


def test_the_seed_determines_the_sample() -> None:
    one, again, other = (
        null_distribution(_slates(5), seed, RULE_1).best_shares for seed in ("s", "s", "t")
    )

    assert list(one) == list(again)
    assert list(one) != list(other)


def test_sampled_ballots_of_equal_slates_are_independent() -> None:
    # If both judges drew the same order always, the leader of two would always have share 1.
    slates = [PANEL] * 4  # 720⁴ outcomes

    assert null_distribution(slates, "s", RULE_1).p_value(1.0) < 0.05  # 6 · (⅙)⁴ = .005


def test_unseen_pairs_have_no_weight() -> None:
    found = null_distribution([labels("A B"), labels("C D")], "s", RULE_1)

    assert list(found.best_shares) == [1.0] * 4


RULE_2 = ChanceRule(SHARED_ERRORS, 0.15)
# The p of a unanimous first place under rule 2, for ρ = .15.
UNANIMOUS = {(4, 0): 0.21, (5, 0): 0.050, (5, 1): 0.017, (6, 0): 0.011}


@pytest.mark.parametrize(("members", "outside"), UNANIMOUS)
def test_shared_errors_make_a_unanimous_first_place_less_surprising(
    members: int, outside: int
) -> None:
    found = null_distribution([*_slates(members), *[PANEL[:members]] * outside], "s", RULE_2)

    assert found.p_value(1.0) == pytest.approx(UNANIMOUS[members, outside], abs=0.005)


def test_rounds_of_rule_2_keep_their_digits() -> None:
    five = null_distribution([*_slates(5), PANEL[:5]], "s", RULE_2)
    weighed = null_distribution(_slates(3), "s", RULE_2, [0.5, 0.3, 0.2])

    assert [five.p_value(share) for share in (0.8, 0.9, 1.0)] == [
        0.39998000099995,
        0.07884605769711514,
        0.0191990400479976,
    ]
    assert null_distribution(_slates(6), "s", RULE_2).p_value(19 / 20) == 0.050997450127493626
    assert weighed.p_value(0.75) == 0.7881105944702765


@pytest.mark.parametrize("version", [SHARED_ERRORS, LEAD_DECIDES])
@pytest.mark.parametrize("rho", [0.0, 0.15, 0.25])
@pytest.mark.parametrize("judges", [2, 3])
def test_p_agrees_with_the_normal_orthant_for_two_answers(
    judges: int, rho: float, version: str
) -> None:
    # Judges' views of the difference correlate by ρ. Sheppard: P(all agree) = 2·(¼ + asin ρ/2π)
    # for two judges, and 2·(⅛ + 3·asin ρ/4π) for three.
    agree = 1 / 2 + asin(rho) / pi if judges == 2 else 1 / 4 + 3 * asin(rho) / (2 * pi)

    found = null_distribution([labels("A B")] * judges, "s", ChanceRule(version, rho))

    four_deviations = 4 * sqrt(agree * (1 - agree) / SHARED_ERROR_DRAWS)
    assert found.p_value(1.0) == pytest.approx(agree, abs=four_deviations)


def test_with_no_shared_error_both_rules_agree() -> None:
    drawn = null_distribution(_slates(4), "s", ChanceRule(SHARED_ERRORS, 0.0))

    for points, p in PUBLISHED[4].items():
        assert drawn.p_value(points / 6) == pytest.approx(p, abs=0.015)


def test_p_does_not_depend_on_seed_or_on_which_labels_are_used() -> None:
    other = [
        tuple(label for label in labels("K L M N O") if label != own) for own in labels("K L M N O")
    ]

    one = null_distribution(_slates(5), "s")

    assert one is null_distribution(list(reversed(other)), "t")


def test_a_round_keeps_the_rule_under_which_it_was_opened() -> None:
    rule = ChanceRule(SHARED_ERRORS, 0.1)

    assert ChanceRule.of(rule.versions) == rule
    assert ChanceRule.of(ChanceRule().versions) == ChanceRule(LEAD_DECIDES, 0.25)
    assert ChanceRule.of({"prompts": "3"}) == replace(RULE_1, every_pass=False)
    assert ChanceRule.of({"chance": "2", "rho": "0.15"}) == replace(RULE_2, every_pass=False)
    assert "unanimous" not in replace(rule, every_pass=False).versions


# --- Rule 3: the lead over the second


def _share_and_lead(orders: Iterable[tuple[Label, ...]]) -> tuple[float, float]:
    """Return the best share, and its lead over the second, of judges' orders."""
    ballots = [a_ballot(" ".join(order), f"j{i}") for i, order in enumerate(orders)]
    first, second, *_ = standings(sorted({x for order in orders for x in order}), ballots)
    assert first.share is not None
    assert second.share is not None
    return first.share, first.share - second.share


def test_among_equal_shares_the_lead_decides_as_a_full_count_says() -> None:
    slates = [labels("A B C"), labels("A B C"), labels("A B")]
    outcomes = [_share_and_lead(orders) for orders in product(*map(permutations, slates))]

    found = null_distribution(slates, "s", ChanceRule(rho=0.0))

    for share, lead in {(round(share, 9), round(lead, 9)) for share, lead in outcomes}:
        is_hit = [
            best > share + TOLERANCE or (best > share - TOLERANCE and ahead > lead - TOLERANCE)
            for best, ahead in outcomes
        ]
        exact = fmean(is_hit)
        four_deviations = 4 * sqrt(exact * (1 - exact) / SHARED_ERROR_DRAWS) + 1e-4
        assert found.p_value(share, lead) == pytest.approx(exact, abs=four_deviations)
    assert found.largest_lead(1.0) == max(lead for share, lead in outcomes if share > 1 - TOLERANCE)
    assert found.largest_lead(1.1) == 0


def test_two_judges_of_three_answers_by_hand() -> None:
    # 6 of 36 outcomes are the same order twice: shares 1, .5, 0. In 6 more only the others are
    # turned round: 1, .25, .25.
    found = null_distribution([labels("A B C")] * 2, "s", ChanceRule(rho=0.0))

    assert found.p_value(1.0, 0.5) == pytest.approx(1 / 3, abs=0.015)
    assert found.p_value(1.0, 0.75) == pytest.approx(1 / 6, abs=0.015)
    assert found.p_value(1.0, 0.75 - 1e-12) == found.p_value(1.0, 0.75)


@pytest.mark.parametrize(("rho", "agree"), [(0.0, 2 / 3), (0.5, 1 / 2 + asin(0.75) / pi)])
def test_half_of_a_judges_own_error_is_that_of_its_pass(rho: float, agree: float) -> None:
    # Views in two passes correlate by ρ + (1 − ρ)/2, so both orders agree in ½ + asin(that)/π.
    found = null_distribution([labels("A B")], "s", ChanceRule(rho=rho), passes=[2])

    four_deviations = 4 * sqrt(agree * (1 - agree) / SHARED_ERROR_DRAWS)
    assert found.p_value(1.0) == pytest.approx(agree, abs=four_deviations)
    assert found.p_value(0.5) == 1


def test_near_the_limit_of_a_claim_ten_times_as_many_draws_decide() -> None:
    found = null_distribution(_slates(5), "s", ChanceRule(rho=0.15))
    draws = FINE_BLOCKS * SHARED_ERROR_DRAWS

    near, far = found.p_value(1.0), found.p_value(0.9)

    assert draws == 200_000
    assert 0.03 < near < 0.08 < far
    assert near * (1 + draws) == pytest.approx(round(near * (1 + draws)), abs=1e-6)
    assert far * (1 + SHARED_ERROR_DRAWS) == pytest.approx(round(far * 20_001), abs=1e-6)
    assert found.finer
    assert found.finer() is found.finer()


def test_rounds_that_differ_in_which_ranking_was_lost_have_one_design() -> None:
    whole = _slates(5)

    one, other = (null_distribution([*whole[:i], *whole[i + 1 :]], "s") for i in (0, 3))

    assert one is other


def test_weights_count_in_steps_of_a_twentieth_and_none_is_lost() -> None:
    near, exact = (
        null_distribution(_slates(3), "s", ChanceRule(), weights)
        for weights in ([0.51, 0.43, 0.01], [0.5, 0.45, 0.05])
    )
    even = null_distribution(_slates(3), "s", ChanceRule(), [0.33, 0.33, 0.34])

    assert near is exact
    assert even is null_distribution(_slates(3), "s")


def test_answers_that_judges_tie_do_not_look_like_a_lead() -> None:
    # The winner's own judge ties the two others: their shares are level, but no order was given.
    ordered, tied = (
        count_ballots(labels("A B C"), full_panel(own, "A C", "A B"), "s") for own in ("B C", "B=C")
    )

    assert tied.standings[0].share == 1.0
    assert tied.verdict.p == ordered.verdict.p
    assert tied.verdict.too_few_judges


def test_judges_that_only_name_the_best_need_a_share_that_is_rare() -> None:
    panel = labels("A B C D")
    ballots = full_panel("B=C=D", "A C=D", "A B=D", "A B=C")

    verdict = count_ballots(panel, ballots, "s").verdict

    assert verdict.p == null_distribution(_slates(4), "s").p_value(1.0)
    assert not verdict.is_sure
    assert not verdict.too_few_judges  # had they ordered the others, their lead could be rare


def test_passes_on_different_answers_share_their_judges_weight() -> None:
    two = [a_ballot("A B C", "x"), replace(a_ballot("C B", "x"), pass_number=2)]
    ballots = [*two, a_ballot("B C A", "y")]

    found = count_ballots(labels("A B C"), ballots, "s").verdict.p

    slates, weights = [labels("A B C"), labels("B C"), labels("A B C")], [0.5, 0.5, 1.0]
    share, lead = standings(labels("A B C"), ballots)[0].share, 0.0
    assert share is not None
    assert found is not None
    expected = null_distribution(slates, "s", ChanceRule(), weights)
    assert expected.p_value(share, 1.0) <= found <= expected.p_value(share, lead)
