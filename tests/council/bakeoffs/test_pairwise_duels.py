import numpy as np
import pytest

from council.bakeoffs.pairwise import (
    HORIZON,
    MIN_ROUNDS,
    WANG_TSIATIS_C,
    Duel,
    RunOff,
    boundary,
    crossings,
    duels,
    run_off,
)
from council.bakeoffs.record_arrays import Columns, Floats
from tests.council.bakeoffs.record_builders import a_record, drawn_ballots, gap_worth, margins, of


def _ever(drawn: Floats) -> float:
    """Return how often any look claims that one is ahead."""
    return float((crossings(drawn) != 0).any(axis=-1).mean())


def _drawn(members: int, agreement: float, gap: float = 0.0, runs: int = 2_000) -> Floats:
    """Draw the margins of two members over a hundred rounds, many times."""
    theta = gap_worth(gap, members)
    worth = np.zeros((runs, HORIZON, members))
    worth[..., 0], worth[..., 1] = theta, -theta
    return margins(drawn_ballots(np.random.default_rng(5), worth, agreement=agreement))


def _rounds(*leads: float) -> Columns:
    return of(
        *(
            a_record({"ada": 0.5 + lead / 2, "bob": 0.5 - lead / 2}, number=i)
            for i, lead in enumerate(leads, 1)
        )
    )


def test_the_boundary_is_wang_and_tsiatis_at_the_horizon() -> None:
    assert boundary(np.array([100.0])) == pytest.approx(WANG_TSIATIS_C)


def test_the_boundary_is_a_mixture_s_after_the_horizon() -> None:
    # ρ² = (−2·ln .005 + ln(−2·ln .005) + 1)/60 = (10.597 + 2.3606 + 1)/60 = .23263; at 200 rounds
    # tρ² = 46.53 and z = √(2·47.53/46.53·ln(√47.53/.005)) = √(2.0430·7.2290) = 3.843.
    assert boundary(np.array([200.0])) == pytest.approx(3.843, abs=1e-3)


def test_nobody_is_ahead_before_the_fewest_rounds() -> None:
    assert np.isinf(boundary(np.arange(1.0, MIN_ROUNDS))).all()
    assert np.isfinite(boundary(np.arange(float(MIN_ROUNDS), 1_000))).all()


def test_a_member_that_wins_every_round_alike_is_ahead_after_sixteen() -> None:
    # S/√V is √t, and the mixture's boundary is 3.95 at 15 rounds and 3.93 at 16.
    found = list(duels(_rounds(*[0.5] * 40)))

    assert found == [Duel("ada", "bob", 0.5, 40, "ada")]


def test_equals_are_not_ahead() -> None:
    found = next(duels(_rounds(*[0.5, -0.5] * 50)))

    assert (found.margin, found.ahead) == (0, None)
    assert next(duels(_rounds(*[0.0] * 50))).ahead is None


def test_a_claim_stands_until_the_opposite_is_claimed() -> None:
    leads = [0.5] * 20 + [-0.25] * 30

    assert next(duels(_rounds(*leads))).ahead == "ada"
    assert next(duels(_rounds(*leads, *[-0.5] * 150))).ahead == "bob"


def test_members_that_never_met_have_no_duel() -> None:
    met = of(a_record({"ada": 1.0, "bob": 0.0}), a_record({"ada": 1.0, "cyd": 0.0}, number=2))

    assert [(duel.first, duel.second) for duel in duels(met)] == [("ada", "bob"), ("ada", "cyd")]


def test_a_run_off_puts_first_whom_judges_outside_the_pair_do() -> None:
    duel = Duel("ada", "bob", 0.25, 8)

    assert run_off(duel, "ada") == RunOff("ada", "bob", 0.25, 8, changed=False)
    assert run_off(duel, "bob") == RunOff("ada", "bob", 0.25, 8, changed=True)


def test_in_an_even_run_off_the_leader_stays_in_front() -> None:
    even = Duel("ada", "bob", 0.0, 8)

    assert run_off(even, "bob") == RunOff("bob", "ada", 0.0, 8, changed=False)


@pytest.mark.parametrize("agreement", [0.0, 0.5])
@pytest.mark.parametrize(
    "members", [3, *(pytest.param(number, marks=pytest.mark.nightly) for number in (4, 5, 8))]
)
def test_between_equals_a_hundred_looks_claim_somebody_ahead_at_most_7_times_of_100(
    members: int, agreement: float
) -> None:
    assert _ever(_drawn(members, agreement)) <= 0.07
