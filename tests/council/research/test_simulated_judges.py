"""Simulated rounds use our own slates, and their judges have the planted biases."""

import numpy as np
import pytest

from council.errors import PanelError
from council.labels import draw_labels, draw_slates
from council.research.simulated_judges import (
    Biases,
    SimulatedPanel,
    SimulatedRounds,
    simulated_rounds,
    uniform_panel,
)

ROUNDS = 400
BLIND = Biases(noise=0.0)


def _held(biases: Biases, members: int = 5) -> SimulatedRounds:
    return simulated_rounds(uniform_panel(members, biases), ROUNDS, "seed")


def test_labels_and_slates_are_those_of_a_real_round() -> None:
    rounds = simulated_rounds(uniform_panel(4), 3, "seed")

    labels = draw_labels(rounds.panel.members, "seed 2")
    slates = draw_slates(labels, (), "seed 2")
    ballots = rounds.ballots(rounds.counted, 2)
    assert rounds.labels[2] == labels
    assert [(b.judge, b.shown) for b in ballots] == [(s.judge, s.shown) for s in slates]


def test_the_same_seed_gives_the_same_votes() -> None:
    first, again = _held(Biases(own=1)), _held(Biases(own=1))

    assert (first.counted.places == again.counted.places).all()
    assert (first.fixed_order().places == again.fixed_order().places).all()


def test_judges_without_bias_or_noise_put_answers_in_order_of_worth() -> None:
    rounds = _held(BLIND)

    worth = np.take_along_axis(rounds.answers.worth[:, None, :], rounds.counted.shown, axis=2)
    by_place = np.take_along_axis(worth, np.argsort(rounds.counted.places, axis=2), axis=2)
    assert (np.diff(by_place, axis=2) < 0).all()


def test_a_ballot_ranks_what_the_votes_say() -> None:
    rounds = simulated_rounds(uniform_panel(3, BLIND), 1, "seed")

    ballot = rounds.ballots(rounds.counted, 0)[0]

    worth = dict(zip(rounds.labels[0].labels, rounds.answers.worth[0], strict=True))
    assert [label for (label,) in ballot.ranking] == sorted(ballot.shown, key=lambda x: -worth[x])


def test_rivals_show_everybody_the_same_order_and_their_own_answer() -> None:
    fixed = _held(Biases()).fixed_order()

    assert (fixed.shown == np.arange(5)).all()


def test_members_with_more_strength_are_worth_more() -> None:
    panel = SimulatedPanel(("A", "B", "C"), (Biases(),) * 3, (1.0, 0.0, -1.0))

    rounds = simulated_rounds(panel, ROUNDS, "seed")

    assert rounds.answers.worth.mean(axis=0) == pytest.approx([1, 0, -1], abs=0.15)


@pytest.mark.parametrize(
    ("makers", "judges", "strengths"),
    [
        pytest.param(2, 2, 0, id="too-few"),
        pytest.param(11, 11, 0, id="too-many"),
        pytest.param(4, 3, 0, id="a-judge-without-biases"),
        pytest.param(4, 4, 3, id="a-member-without-strength"),
    ],
)
def test_an_invalid_panel_is_refused(makers: int, judges: int, strengths: int) -> None:
    with pytest.raises(PanelError, match="A simulated panel"):
        SimulatedPanel(("A",) * makers, (Biases(),) * judges, (0.0,) * strengths)
