"""Borda points and shares of one ballot."""

from council.ballots import Ranking
from council.labels import Label


def ranks(ranking: Ranking) -> dict[Label, float]:
    """Give each label its rank, 1 for the best; tied labels have their places' average."""
    above = 0
    found: dict[Label, float] = {}
    for place in ranking:
        found |= dict.fromkeys(place, above + (len(place) + 1) / 2)
        above += len(place)
    return found


def borda_points(ranking: Ranking) -> dict[Label, float]:
    """Give each label the number of rivals it beat, m − r: 0 for the last, a tie is half a win."""
    found = ranks(ranking)
    return {label: len(found) - rank for label, rank in found.items()}


def borda_shares(ranking: Ranking) -> dict[Label, float]:
    """Give each label the share of its rivals it beat, (m − r)/(m − 1); a lone label gets none."""
    points = borda_points(ranking)
    rivals = len(points) - 1
    return {label: value / rivals for label, value in points.items()} if rivals else {}
