"""The effective number of judges on simulated panels with a known answer."""

from collections.abc import Callable, Sequence
from itertools import permutations
from random import Random

import pytest

from council.ballots import Ballot
from council.tally.agreement import MIN_ROUNDS, effective_judges
from tests.builders import labels

MEMBERS = labels("A B C D")
Order = Sequence[str]


def _independent(dice: Random) -> list[Order]:
    return [dice.sample(MEMBERS, len(MEMBERS)) for _ in MEMBERS]


def _identical(dice: Random) -> list[Order]:
    return [dice.sample(MEMBERS, len(MEMBERS))] * len(MEMBERS)


def _identical_pair(dice: Random) -> list[Order]:
    first, _, *others = _independent(dice)
    return [first, first, *others]


def _past(
    orders: Callable[[Random], list[Order]], rounds: int = 300, *, own_shown: bool = False
) -> list[list[Ballot]]:
    dice = Random("N_eff")
    return [
        [
            Ballot(judge, tuple(sorted(shown)), tuple((label,) for label in shown))
            for judge, order in zip(MEMBERS, orders(dice), strict=True)
            for shown in [tuple(x for x in MEMBERS if x in order and (own_shown or x != judge))]
            for shown in [tuple(sorted(shown, key=order.index))]
        ]
        for _ in range(rounds)
    ]


BOTH = pytest.mark.parametrize(
    "own_shown", [pytest.param(False, id="members"), pytest.param(True, id="outside-judges")]
)


def test_a_panel_of_few_rounds_has_no_effective_number() -> None:
    assert effective_judges(_past(_independent, MIN_ROUNDS - 1)) is None


def test_a_panel_of_thirty_rounds_has_an_effective_number() -> None:
    assert effective_judges(_past(_independent, MIN_ROUNDS)) is not None


@BOTH
def test_independent_judges_count_fully(own_shown: bool) -> None:
    found = effective_judges(_past(_independent, own_shown=own_shown))

    assert found == pytest.approx(4, abs=0.5)


@BOTH
def test_identical_judges_count_as_one(own_shown: bool) -> None:
    found = effective_judges(_past(_identical, own_shown=own_shown))

    assert found == pytest.approx(1, abs=0.3)


@BOTH
def test_two_identical_of_four_judges_count_as_two_to_four(own_shown: bool) -> None:
    # Were R known: 16 / (4 + 2·1) = 2.67
    found = effective_judges(_past(_identical_pair, own_shown=own_shown))

    assert found is not None
    assert 2.0 < found < 3.5


def test_judges_who_never_met_count_as_independent() -> None:
    a, b = MEMBERS[:2]
    first = [Ballot("J", (a, b), ((a,), (b,)))]
    second = [Ballot("K", (a, b), ((a,), (b,)))]

    assert effective_judges([first, second] * MIN_ROUNDS) == 2


def test_judges_who_tie_everything_count_as_independent() -> None:
    a, b = MEMBERS[:2]
    ballots = [Ballot(judge, (a, b), ((a, b),)) for judge in "JK"]

    assert effective_judges([ballots] * MIN_ROUNDS) == 2


def test_contradicting_judges_count_at_most_once_each() -> None:
    a, b, c = MEMBERS[:3]
    orders = list(permutations((a, b, c)))
    rounds = [
        [
            Ballot("J", order, tuple((x,) for x in order)),
            Ballot("K", order, tuple((x,) for x in order[::-1])),
        ]
        for order in orders * MIN_ROUNDS
    ]

    found = effective_judges(rounds)

    assert found is None or found == pytest.approx(2)
