"""Ballots: what a judge casts, what spoils one, and how a reply is read."""

from council.ballots.ballot import Ballot, Paper, Ranking, SpoiledBallot
from council.ballots.casting import cast
from council.ballots.reading import Fault, Reading, read_ballot

__all__ = ["Ballot", "Fault", "Paper", "Ranking", "Reading", "SpoiledBallot", "cast", "read_ballot"]
