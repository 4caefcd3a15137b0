"""One strength for each name over many pools, with an interval that does not promise too much."""

from collections.abc import Iterable, Mapping
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy import optimize, stats

from council.labels import Label
from council.tally.borda import PairMatrix
from council.tally.bradley_terry import RIDGE, FittedStrength, fit_pools

NIGHTLY = pytest.mark.nightly
UNSEEN_OF_FOUR = 1 - 0.025 ** (1 / 4)  # the share of pools that four alike may not show: .602


def a_pool(shares: Mapping[str, float]) -> PairMatrix:
    """Return a pool from the share of judges who ranked the first letter above the second."""
    both = {**shares, **{pair[::-1]: 1 - share for pair, share in shares.items()}}
    return {(Label(pair[0]), Label(pair[1])): share for pair, share in both.items()}


def fitted(*pools: Mapping[str, float]) -> dict[str, FittedStrength]:
    return {line.name: line for line in fit_pools(map(a_pool, pools))}


def gap_of(won: float, pools: int) -> float:
    """Return the gap d between two names: d solves pools · σ(d) = won − ridge · d/2."""
    return float(optimize.brentq(lambda d: pools / (1 + exp(-d)) - won + RIDGE * d / 2, -20, 20))


def test_strength_and_interval_of_two_names_by_hand() -> None:
    # a beat b in three pools of four. With p = σ(d) and w = 4p(1 − p), H has the eigenvalue
    # 2w + ridge along (1, −1), so the error of a is √(4/3 · Σ(share − p)²) / (2w + ridge).
    gap = gap_of(3, 4)
    p = 1 / (1 + exp(-gap))
    error = sqrt(4 / 3 * (3 * (1 - p) ** 2 + p**2)) / (8 * p * (1 - p) + RIDGE)
    half = stats.t.ppf(0.975, 3) * error

    found = fitted({"ab": 1}, {"ab": 1}, {"ab": 1}, {"ab": 0})

    assert gap == pytest.approx(log(3), abs=0.1)
    assert found["a"].strength == pytest.approx(gap / 2)
    assert found["a"].ci == pytest.approx((gap / 2 - half, gap / 2 + half))
    assert found["b"].ci == pytest.approx((-gap / 2 - half, -gap / 2 + half))
    assert (found["a"].expected_share, found["b"].expected_share) == pytest.approx((p, 1 - p))
    assert (found["a"].pools, found["a"].group) == (4, 1)


def test_strengths_are_the_most_likely_ones() -> None:
    rng = np.random.default_rng(4)
    pairs = ["ab", "ac", "ad", "bc", "bd", "cd"]
    pools = [dict(zip(rng.choice(pairs, 3, replace=False), rng.random(3), strict=True))
             for _ in range(25)]  # fmt: skip

    found = fitted(*pools)

    def loss(scores: np.ndarray) -> float:
        total = RIDGE / 2 * float(scores @ scores)
        for pool in pools:
            for (one, other), share in pool.items():
                ahead = scores["abcd".index(one)] - scores["abcd".index(other)]
                total += share * np.log1p(exp(-ahead)) + (1 - share) * np.log1p(exp(ahead))
        return float(total)

    best = optimize.minimize(loss, np.zeros(4), tol=1e-12).x
    assert [found[name].strength for name in "abcd"] == pytest.approx(best, abs=1e-4)
    assert sum(line.strength for line in found.values()) == pytest.approx(0)
    expected = np.mean([1 / (1 + exp(other - best[0])) for other in best[1:]])
    assert found["a"].expected_share == pytest.approx(expected, abs=1e-4)


def test_names_that_never_met_are_in_groups_without_a_common_scale() -> None:
    mixed: list[Mapping[str, float]] = [{"ab": 1}, {"ab": 0}, {"ab": 1}]
    shares: list[Mapping[str, float]] = [{"xy": 1}, *mixed, {"xy": 0}, {"bc": 0.5}]
    apart = fit_pools(map(a_pool, shares))

    assert [(line.name, line.group) for line in apart] == [
        ("a", 1), ("c", 1), ("b", 1), ("x", 2), ("y", 2)
    ]  # fmt: skip
    alone = fit_pools(map(a_pool, [*mixed, {"bc": 0.5}]))
    assert apart[:3] == alone
    assert sum(line.strength for line in apart[:3]) == pytest.approx(0)
    assert [line.expected_share for line in apart[3:]] == [0.5, 0.5]


def test_one_that_always_wins_is_open_above_and_bounded_by_what_four_pools_can_miss() -> None:
    found = fitted(*[{"ab": 1}] * 4)

    low, high = found["a"].ci
    assert found["a"].strength == pytest.approx(gap_of(4, 4) / 2)
    assert low == pytest.approx(gap_of(4 * (1 - UNSEEN_OF_FOUR), 4) / 2)
    assert low is not None
    assert low < 0  # four wins in a row do not show that a is better
    assert high is None
    assert found["b"].ci[0] is None
    assert found["b"].ci[1] == pytest.approx(-low)


def test_ten_wins_in_a_row_show_that_one_is_better() -> None:
    low, _ = fitted(*[{"ab": 1}] * 10)["a"].ci

    assert low is not None
    assert low > 0


def test_the_one_between_two_that_always_win_and_lose_is_open_at_both_ends() -> None:
    found = fitted(*[{"ab": 1, "ac": 1, "bc": 1}] * 6)

    assert found["b"].ci == (None, None)
    assert [found[name].ci.index(None) for name in "ac"] == [1, 0]


def test_two_that_together_always_win_are_open_above() -> None:
    one = {"ac": 1, "ad": 1, "bc": 1, "bd": 1}
    found = fitted(*[one | {"ab": 1, "cd": 0}, one | {"ab": 0, "cd": 1}] * 4)

    lows = [found[name].ci[0] for name in "ab"]
    assert [found[name].ci[1] for name in "ab"] == [None, None]
    assert lows[0] == pytest.approx(lows[1])
    assert [found[name].ci[0] for name in "cd"] == [None, None]


def test_pools_that_all_say_the_same_leave_room_for_one_that_differs() -> None:
    found = fitted(*[{"ab": 0.5}] * 4)

    ahead = gap_of(2 + 2 * UNSEEN_OF_FOUR, 4) / 2
    assert found["a"].strength == pytest.approx(0)
    assert found["a"].ci == pytest.approx((-ahead, ahead))


def test_one_pool_leaves_everything_open() -> None:
    found = fitted({"ab": 0.75, "bc": 0.25, "ac": 0.5})

    assert {line.ci for line in found.values()} == {(None, None)}


def test_a_pool_counts_once_for_the_names_that_it_compares() -> None:
    found = fitted({"ab": 1}, {"ab": 0.5, "bc": 0.25}, {"bc": 0.75})

    assert [found[name].pools for name in "abc"] == [2, 3, 2]


def test_without_pools_there_are_no_strengths() -> None:
    assert fit_pools([]) == ()
    assert fit_pools([{}]) == ()


def drawn_pools(rng: np.random.Generator, count: int) -> Iterable[PairMatrix]:
    """Yield pools of four names, whose texts are better and worse, as five judges see them."""
    for _ in range(count):
        worth = np.array([0.8, 0.3, -0.2, -0.9]) + rng.normal(0, 0.8, 4)
        seen = worth + rng.gumbel(0, 1, (5, 4))
        above = (seen[:, :, None] > seen[:, None, :]).mean(axis=0)
        yield {
            (Label("abcd"[i]), Label("abcd"[j])): float(above[i, j])
            for i in range(4)
            for j in range(4)
            if i != j
        }


@pytest.mark.parametrize(
    ("pools", "times", "error"),
    [(12, 60, 0.03), *(pytest.param(n, 1_000, 0.01, marks=NIGHTLY) for n in (5, 12, 40))],
)
def test_intervals_hold_the_strength_that_many_pools_would_give(
    pools: int, times: int, error: float
) -> None:
    rng = np.random.default_rng(11)
    truth = {line.name: line.strength for line in fit_pools(drawn_pools(rng, 4_000))}

    held = [
        (-np.inf if line.ci[0] is None else line.ci[0])
        <= truth[line.name]
        <= (np.inf if line.ci[1] is None else line.ci[1])
        for _ in range(times)
        for line in fit_pools(drawn_pools(rng, pools))
    ]

    assert 0.95 - error <= np.mean(held) <= 0.96 + error
