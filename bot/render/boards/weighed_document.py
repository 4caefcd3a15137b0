"""A leaderboard by weighed judges, for programs."""

from collections.abc import Mapping
from typing import Any

from council.research.judge_weights import JudgeWeight
from council.research.weighted_leaderboard import WeightedBoard, WeightedLine

Document = dict[str, Any]
Names = Mapping[str, str]


def weighted_document(board: WeightedBoard, names: Names) -> Document:
    """Give the board; its rows are empty where there is too little to weigh by."""
    return {
        "weights": board.weighing.name,
        "is_usable": board.weighing.is_usable,
        "have": board.weighing.have,
        "need": board.weighing.need,
        "rounds": board.rounds,
        "rows": [_row(line, names) for line in board.rows],
        "moved": [line.member for line in board.moved],
        "judges": [_judge(line, names) for line in board.weighing.judges],
    }


def _row(line: WeightedLine, names: Names) -> Document:
    return {
        "member": line.member,
        "name": names.get(line.member, line.member),
        "rank": line.rank,
        "share": line.share,
        "ci": [*line.ci],
        "uniform_rank": line.uniform_rank,
        "uniform_share": line.uniform,
        "change": line.change,
        "rounds": line.rounds,
    }


def _judge(line: JudgeWeight, names: Names) -> Document:
    return {
        "judge": line.judge,
        "name": names.get(line.judge, line.judge),
        "weight": line.weight,
        "basis": line.basis,
        "n": line.n,
    }
