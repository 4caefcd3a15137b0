"""Agreement of judges, compared with scipy and with hand computations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from council.ballots import Ballot
from council.tally.agreement import agreement, kendall_w, krippendorff_alpha, mean_tau, tau_b
from tests.builders import a_ballot, labels
from tests.council.tally.examples import E1

LABELS = labels("A B C D E F")
RANKS = st.lists(st.integers(1, 6), min_size=6, max_size=6)


@given(RANKS, RANKS)
def test_tau_equals_scipys(one: list[int], other: list[int]) -> None:
    here = dict(zip(LABELS, map(float, one), strict=True))
    there = dict(zip(LABELS, map(float, other), strict=True))

    found = tau_b(here, there)

    oracle = float(kendalltau(one, other, variant="b").statistic)
    # scipy says nan where a judge ties everything.
    assert found == pytest.approx(oracle) if found is not None else oracle != oracle  # noqa: PLR0124


def test_tau_uses_common_answers_only() -> None:
    assert mean_tau([a_ballot("A B C"), a_ballot("D A B")]) == 1.0


def test_the_mean_tau_of_three_judges_is_over_their_pairs() -> None:
    # J and K agree (1), each against L: two of three pairs turned round (−1/3).
    ballots = [a_ballot("A B C"), a_ballot("A B C"), a_ballot("C A B")]

    assert mean_tau(ballots) == pytest.approx((1 - 1 / 3 - 1 / 3) / 3)


def test_the_worked_example_has_its_mean_tau() -> None:
    # On common answers: A–B share C D: tied by B, none; A–C share B D: C ties, none;
    # A–D share B C: 1; B–C share A D: 1; B–D share A C: 1; C–D share A B: −1.
    assert mean_tau(E1) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "ballots",
    [
        pytest.param([], id="no-judge"),
        pytest.param(["A B"], id="one-judge"),
        pytest.param(["A B", "C D"], id="nothing-in-common"),
        pytest.param(["A B C", "D A"], id="one-answer-in-common"),
        pytest.param(["A=B", "A B"], id="everything-tied"),
    ],
)
def test_tau_is_none_where_undefined(ballots: list[str]) -> None:
    assert mean_tau([a_ballot(text) for text in ballots]) is None


@pytest.mark.parametrize(
    ("ballots", "w"),
    [
        pytest.param(["A B C", "A B C"], 1.0, id="one-mind"),
        pytest.param(["A B C", "C B A"], 0.0, id="opposed"),
        # Rank sums 4 6 9 11, mean 7.5, S = 29; W = 12·29 / (9·60)
        pytest.param(["A B C D", "A C B D", "B A D C"], None, id="strict"),
        # Ranks 1 2.5 2.5 4 tie two: sums 4 5.5 9.5 11, S = 32.5; W = 12·32.5 / (9·60 − 3·6)
        pytest.param(["A B C D", "A B=C D", "B A D C"], 390 / 522, id="tied"),
    ],
)
def test_w_matches_the_hand_computation(ballots: list[str], w: float | None) -> None:
    expected = 348 / 540 if w is None else w

    assert kendall_w([a_ballot(text) for text in ballots]) == pytest.approx(expected)


@pytest.mark.parametrize(
    "ballots",
    [
        pytest.param([], id="no-judge"),
        pytest.param(["A B"], id="one-judge"),
        pytest.param(["A B C", "A B D"], id="different-answers"),
        pytest.param(["A=B", "A=B"], id="everything-tied"),
    ],
)
def test_w_is_none_where_undefined(ballots: list[str]) -> None:
    assert kendall_w([a_ballot(text) for text in ballots]) is None


def test_w_ignores_the_display_order() -> None:
    a, b = labels("A B")

    assert kendall_w([Ballot("J", (a, b), ((a,), (b,))), Ballot("K", (b, a), ((a,), (b,)))]) == 1.0


@pytest.mark.parametrize(
    ("ballots", "alpha"),
    [
        pytest.param(["A B C", "A B C"], 1.0, id="one-mind"),
        # Shares A (1,1) B (.5,0) C (0,.5). Observed (0 + .5 + .5)/6 = 1/6. Expected: squared
        # deviations of 1 1 .5 0 0 .5 sum to 1, so 2·6·1 / (6·5) = .4; α = 1 − (1/6)/.4 = 7/12.
        pytest.param(["A B C", "A C B"], 7 / 12, id="two-swapped"),
        # Shares A (1,0) B (0,1). Observed (2+2)/4 = 1, expected 2·4·1/(4·3) = 2/3; α = 1 − 1.5.
        pytest.param(["A B", "B A"], -0.5, id="opposed"),
        # Shares A (1,1,0) B (0,0,1). Observed (4/2 + 4/2)/6 = 2/3, expected 2·9/(6·5) = 3/5.
        pytest.param(["A B", "A B", "B A"], 1 - (2 / 3) / (3 / 5), id="three-judges"),
        # C is ranked once and says nothing: A (1,1) B (.5,0), C (0,–) left out. Observed .5/4,
        # pooled 1 1 .5 0 have squared deviations .6875: 2·4·.6875/(4·3); α = 1 − .125/.458333.
        pytest.param(["A B C", "A B"], 1 - 0.125 / (5.5 / 12), id="slates-of-different-length"),
    ],
)
def test_alpha_matches_the_hand_computation(ballots: list[str], alpha: float) -> None:
    assert krippendorff_alpha([a_ballot(text) for text in ballots]) == pytest.approx(alpha)


@pytest.mark.parametrize(
    "ballots",
    [
        pytest.param([], id="no-judge"),
        pytest.param(["A B"], id="one-judge"),
        pytest.param(["A=B", "A=B"], id="everything-tied"),
    ],
)
def test_alpha_is_none_where_undefined(ballots: list[str]) -> None:
    assert krippendorff_alpha([a_ballot(text) for text in ballots]) is None


def test_agreement_gathers_all_three() -> None:
    ballots = [a_ballot("A B C"), a_ballot("A C B")]

    found = agreement(ballots)

    assert found.tau_b == pytest.approx(1 / 3)
    assert found.kendall_w == pytest.approx(12 * 6 / (4 * 24))  # sums 2 5 5, S = 4 + 1 + 1
    assert found.alpha == pytest.approx(7 / 12)
