"""Judges that vote at random are hardly ever called biased, on any surface."""

from dataclasses import replace

import pytest

from bot.bakeoffs.render.bias_findings import NO_BIAS_FOUND, bias_lines
from bot.bakeoffs.render.bias_message import bias_post
from bot.bakeoffs.render.bias_tables import brand_lines, make_bias_view, winning_lines
from bot.bakeoffs.render.leaderboard_tables import Coverage, judge_table
from council.bakeoffs.bias.measurement import measure_bias
from council.bakeoffs.leaderboard import JudgeBoard
from tests.bot.bakeoffs.render.boards.builders import a_judge, a_leaderboard
from tests.bot.rounds import words_of
from tests.council.bakeoffs.bias.simulated_blocks import Planted, simulated

ROUNDS = 40
RANDOM = Planted(spread=0, luck=0)


def is_called_biased(seed: int, members: int) -> bool:
    """Return whether any surface says so of a store of random judges; all must agree."""
    report = measure_bias([simulated(ROUNDS, RANDOM, seed, members)])
    bias = make_bias_view(report, Coverage(ROUNDS), {})
    biased = {judge.judge for judge in report.judges if judge.is_position_biased}
    found = [*bias_lines(bias), *brand_lines(bias), *winning_lines(bias)]
    names = tuple(judge.judge for judge in report.judges)
    board = replace(a_leaderboard(), biased=frozenset(biased), names={})
    rows = tuple(replace(a_judge(0), judge=name) for name in names)

    table = judge_table(replace(board, judges=JudgeBoard(rows, ROUNDS)))

    flagged = {row[0] for row in table.rows if any("biased" in cell for cell in row)}
    assert flagged == biased
    assert all(any(name in line for line in found) for name in biased)
    assert (NO_BIAS_FOUND in words_of(bias_post(bias))) or found
    return bool(found)


@pytest.mark.parametrize("members", [3, 5])
def test_random_judges_are_rarely_called_biased(members: int) -> None:
    called = sum(is_called_biased(seed, members) for seed in range(40))

    assert called <= 5  # 2.5 % of them are expected; more than 12 % has a chance of 1 in 1,000


@pytest.mark.nightly
@pytest.mark.parametrize("members", [3, 5])
def test_random_judges_are_called_biased_in_at_most_one_store_of_twenty(members: int) -> None:
    called = sum(is_called_biased(seed, members) for seed in range(400))

    assert called <= 0.05 * 400
