"""An experiment's marks in the columns of the thesis' own file, a line of JSON each."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator

from council.research.experiment import (
    Cell,
    Experiment,
    Held,
    Mark,
    grade_of,
    is_settled,
    last_marks,
)


def lines_of(experiment: Experiment, held: Held) -> Iterator[str]:
    """Give a line for each grade that was given or given up on, in the suite's order.

    `score` and `thesis_score` are both our one, strict reading, 5 being best; `raw` is the grade
    as it was written, `parse` "strict" or "fail", tokens are those of both attempts.
    """
    attempts: dict[Cell, list[Mark]] = defaultdict(list)
    for mark in held.marks:
        attempts[mark.cell].append(mark)
    settled = [mark for mark in last_marks(held).values() if is_settled(mark)]
    for mark in sorted(settled, key=_place):
        yield json.dumps(_row(experiment, mark, attempts[mark.cell]), ensure_ascii=False)


def _place(mark: Mark) -> tuple[int, str, str, str]:
    cell = mark.cell
    return cell.number, cell.framing.value, cell.author, cell.judge


def _row(experiment: Experiment, mark: Mark, attempts: Iterable[Mark]) -> dict[str, object]:
    grade = grade_of(experiment, mark)
    score = None if grade.score is None else int(grade.score)
    replies = [attempt.reply for attempt in attempts]
    return {
        "article_id": grade.item,
        "framing": grade.framing.value,
        "judge": grade.judge,
        "author": grade.author,
        "score": score,
        "raw": mark.raw,
        "thesis_score": score,
        "parse": "fail" if mark.raw is None else "strict",
        "tokens_in": _total(reply.tokens_in for reply in replies),
        "tokens_out": _total(reply.tokens_out for reply in replies),
    }


def _total(counts: Iterable[int | None]) -> int | None:
    """Give the sum; one unknown makes it unknown."""
    known = [*counts]
    return None if None in known else sum(count or 0 for count in known)
