"""How a member fared as an author over many rounds: a leaderboard's line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from council.bakeoffs.intervals import Interval, rate_interval, share_interval
from council.bakeoffs.pairwise import Duel, RunOff, Strength, duels, run_off, strengths
from council.bakeoffs.record_arrays import Columns, Floats
from council.bakeoffs.records import AUTHORED, JUDGED

# --- How a member fared as an author over many rounds: a leaderboard's line.


@dataclass(frozen=True, slots=True)
class AuthorLine:
    """How a member fared as an author over many rounds.

    `share` is its mean Borda share over the `rounds` it was ranked in, `ci` its 95 % interval, 0
    to 1. `place` is 1 + the number of members that are claimed ahead of it, so that places are
    shared where nothing is claimed; None where it was never ranked. `strength` is the share it
    should have against every other member of the board (Bradley-Terry), on boards whose rounds
    had different panels; None elsewhere. `first_votes` of `ballots` put it first, alone.
    Price, seconds, tokens and words are means over its answers, None where none is known;
    `absences` are rounds it was asked in and gave no answer, `named_itself` answers in which its
    names had to be masked. `accuracy` is over `graded` answers.
    """

    member: str
    place: int | None
    share: float | None
    ci: Interval
    rounds: int
    strength: float | None = None
    strength_ci: Interval | None = None
    first_votes: int = 0
    ballots: int = 0
    cost_usd: float | None = None
    seconds: float | None = None
    tokens_out: float | None = None
    words: float | None = None
    answers: int = 0
    absences: int = 0
    refusals: int = 0
    named_itself: int = 0
    accuracy: float | None = None
    accuracy_ci: Interval | None = None
    graded: int = 0


def author_line(columns: Columns, member: int, strength: Strength | None) -> AuthorLine:
    """Give the line of a member, without its place, which is for the board to say."""

    def known(field: str) -> Floats:
        values = columns.authored[:, member, AUTHORED.index(field)].astype(float)
        return known_of(values)

    shares, grades, absences = known("share"), known("correct"), known("absent")
    absent = int(absences.sum())
    return AuthorLine(
        member=columns.members[member],
        place=None,
        share=mean_of(shares),
        ci=share_interval(shares),
        rounds=len(shares),
        strength=strength.share if strength else None,
        strength_ci=strength.ci if strength else None,
        first_votes=int(known("first_votes").sum()),
        ballots=int(known("ballots").sum()),
        cost_usd=mean_of(known("cost_usd")),
        seconds=mean_of(known("seconds")),
        tokens_out=mean_of(known("tokens_out")),
        words=mean_of(known("words")),
        answers=len(absences) - absent,
        absences=absent,
        refusals=int(known("refused").sum()),
        named_itself=int(known("named_itself").sum()),
        accuracy=mean_of(grades),
        accuracy_ci=rate_interval(int(grades.sum()), len(grades)) if len(grades) else None,
        graded=len(grades),
    )


def known_of(values: Floats) -> Floats:
    """Give the values that are known."""
    found: Floats = values[~np.isnan(values)]
    return found


def mean_of(values: Floats) -> float | None:
    """Give the mean, or None of nothing."""
    return float(values.mean()) if len(values) else None


# --- The leaderboard of authors: standings over many rounds, with intervals and honest places.


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


# --- The leaderboard of judges: how members vote, apart from how they write.

MOST_POSITION = 0.06  # a mean share this far from ½, for what is seen first, is a fondness


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """How a seat fared as a judge over the `rounds` in which it was asked for a ballot.

    `agreement` is its mean τ_b with the other judges, −1 to 1. `spoiled_rate` is of all ballots it
    sent that were to count, `spoiled` of `spoiled + valid`. `position` is the mean share it gave
    to whatever it saw first, less ½; `is_position_biased` where that is beyond ±.06 and beyond
    chance. `kept` of `pairs` stood as before when it ranked the same answers again. Everything is
    None where too little is known; `cost_usd` is for one valid ballot, spoiled ones paid for.
    """

    judge: str
    rounds: int
    valid: int
    spoiled: int
    spoiled_rate: float | None
    agreement: float | None
    agreement_ci: Interval | None
    position: float | None
    position_ci: Interval | None
    is_position_biased: bool
    kept: int
    pairs: int
    consistency: float | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class JudgeBoard:
    """Judges, the one that agrees most with the others first; who never voted comes last."""

    rows: tuple[JudgeLine, ...]
    rounds: int


def judge_board(columns: Columns) -> JudgeBoard:
    """Give the leaderboard of these rounds' judges."""
    lines = [_line(columns, i) for i in range(len(columns.judges))]
    lines.sort(key=lambda line: (-_judge_merit(line), line.judge))
    return JudgeBoard(tuple(lines), len(columns.rows))


def _judge_merit(line: JudgeLine) -> float:
    return -2.0 if line.agreement is None else line.agreement


def _line(columns: Columns, judge: int) -> JudgeLine:
    def known(field: str) -> Floats:
        values = columns.judged[:, judge, JUDGED.index(field)].astype(float)
        return known_of(values)

    valid, spoiled = int(known("valid").sum()), int(known("spoiled").sum())
    kept, pairs = int(known("kept").sum()), int(known("pairs").sum())
    costs = known("cost_usd")
    agreement, first_slot = known("tau_b"), known("first_slot")
    agreement_ci = _widened(share_interval((agreement + 1) / 2), 2.0, -1.0)
    position_ci = _widened(share_interval(first_slot), 1.0, -0.5)
    position = mean_of(first_slot - 0.5)
    return JudgeLine(
        judge=columns.judges[judge],
        rounds=len(known("valid")),
        valid=valid,
        spoiled=spoiled,
        spoiled_rate=spoiled / (valid + spoiled) if valid + spoiled else None,
        agreement=mean_of(agreement),
        agreement_ci=agreement_ci if len(agreement) else None,
        position=position,
        position_ci=position_ci if len(first_slot) else None,
        is_position_biased=_is_biased(position, position_ci),
        kept=kept,
        pairs=pairs,
        consistency=kept / pairs if pairs else None,
        cost_usd=float(costs.sum()) / valid if valid and len(costs) else None,
    )


def _widened(interval: Interval, factor: float, moved: float) -> Interval:
    low, high = interval
    return low * factor + moved, high * factor + moved


def _is_biased(position: float | None, interval: Interval) -> bool:
    """Say whether a mean is beyond the limit, and its interval leaves 0 out."""
    low, high = interval
    return position is not None and abs(position) > MOST_POSITION and not low <= 0 <= high
