"""Ballots: what a judge casts, what spoils one, and how a reply is read."""

from council.ballots.ballot import AUDIT_ATTEMPT, Ballot, Paper, Ranking, SpoiledBallot
from council.ballots.casting import cast
from council.ballots.reading import Fault, Reading, read_ballot

__all__ = [
    "AUDIT_ATTEMPT",
    "Ballot",
    "Fault",
    "Paper",
    "Ranking",
    "Reading",
    "SpoiledBallot",
    "cast",
    "read_ballot",
]
