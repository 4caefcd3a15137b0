"""The leaderboard of authors: standings over many rounds, with intervals and honest places."""

from dataclasses import dataclass
from datetime import datetime

from council.bakeoffs.columns import Columns
from council.bakeoffs.duels import Duel, RunOff
from council.bakeoffs.intervals import Interval


@dataclass(frozen=True, slots=True)
class AuthorLine:
    """How a member fared as an author over many rounds.

    `share` is its mean Borda share over the `rounds` it was ranked in, `ci` its 95 % interval, 0
    to 1. `place` is 1 + the number of members that are claimed ahead of it, so that places are
    shared where nothing is claimed; None where it was never ranked. `strength` is the share it
    should have against every other member of the board (Bradley-Terry), on boards whose rounds
    had different panels; None elsewhere. `first_votes` of `ballots` put it first, alone.
    Price, seconds, tokens and words are means over its answers, None where none is known;
    `absences` are rounds it was asked in and gave no answer. `accuracy` is over `graded` answers.
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
    accuracy: float | None = None
    accuracy_ci: Interval | None = None
    graded: int = 0


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
    raise NotImplementedError
