"""What is kept of a closed round for the measuring of bias: who ranked whom how, and no texts."""

from dataclasses import dataclass

VERSION = 1  # of what votes hold; those of another are made anew


@dataclass(frozen=True, slots=True)
class Vote:
    """A judge's ranking: the authors in the order it saw their answers, and each one's rank.

    Rank 1 is the best; those that tie have the average of their places.
    """

    judge: str
    shown: tuple[str, ...]
    ranks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class AuditVote:
    """An audit ballot by its kind, and what it cost, None where that is not known.

    `vote` is None for one that was spoiled; nobody knows then of which kind it was.
    """

    judge: str
    kind: str
    vote: Vote | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Written:
    """An answer by what is seen of it: its length in tokens, and its style as `traits` counts it.

    The length is an estimate from the text, the same for every model: what providers bill counts
    hidden thinking too, which no judge sees. `is_first` says that it shares the first place.
    """

    author: str
    is_first: bool
    length: int
    style: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes of one round. Makers go with `judges`, of which the first are the `members`.

    `spoiled` counts the spoiled ballots of each judge that was asked for one; audits are no part.
    """

    judges: tuple[str, ...]
    makers: tuple[str, ...]
    members: int
    ballots: tuple[Vote, ...] = ()
    audit: AuditVote | None = None
    spoiled: tuple[tuple[str, int], ...] = ()
    written: tuple[Written, ...] = ()
