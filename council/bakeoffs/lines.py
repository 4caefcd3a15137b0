"""How a member fared as an author over many rounds: a leaderboard's line."""

from dataclasses import dataclass

import numpy as np

from council.bakeoffs.columns import Columns, Floats
from council.bakeoffs.fields import AUTHORED
from council.bakeoffs.intervals import Interval, rate_interval, share_interval
from council.bakeoffs.strengths import Strength


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
