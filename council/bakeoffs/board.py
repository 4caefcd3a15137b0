"""The leaderboard of authors: standings over many rounds, with intervals and honest places."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from council.bakeoffs.columns import Columns
from council.bakeoffs.duels import Duel, RunOff, duels, run_off
from council.bakeoffs.lines import AuthorLine, author_line
from council.bakeoffs.strengths import strengths

__all__ = ["AuthorLine", "Board", "Duel", "RunOff", "leaderboard"]


@dataclass(frozen=True, slots=True)
class Board:
    """Members best first: by place, within a place by share, the top two by their run-off.

    Where rounds had different panels (`is_mixed`), strength takes the share's part in the order.
    `duels` holds every pair of members that met; `suites` names each suite and its version that
    the rounds are of, ("", "") for questions that people asked.
    """

    rows: tuple[AuthorLine, ...]
    run_off: RunOff | None
    duels: tuple[Duel, ...]
    rounds: int
    is_mixed: bool = False
    since: datetime | None = None
    until: datetime | None = None
    suites: tuple[tuple[str, str], ...] = ()
    panels: tuple[str, ...] = ()

    @property
    def claims(self) -> tuple[Duel, ...]:
        """The duels that are decided: one member is ahead of the other, beyond chance."""
        return tuple(duel for duel in self.duels if duel.ahead)


def leaderboard(columns: Columns) -> Board:
    """Give the leaderboard of these rounds; without any, one without rows."""
    fought = tuple(duels(columns))
    is_mixed = len({frozenset(block.members) for block in columns.blocks}) > 1
    merits = strengths(columns) if is_mixed else {}
    lines = [author_line(columns, i, merits.get(m)) for i, m in enumerate(columns.members)]
    lines.sort(key=lambda line: (-_merit(line), line.member))
    decided = _top_two(lines, fought)
    if decided and decided.changed:
        lines[0], lines[1] = lines[1], lines[0]
    placed = [replace(line, place=_place(line, fought)) for line in lines]
    placed.sort(key=lambda line: (line.place is None, line.place or 0))
    return Board(
        rows=tuple(placed),
        run_off=decided,
        duels=fought,
        rounds=len(columns.rows),
        is_mixed=is_mixed,
        since=columns.rows[0].asked_at if columns.rows else None,
        until=columns.rows[-1].asked_at if columns.rows else None,
        suites=tuple(dict.fromkeys((row.suite, row.suite_version) for row in columns.rows)),
        panels=tuple(dict.fromkeys(row.panel for row in columns.rows)),
    )


def _merit(line: AuthorLine) -> float:
    if line.share is None:
        return -1.0
    return line.share if line.strength is None else line.strength


def _top_two(lines: Sequence[AuthorLine], fought: Sequence[Duel]) -> RunOff | None:
    """Give the run-off of the first two lines, or None if no judge saw both."""
    first_two = [line.member for line in lines[:2]]
    duel = next((duel for duel in fought if {duel.first, duel.second} == {*first_two}), None)
    return run_off(duel, first_two[0]) if duel else None


def _place(line: AuthorLine, fought: Sequence[Duel]) -> int | None:
    """Give 1 + the number of members claimed ahead; None for one that was never ranked."""
    if line.share is None:
        return None
    own = [duel for duel in fought if duel.ahead and line.member in {duel.first, duel.second}]
    return 1 + sum(duel.ahead != line.member for duel in own)
