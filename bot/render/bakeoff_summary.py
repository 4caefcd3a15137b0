"""A bake-off against a baseline, as Markdown for whoever reads a check's result."""

from collections.abc import Callable, Iterator, Mapping
from math import isfinite

from bot.render.bakeoffs import failed_line, spent_line, title_of
from bot.render.boards import Leaderboard
from bot.render.boards.chart import percent
from bot.render.boards.news import QUIET, compared, news_lines
from council.bakeoffs.changes import Changes, Measure, Move
from council.bakeoffs.intervals import Interval
from council.bakeoffs.models import Progress

Names = Mapping[str, str]
HEAD = "| Member | Measure | Before | Now | Difference (95 %) | Beyond noise |"
RULE = "| --- | --- | ---: | ---: | ---: | --- |"


def summary_markdown(
    progress: Progress, board: Leaderboard, changes: Changes | None, member: str = ""
) -> str:
    """Give the summary; `member` is the only one whose fall counts, "" where everybody's does."""
    return "\n".join([*_lines(progress, board, changes, member), ""])


def _lines(
    progress: Progress, board: Leaderboard, changes: Changes | None, member: str
) -> Iterator[str]:
    yield f"## {title_of(progress.bakeoff)}{_verdict(changes, member)}"
    yield ""
    ending = progress.bakeoff.ending
    if ending and ending.failure:
        yield f"**It ended early.** {escaped(ending.failure)}"
        yield ""
    if progress.failed:
        yield escaped(failed_line(progress))
        yield ""
    yield from _board(board)
    if changes:
        yield from _compared(changes, board.names)
    yield f"{progress.over} of {progress.questions} questions · {spent_line(progress)} · " + (
        f"suite version {progress.bakeoff.suite.version} · bake-off `{progress.bakeoff.id}`"
    )


def _verdict(changes: Changes | None, member: str) -> str:
    if changes is None:
        return ""
    return ": worse than the baseline" if changes.worse(member) else ": no worse than the baseline"


def _board(board: Leaderboard) -> Iterator[str]:
    if not board.board.rows:
        return
    yield "| Place | Member | Share | 95 % | Rounds |"
    yield "| ---: | --- | ---: | ---: | ---: |"
    for line in board.board.rows:
        share = "unknown" if line.share is None else percent(line.share)
        interval = between(line.ci, percent)
        name = escaped(board.name(line.member))
        yield f"| {line.place or ''} | {name} | {share} | {interval} | {line.rounds} |"
    yield ""


def _compared(changes: Changes, names: Names) -> Iterator[str]:
    for line in [*news_lines(changes, names)] or [QUIET]:
        yield f"- {escaped(line)}"
    yield ""
    if changes.moves:
        yield HEAD
        yield RULE
        yield from (_row(move, names) for move in changes.moves)
        yield ""
    yield escaped(compared(changes))
    yield ""


def _row(move: Move, names: Names) -> str:
    measure = "rivals beaten" if move.measure is Measure.SHARE else "right"
    ends = between(move.ci, _points)
    cells = (
        escaped(names.get(move.member, move.member)),
        measure,
        percent(move.before),
        percent(move.now),
        f"{_points(move.difference)} {f'({ends})' if ends else ''}".strip(),
        "yes" if move.is_beyond_noise else "no",
    )
    return f"| {' | '.join(cells)} |"


def between(ends: Interval, told: Callable[[float], str]) -> str:
    """Give an interval in words; nothing where it is not known."""
    low, high = ends
    return f"{told(low)} to {told(high)}" if isfinite(low) and isfinite(high) else ""


def _points(share: float) -> str:
    return f"{share * 100:+.0f}"


def escaped(text: str) -> str:
    """Give text that Markdown shows as it stands, in one line."""
    line = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in line)
