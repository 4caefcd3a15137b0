"""A bake-off as a comment on a pull request: Markdown of at most 60 lines, the answer first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bot.bakeoffs.render.bakeoffs import bakeoff_title, escape_markdown
from bot.bakeoffs.render.headline import headline, missing_lines
from bot.bakeoffs.render.leaderboard import short_table
from bot.bakeoffs.render.leaderboard_tables import Leaderboard
from bot.bakeoffs.render.leaderboard_text import few_change_lines
from bot.bakeoffs.render.matrix import grade_text, winner_text
from bot.chat import Heading, Line, Part, Post, Table, Thread
from bot.render.formatting import count_noun, join_words, spending_text
from bot.render.markdown import thread_markdown
from bot.render.text_safety import shorten_to_line
from council.bakeoffs.changes import Changes
from council.bakeoffs.matrix import MatrixRow, RunMatrix
from council.bakeoffs.models import BakeoffProgress

MAX_LINES = 60
_MAX_MODELS, _MAX_QUESTIONS, _MAX_TEXT = 8, 20, 80


def pull_request_comment(
    progress: BakeoffProgress,
    board: Leaderboard,
    run: RunMatrix,
    changes: Changes | None,
    member: str = "",
) -> str:
    """Return the comment; `run` is compared with the baseline if there is one.

    A fall counts only for `member`, or for everybody if it is "".
    """
    title = bakeoff_title(progress.bakeoff)
    if changes is not None:
        title += f": {'' if changes.worse(member) else 'no '}worse than the baseline"
    lines = [*missing_lines(replace(board, changes=changes)), headline(board)]
    if progress.failed:
        lines.insert(0, f"{len(progress.failed)} of {progress.questions} questions failed.")
    lines += few_change_lines(changes, board.names) if changes else []
    parts: list[Part] = [Heading(title), *(Line(escape_markdown(x)) for x in lines if x)]
    if board.board.rows:
        parts.append(short_table(board, _MAX_MODELS))
    said, facts = "", Line(_facts_line(progress, run))
    for most in range(_MAX_QUESTIONS, 0, -1):
        said = thread_markdown(
            Thread(Post((*parts, *_changed_parts(run, board.names, most), facts)))
        )
        if len(said.splitlines()) <= MAX_LINES:
            break
    return said


def _changed_parts(run: RunMatrix, names: Mapping[str, str], most: int) -> Iterator[Part]:
    if run.earlier is None:
        return
    changed = [(row, past) for row, past in run.pairs if row.number in run.changed]
    of = count_noun(len(run.pairs), "question")
    if not changed:
        yield Line(f"No result changed in {of}.")
        return
    yield Line(f"**{count_noun(len(changed), 'result')} changed of {of}**")
    rows = [
        (str(row.number), _question_text(row), _change_text(row, past, names))
        for row, past in changed[:most]
    ]
    yield Table(("", "Question", "Changed"), tuple(rows), frozenset({0}))
    if (rest := len(changed) - most) > 0:
        yield Line(f"And {rest} more.")


def _question_text(row: MatrixRow) -> str:
    return escape_markdown(shorten_to_line(row.question.text, _MAX_TEXT))


def _change_text(row: MatrixRow, past: MatrixRow, names: Mapping[str, str]) -> str:
    """Return what changed on a question: "GPT-5.1 ✓ → ✗", else the winner."""
    if row.failure or past.failure:
        return "failed now" if row.failure else "failed before"
    grades = [("Council", past.council_grade, row.council_grade)]
    for key, cell in row.cells.items():
        before = past.cells.get(key)
        was = past.grade_of(before) if before else None
        grades.append((names.get(key, key), was, row.grade_of(cell)))
    turned = [
        f"{escape_markdown(name)} {grade_text(was)} → {grade_text(now)}"
        for name, was, now in grades
        if None not in {was, now} and was is not now
    ]
    winners = [winner_text(one, names) or "none" for one in (past, row)]
    return join_words(turned) or f"first: {escape_markdown(' → '.join(winners))}"


def _facts_line(progress: BakeoffProgress, run: RunMatrix) -> str:
    bakeoff = progress.bakeoff
    facts: Sequence[str] = (
        f"{progress.over} of {count_noun(progress.questions, 'question')}",
        spending_text(progress.spending, bakeoff.cap_micro),
        f"bake-off `{bakeoff.id}`",
        f"baseline of {run.against.at:%Y-%m-%d}" if run.against else "no baseline",
    )
    return " · ".join(facts)
