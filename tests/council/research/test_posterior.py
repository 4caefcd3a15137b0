"""The leaderboard as prior and the round's ballots as evidence."""

import numpy as np
import pytest

from council.ballots import Ballot
from council.labels import Label, LabelMap
from council.research.posterior import Score, WinChance, strength_scores, win_chances
from council.tally.bradley_terry import RIDGE
from tests.builders import a_ranking
from tests.council.bakeoffs.record_builders import a_record, of

TWO = LabelMap((("ada", Label("K")), ("bob", Label("L"))))


def sure(value: float) -> Score:
    """Return a strength that is known exactly."""
    return Score(value, 0.0)


def known(ada: float) -> dict[str, Score]:
    """Return boards on which bob stands at 0."""
    return {"ada": sure(ada), "bob": sure(0.0)}


def cast(*rankings: str) -> list[Ballot]:
    return [
        Ballot(f"j{i}", tuple(Label(x) for x in text.replace("=", " ").split()), a_ranking(text))
        for i, text in enumerate(rankings)
    ]


def found(lines: tuple[WinChance, ...]) -> dict[str, tuple[float, float]]:
    return {line.member: (line.before, line.after) for line in lines}


def test_without_ballots_the_posterior_is_the_prior() -> None:
    lines = win_chances(TWO, [], known(1.0), "seed")

    # θ_a − θ_b is normal around 1 with variance 2: above 0 in Φ(1/√2) = .760.
    assert [line.member for line in lines] == ["ada", "bob"]
    assert [*found(lines)["ada"]] == pytest.approx([0.760, 0.760], abs=0.02)


# A second oracle: for two answers the posterior of d = θ_a − θ_b is one integral. A ballot over
# two answers weighs 2/2 = 1: density ∝ exp(−(d − s)²/4)·σ(d)³·σ(−d).
def test_the_chances_are_those_of_the_exact_integral() -> None:
    lines = win_chances(TWO, cast("K L", "K L", "K L", "L K"), known(-0.5), "seed")

    d = np.linspace(-12, 12, 20_001)
    density = np.exp(-((d + 0.5) ** 2) / 4) / (1 + np.exp(-d)) ** 3 / (1 + np.exp(d))
    exact = density[d > 0].sum() / density.sum()
    assert found(lines)["ada"][1] == pytest.approx(exact, abs=0.03)


def test_the_same_seed_gives_the_same_chances() -> None:
    assert win_chances(TWO, cast("K L"), {}, "s") == win_chances(TWO, cast("K L"), {}, "s")


def test_scores_are_log_odds_and_unknown_for_a_member_that_met_no_other() -> None:
    found = strength_scores(
        of(
            *(a_record({"ada": 1.0, "bob": 0.0}, number=i) for i in range(1, 4)),
            a_record({"ada": 0.0, "bob": 1.0}, number=4),
            a_record({"cyd": 0.5}, number=5),
        )
    )

    assert found["ada"].value == pytest.approx(-found["bob"].value)
    assert found["ada"].value > 0.4
    assert found["ada"].variance < found["cyd"].variance == pytest.approx(1 / RIDGE)
    assert found["cyd"].value == pytest.approx(0)
