"""Weights by family share: every maker has one voice in a round, however many seats it holds."""

from collections.abc import Iterable

import numpy as np

from council.bakeoffs.columns import Floats
from council.bias.weights.given import Given
from council.bias.weights.names import FAMILY
from council.bias.weights.weighing import JudgeWeight, Weighing


def family_voices(given: Given) -> Floats:
    """Give (round, judge): 1 / the number of its maker's judges with a counted ballot there.

    0 for a judge that cast none.
    """
    voted = given.voted
    makers = np.array(given.makers)
    same = makers[:, None] == makers[None, :]
    seats = voted.astype(float) @ same
    return np.where(voted, 1 / np.maximum(seats, 1.0), 0.0)


def family_weights(rounds: Iterable[Given]) -> Weighing:
    """Give each judge's part of all voices, over the rounds together; its basis is its mean voice.

    The weights of single rounds are `family_voices`.
    """
    voices: dict[str, float] = {}
    ballots: dict[str, int] = {}
    for given in rounds:
        sums, counts = family_voices(given).sum(axis=0), given.voted.sum(axis=0)
        for judge, voice, count in zip(given.judges, sums.tolist(), counts.tolist(), strict=True):
            voices[judge] = voices.get(judge, 0.0) + voice
            ballots[judge] = ballots.get(judge, 0) + int(count)
    heard = sum(voices.values())
    lines = (
        JudgeWeight(judge, voice / heard, ballots[judge], voice / ballots[judge])
        for judge, voice in voices.items()
        if ballots[judge]
    )
    return Weighing(FAMILY, tuple(lines))
