"""Agreement over many rounds equals what the tally computes for each round."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
import pytest

from council.bakeoffs.bias.judge_bias import (
    mean_agreement,
    pairwise_taus,
    pooled_effective_judges,
    spoiled_rates,
)
from council.bakeoffs.bias.measurement import measure_bias
from council.bakeoffs.bias.report import Effect
from council.bakeoffs.bias.vote_arrays import Block
from council.bakeoffs.bias.votes import Votes
from council.bakeoffs.intervals import wilson_interval
from council.ballots import Ballot
from council.labels import Label
from council.tally.agreement import effective_judges, krippendorff_alpha, tau_b
from council.tally.borda import ranks
from tests.council.bakeoffs.bias.simulated_blocks import Planted, as_votes, simulated
from tests.council.bakeoffs.bias.vote_builders import a_vote, blocks_of, votes

BLOCK = simulated(40, Planted(), seed=1)


def _ballots(round_: Votes, nth: int = 0) -> list[Ballot]:
    """Return a round's votes as ballots; labels of other rounds are others."""
    found = []
    for vote in round_.ballots:
        order = sorted({*vote.ranks})
        pairs = list(zip(vote.shown, vote.ranks, strict=True))
        ranking = tuple(
            tuple(Label(f"{a}{nth}") for a, rank in pairs if rank == place) for place in order
        )
        found.append(Ballot(vote.judge, tuple(Label(f"{a}{nth}") for a in vote.shown), ranking))
    return found


ROUNDS = [_ballots(round_) for round_ in as_votes(BLOCK)]


def test_each_two_judges_agree_as_the_tally_says() -> None:
    found = pairwise_taus(BLOCK)

    for (one, other), taus in found.items():
        expected = [_tau(ballots, one, other) for ballots in ROUNDS]
        assert [None if np.isnan(tau) else tau for tau in taus] == pytest.approx(expected)


def _tau(ballots: Sequence[Ballot], one: str, other: str) -> float | None:
    by_judge = {ballot.judge: ranks(ballot.ranking) for ballot in ballots}
    return tau_b(by_judge[one], by_judge[other])


def test_a_judge_agrees_by_its_mean_with_the_others_of_each_round() -> None:
    found = mean_agreement([pairwise_taus(BLOCK)], BLOCK.judges)["b"]

    means = []
    for ballots in ROUNDS:
        taus = [_tau(ballots, "b", other) for other in "acde"]
        means.append(fmean(tau for tau in taus if tau is not None))
    assert found.value == pytest.approx(fmean(means))
    assert (found.n, found.p, found.more) == (40, None, None)


def test_the_effective_number_of_judges_is_the_tallys() -> None:
    assert pooled_effective_judges([pairwise_taus(BLOCK)]) == pytest.approx(
        effective_judges(ROUNDS)
    )


def _only(block: Block, rounds: int) -> list[Block]:
    return [*blocks_of(*as_votes(block)[:rounds])]


def test_below_thirty_rounds_there_is_no_effective_number() -> None:
    assert pooled_effective_judges([pairwise_taus(block) for block in _only(BLOCK, 29)]) is None
    assert pooled_effective_judges([pairwise_taus(block) for block in _only(BLOCK, 30)]) is not None
    assert pooled_effective_judges([]) is None


def test_judges_that_never_met_have_no_effective_number() -> None:
    one = [votes(a_vote("a", "b c"), a_vote("d", "b c"))] * 40
    other = [votes(a_vote("x", "z w"), a_vote("y", "z w"), judges=tuple("xyzw"))] * 40

    assert (
        pooled_effective_judges([pairwise_taus(block) for block in blocks_of(*one, *other)]) is None
    )


def test_alpha_of_many_rounds_is_that_of_all_their_answers() -> None:
    pooled = [
        ballot for nth, round_ in enumerate(as_votes(BLOCK)) for ballot in _ballots(round_, nth)
    ]

    # The tally takes a ballot for a judge's; one judge may cast many.
    assert measure_bias([BLOCK]).alpha == pytest.approx(krippendorff_alpha(pooled))


@pytest.mark.parametrize(
    "rounds",
    [
        pytest.param([], id="no-rounds"),
        pytest.param([votes(a_vote("a", "b c d"))] * 5, id="one-judge"),
        pytest.param([votes(a_vote("a", "b=c=d"), a_vote("b", "a=c=d"))] * 5, id="all-ties"),
    ],
)
def test_alpha_without_data_is_none(rounds: list[Votes]) -> None:
    assert measure_bias(blocks_of(*rounds)).alpha is None


def test_spoiled_ballots_are_a_share_of_all_that_were_sent() -> None:
    sent = Votes(("a", "b", "c"), ("x", "y", "z"), 3, (a_vote("a", "b c"),), None, (("a", 1),))
    other = Votes(("a", "b", "c"), ("x", "y", "z"), 3, (a_vote("a", "b c"),), None, (("b", 2),))

    found = spoiled_rates(blocks_of(sent, other))

    assert found["a"] == Effect(3, "ballots", 1 / 3, wilson_interval(1, 3))
    assert found["b"].value == 1.0
    assert found["c"] == Effect(0, "ballots")
