"""Builders of leaderboards by weighted judges."""

from dataclasses import replace

from bot.bakeoffs.render.leaderboard_tables import Leaderboard
from bot.research.weighted_report import weighted_addition
from council.bakeoffs.leaderboard import HumanAgreement
from council.research.weighted_leaderboard import WeightedBoard, WeightedLine
from council.tally.consistency import JudgeWeight, JudgeWeights
from tests.bot.bakeoffs.render.boards.builders import CLAUDE, GPT, QWEN, a_leaderboard

JUDGES = (
    JudgeWeight(CLAUDE, 0.5, 24, 0.91),
    JudgeWeight(GPT, 0.3, 20, 0.8),
    JudgeWeight(QWEN, 0.2, 3),
)


def a_line(member: str, rank: int, uniform_rank: int, change: float = 0.04) -> WeightedLine:
    share = 0.8 - rank / 10
    return WeightedLine(
        member, share, (share - 0.05, share + 0.05), share - change, rank, uniform_rank, 36
    )


TURNED = (a_line(GPT, 1, 2), a_line(CLAUDE, 2, 1, -0.04), a_line(QWEN, 3, 3, 0.0))


def weighed_by(
    name: str = "consistency", rows: tuple[WeightedLine, ...] = TURNED, rounds: int = 36
) -> Leaderboard:
    """Return a leaderboard with one by weighted judges."""
    board = WeightedBoard(JudgeWeights(name, JUDGES, 20, 20), rows, rounds)
    official = a_leaderboard()
    return replace(official, weighted=weighted_addition(official, board))


def lacking(name: str, have: int, need: int = 20) -> Leaderboard:
    board = WeightedBoard(JudgeWeights(name, JUDGES, have, need), (), 36)
    official = a_leaderboard()
    return replace(official, weighted=weighted_addition(official, board))


def beside_people() -> Leaderboard:
    return replace(a_leaderboard(), people={CLAUDE: HumanAgreement(12, 31, 0.21, (-0.04, 0.46))})
