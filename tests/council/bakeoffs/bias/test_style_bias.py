"""A judge's preference for long and formatted answers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from council.bakeoffs.bias.report import Effect, Trait
from council.bakeoffs.bias.style_bias import MAX_BALLOTS, RIDGE, style_preferences, winning_traits
from council.bakeoffs.bias.vote_arrays import Block
from council.bakeoffs.bias.votes import STYLE, Votes, WrittenAnswer
from council.bakeoffs.record_arrays import Floats
from tests.council.bakeoffs.bias.simulated_blocks import Planted, simulated
from tests.council.bakeoffs.bias.vote_builders import PLAIN, a_vote, blocks_of, votes

FOND = Planted(length=0.8, bold=0.8)


def test_only_the_planted_preferences_for_length_and_bold_are_found() -> None:
    found = style_preferences([simulated(400, FOND, seed=1)])

    for judge in found.values():
        assert _excludes_none(judge.length)
        assert _excludes_none(judge.style["bold"])
        assert judge.length.unit == "ballots"
    others = [judge.style[trait] for judge in found.values() for trait in ("lists", "code")]
    assert sum(map(_excludes_none, others)) <= 2


def _excludes_none(effect: Effect) -> bool:
    assert effect.interval
    low, high = effect.interval
    return not low <= 0 <= high


def test_the_fit_is_the_ridged_maximum_of_the_likelihood() -> None:
    block = simulated(80, FOND, seed=2)

    found = style_preferences([block])["a"]

    values = _oracle(block)
    assert found.length.value == pytest.approx(values[5], abs=1e-4)
    expected = dict(zip(STYLE, values[6:], strict=True))
    assert {name: e.value for name, e in found.style.items()} == pytest.approx(expected, abs=1e-4)


def _oracle(block: Block) -> list[float]:
    """Maximise the same likelihood another way, ballot by ballot."""
    gaps = block.lengths[:, :, None].astype(float) - block.lengths[:, None, :]
    one, other = np.triu_indices(5, 1)
    spread = np.sqrt((gaps[:, one, other] ** 2).mean())
    rows, won = [], []
    for nth, ranks in enumerate(block.doubled[:, 0].astype(float)):
        for x, y in zip(one, other, strict=True):
            if ranks[x] and ranks[y]:
                author = np.eye(5)[x] - np.eye(5)[y]
                style = (block.style[nth, x] > 0).astype(float) - (block.style[nth, y] > 0)
                rows.append([*author, np.tanh(gaps[nth, x, y] / spread), *style])
                won.append((1 + np.sign(ranks[y] - ranks[x])) / 2)
    features, wins = np.array(rows), np.array(won)

    def loss(values: Floats) -> float:
        odds = features @ values
        return float((np.logaddexp(0, odds) - wins * odds).sum() + RIDGE / 2 * (values**2).sum())

    return list(minimize(loss, np.zeros(10), method="BFGS").x)


def _alike(block: Block) -> Block:
    return replace(block, lengths=np.full_like(block.lengths, 100), style=block.style * 0)


def test_answers_of_the_same_length_and_style_give_no_effect() -> None:
    found = style_preferences([_alike(simulated(60, FOND, seed=3))])["a"]

    assert found.length == Effect(60, "ballots")
    assert set(found.style.values()) == {Effect(60, "ballots")}


def test_a_rare_trait_is_left_out_without_affecting_the_others() -> None:
    block = simulated(60, FOND, seed=4)
    style = block.style.copy()
    style[2:, :, 3] = 0

    found = style_preferences([replace(block, style=style)])["a"]

    assert found.style["code"].value is None
    assert found.style["bold"].value is not None
    assert found.length.value is not None


@pytest.mark.parametrize("rounds", [1, 2, 10])
def test_too_few_ballots_give_no_effect(rounds: int) -> None:
    found = style_preferences([simulated(rounds, FOND, seed=5)])["a"]

    assert found.length == Effect(rounds, "ballots")


def _longer_first(nth: int) -> Votes:
    """Return a round in which the longer answer wins, whoever wrote it."""
    first, second = "bc" if nth % 2 else "cb"
    written = (
        WrittenAnswer(first, True, 200 + nth, PLAIN),
        WrittenAnswer(second, False, 20, PLAIN),
    )
    return votes(a_vote("a", f"{first} {second}"), written=written)


def test_a_judge_that_always_ranks_the_longer_first_has_a_finite_preference() -> None:
    found = style_preferences(blocks_of(*map(_longer_first, range(40))))["a"].length

    assert found.value
    assert 1 < found.value < 20
    assert found.interval
    assert found.interval[0] > 0


def test_answers_of_unknown_length_weigh_nothing() -> None:
    block = simulated(60, FOND, seed=6)
    unknown = replace(block, lengths=np.full_like(block.lengths, np.nan))

    assert style_preferences([unknown])["a"].length == Effect(60, "ballots")


def test_very_many_ballots_are_sampled_evenly() -> None:
    found = style_preferences([simulated(MAX_BALLOTS + 2, FOND, seed=7)])["a"].length

    assert found.n == MAX_BALLOTS // 2 + 1


def _round(*written: WrittenAnswer) -> Votes:
    return votes(a_vote("a", "b c d"), written=written)


def _traits(*rounds: Votes) -> dict[str, Trait]:
    return {trait.name: trait for trait in winning_traits(blocks_of(*rounds))}


def _long(length: int) -> Votes:
    return _round(
        WrittenAnswer("a", True, length, (0, 0, 2, 0)),
        WrittenAnswer("b", False, 100, PLAIN),
        WrittenAnswer("c", False, 60, (0, 0, 1, 0)),
    )


def test_winners_are_compared_with_the_mean_of_the_rest() -> None:
    found = _traits(_long(100), _long(120), _long(140))

    assert found["length"].winners == pytest.approx(120)
    assert found["length"].rest == pytest.approx(80)
    # 20, 40 and 60: a mean of 40, and t = 40 / (20/√3).
    assert found["length"].difference.value == pytest.approx(40)
    assert (found["length"].difference.n, found["length"].difference.unit) == (3, "rounds")
    assert found["bold"].winners == 1.0
    assert found["bold"].rest == 0.5
    assert found["lists"].difference.value == 0.0
    assert [*found] == ["length", "lists", "headings", "bold", "code"]


def test_winners_that_share_the_first_place_count_by_their_mean() -> None:
    tied = _round(
        WrittenAnswer("a", True, 100, PLAIN),
        WrittenAnswer("b", True, 300, PLAIN),
        WrittenAnswer("c", False, 50, PLAIN),
    )

    assert _traits(tied, tied, tied)["length"].winners == 200


def test_rounds_in_which_all_or_none_won_are_left_out() -> None:
    every = _round(WrittenAnswer("a", True, 100, PLAIN), WrittenAnswer("b", True, 300, PLAIN))
    none = _round(WrittenAnswer("a", False, 100, PLAIN), WrittenAnswer("b", False, 300, PLAIN))

    found = _traits(every, none, every)["length"]

    assert (found.winners, found.rest, found.difference.n) == (None, None, 0)


def test_no_rounds_give_no_traits() -> None:
    assert {trait.difference.n for trait in winning_traits(())} == {0}
