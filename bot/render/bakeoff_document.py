"""A bake-off as a JSON document: for programs, and as the baseline of a later one."""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.render.boards import Leaderboard
from bot.render.boards.document import board_document
from council.bakeoffs.models import Progress
from council.money import MICRO

Document = dict[str, Any]


def line_document(progress: Progress) -> Document:
    """Give a bake-off in short; `ended_at` and `failure` are null as long as it is under way."""
    bakeoff = progress.bakeoff
    ending = bakeoff.ending
    cap = bakeoff.cap_micro
    return {
        "id": bakeoff.id,
        "suite": bakeoff.suite.name,
        "version": bakeoff.suite.version,
        "panel": bakeoff.panel.name,
        "begun_at": bakeoff.at.isoformat(),
        "ended_at": ending.at.isoformat() if ending else None,
        "failure": ending.failure if ending else None,
        "questions": progress.questions,
        "over": progress.over,
        "failed": [{"number": one.number, "why": one.why} for one in progress.failed],
        "cost_usd": progress.spent_micro / MICRO,
        "cap_usd": None if cap is None else cap / MICRO,
    }


def bakeoff_document(
    progress: Progress,
    board: Leaderboard,
    shares: Mapping[int, Mapping[str, float]],
    records: Sequence[Document],
) -> Document:
    """Give a bake-off whole: its board, each question's shares by seat key, and its records."""
    bakeoff = progress.bakeoff
    return {
        **line_document(progress),
        **board_document(board),
        "rounds": [
            {
                "number": number,
                "question": question.text,
                "round": bakeoff.round_id(number) if number in shares else None,
                "shares": dict(shares.get(number, {})),
            }
            for number, question in enumerate(bakeoff.suite.questions, start=1)
        ],
        "records": list(records),
    }
