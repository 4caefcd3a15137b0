"""Tally of ballots: Borda standings in pair form, agreement of judges, strength of the verdict."""

from council.tally.borda import Standing, standings
from council.tally.flags import Flag, FlagKind
from council.tally.verdict import Strength, Tally, Verdict, count_ballots

__all__ = [
    "Flag",
    "FlagKind",
    "Standing",
    "Strength",
    "Tally",
    "Verdict",
    "count_ballots",
    "standings",
]
