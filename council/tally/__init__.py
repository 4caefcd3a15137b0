"""Count ballots: standings, pair form, agreement and the strength of a verdict.

Pure: ballots in, numbers out. Knows no gateway, no store and no clock.
"""

from council.tally.standings import Standing, standings
from council.tally.verdict import Strength, Tally, Verdict, count_ballots

__all__ = ["Standing", "Strength", "Tally", "Verdict", "count_ballots", "standings"]
