"""Weights by consistency: stored as a round opens, official only for methods that say so."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from council.ballots import Ballot
from council.integrity.verification import verify
from council.methods import BLIND_RANKING, BOTH_ORDERS
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.registry import NO_PLUGINS, Registry
from council.round_rules import CONSISTENCY, consistency_weights, weighted_standings
from council.rounds import Draw, Round
from council.tally import Tally
from council.tally.borda import JudgeWeights, pair_matrix, standings
from council.tally.chance import null_distribution, pair_weights
from council.tally.chance_rule import ChanceRule
from tests.builders import CLAUDE, DEEPSEEK, GEMINI, GPT, a_ballot, a_panel, a_round, labels
from tests.fakes.gateway import FakeGateway, rank_by_slot, rank_by_slot_reversed
from tests.fakes.memory_store import MemoryStore
from tests.registries import a_registry

K, L, M = labels("K L M")
HEAVY = {CLAUDE: 0.6, GPT: 0.2, GEMINI: 0.1, DEEPSEEK: 0.1}


async def weighted_round(
    method: str, stored: object = HEAVY, registry: Registry = NO_PLUGINS
) -> Round:
    """Return a closed round of four judges, of which Claude alone keeps its order."""
    panel = a_panel(4)
    panel = replace(panel, terms=replace(panel.terms, method=method, audit_share=0.0))
    entry = (CONSISTENCY, json.dumps(stored))
    opened = a_round(panel)
    opened = replace(opened, versions=tuple(sorted((*opened.versions, entry))), registry=registry)
    store = MemoryStore()
    await store.open(opened)
    steady = [rank_by_slot, rank_by_slot_reversed]
    gateway = FakeGateway(judges={CLAUDE: steady}, vote=rank_by_slot)
    return await run_round(opened.id, RoundServices(gateway, store))


# x (weight 3) says K > L, y (weight 1) says L > K: 3/4; over both rivals (¾ + 1) / 2.
def test_a_pair_share_is_the_part_of_the_weight_that_put_the_first_above() -> None:
    ballots = [a_ballot("K L M", "x"), a_ballot("L K M", "y")]

    matrix = pair_matrix(ballots, {"x": 3, "y": 1})
    (first, second, _) = standings([K, L, M], ballots, {"x": 3, "y": 1})

    assert matrix[K, L] == 0.75
    assert (first.label, first.share, second.share) == (K, 0.875, 0.625)
    assert (first.points, first.max_points, first.mean_rank) == (3, 4, 1.5)


def test_two_passes_of_a_judge_share_its_weight() -> None:
    again = replace(a_ballot("L K M", "x"), pass_number=2)
    ballots = [a_ballot("K L M", "x"), again, a_ballot("L K M", "y")]

    # (3 · ½) / (3 + 1)
    assert pair_matrix(ballots, {"x": 3, "y": 1})[K, L] == 0.375


def test_equal_weights_of_any_sum_change_nothing() -> None:
    ballots = [a_ballot("K L M", "x"), a_ballot("M L K", "y")]

    assert standings([K, L, M], ballots, {"x": 2, "y": 2}) == standings([K, L, M], ballots)


def test_what_a_win_adds_is_the_judges_part_of_the_weight() -> None:
    weights = pair_weights([(0, 1, 2), (0, 1)], [3.0, 1.0])

    # 0 and 1 were seen with weight 4, 2 with 3; each has two rivals.
    assert weights[0, 1] == 1 / 8
    assert weights[2, 0] == 1 / 6


def test_p_knows_that_one_heavy_judge_decides_by_chance() -> None:
    slates, rule = [(K, L, M)] * 4, ChanceRule(rho=0.0)

    even = null_distribution(slates, "", rule).p_value(1.0)
    heavy = null_distribution(slates, "", rule, [0.91, 0.03, 0.03, 0.03]).p_value(0.85)

    # Four alike: some answer is first on all ballots in 3 · (1/3)⁴ = 1/27 of outcomes. Weights
    # count in steps of .05, so here as .9 and thrice .05: a judge with 18 of 21 always puts some
    # answer first, and the others take at most 3/21 from its share.
    assert even == pytest.approx(1 / 27, abs=0.005)
    assert heavy == pytest.approx(1.0)
    shuffled = null_distribution(slates, "", rule, [0.03, 0.91, 0.03, 0.03])
    assert np.array_equal(
        shuffled.best_shares,
        null_distribution(slates, "", rule, [0.91, 0.03, 0.03, 0.03]).best_shares,
    )


async def test_both_orders_counts_by_the_stored_weights_and_verify_agrees() -> None:
    round_ = await weighted_round("both-orders")

    assert round_.tally
    assert round_.draw
    labels_ = round_.draw.labels.labels
    assert round_.tally.standings == standings(labels_, round_.ballots, HEAVY)
    assert round_.tally.standings == weighted_standings(round_)
    assert round_.tally.standings != standings(labels_, round_.ballots)
    assert not verify(round_)
    # Claude puts Gemini's answer first, and all others tie. Of each pair with it, Claude and one
    # more judge saw both: (.6 + w/2) / (.6 + w) with w .2 and .1; Claude's own answer ties with it.
    assert round_.tally.standings[0].share == pytest.approx((0.7 / 0.8 + 0.65 / 0.7 + 0.5) / 3)


async def test_changed_weights_are_found() -> None:
    round_ = await weighted_round("both-orders")
    other = json.dumps({**HEAVY, CLAUDE: 0.1})

    changed = replace(
        round_,
        versions=tuple((k, other if k == CONSISTENCY else value) for k, value in round_.versions),
    )

    assert any("share" in found.field for found in verify(changed))


async def test_the_default_counts_judges_alike_and_says_what_weights_would_change() -> None:
    round_ = await weighted_round("blind-ranking")

    assert round_.tally
    assert round_.draw
    assert round_.tally.standings == standings(round_.draw.labels.labels, round_.ballots)
    assert weighted_standings(round_) == standings(round_.draw.labels.labels, round_.ballots, HEAVY)
    assert not verify(round_)


@pytest.mark.parametrize(
    "stored",
    [{CLAUDE: 0.6, GPT: 0.4}, {**HEAVY, GPT: 0}, {**HEAVY, GPT: "much"}, {**HEAVY, GPT: None}, [1]],
)
async def test_weights_that_do_not_cover_every_judge_are_not_used(stored: object) -> None:
    round_ = await weighted_round("both-orders", stored)

    assert consistency_weights(round_) is None
    assert weighted_standings(round_) == ()
    assert round_.draw
    assert round_.tally
    assert round_.tally.standings == standings(round_.draw.labels.labels, round_.ballots)


def test_a_round_without_a_ballot_has_no_weighted_result() -> None:
    opened = replace(a_round(), versions=((CONSISTENCY, json.dumps(HEAVY)),))

    assert weighted_standings(opened) == ()
    assert consistency_weights(replace(opened, versions=((CONSISTENCY, "no json"),))) is None


async def test_a_method_that_counts_otherwise_has_no_weighted_result() -> None:
    round_ = await weighted_round("blind-ranking")
    other = replace(BLIND_RANKING, name="other", tally=lambda *given: BLIND_RANKING.tally(*given))

    changed = replace(round_, registry=a_registry(other))
    terms = replace(round_.panel.terms, method="other")

    assert weighted_standings(replace(changed, panel=replace(round_.panel, terms=terms))) == ()


async def test_a_weighted_method_with_a_count_of_its_own_gets_the_weights() -> None:
    given = []

    def note_weights(
        round_: Round,
        draw: Draw,
        ballots: Sequence[Ballot],
        rule: ChanceRule,
        weights: JudgeWeights | None,
    ) -> Tally:
        given.append(weights)
        return BOTH_ORDERS.tally(round_, draw, ballots, rule, weights)

    own_count = replace(BOTH_ORDERS, name="own-count", tally=note_weights)

    await weighted_round("own-count", registry=a_registry(own_count))

    assert given == [HEAVY]
