"""Borda count: points and shares of one ballot, pair form over all ballots, standings."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from statistics import fmean

from council.ballots import Ballot, Ranking, rank_by_grades
from council.labels import Label

TOLERANCE = 1e-9  # shares this close are equal
_TIE = 0.5

PairMatrix = Mapping[tuple[Label, Label], float]
JudgeWeights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Standing:
    """One candidate's line in the standings; equal shares have the same place.

    `share` is the pair form, 0 to 1, None if no judge ranked the candidate. `points` are plain
    Borda points, `max_points` their possible maximum.
    """

    label: Label
    place: int
    share: float | None
    points: float
    max_points: int
    first_votes: int
    mean_rank: float | None


def standings(
    labels: Iterable[Label], ballots: Sequence[Ballot], weights: JudgeWeights | None = None
) -> tuple[Standing, ...]:
    """Return the candidates, best first; audit ballots and slates of one answer do not count.

    `weights` of judges, of any sum, change shares and places, never points.
    """
    counted = counted_ballots(ballots)
    matrix, merged = pair_matrix(counted, weights), merge_passes(counted)
    places = [ranks(ballot.ranking) for ballot in counted]
    seen = list(zip(places, _weights(counted), strict=True))
    lines = [_line(label, seen, merged, pair_share(label, matrix)) for label in labels]
    lines.sort(key=lambda line: -_sort_key(line))
    return tuple(
        replace(
            line, place=1 + sum(_sort_key(other) > _sort_key(line) + TOLERANCE for other in lines)
        )
        for line in lines
    )


def counted_ballots(ballots: Sequence[Ballot]) -> tuple[Ballot, ...]:
    """Return the ballots to count: no audit ballots, and at least two answers on the slate."""
    return tuple(ballot for ballot in ballots if ballot.counts and len(ballot.shown) > 1)


def is_sole_first(ballot: Ballot, label: Label) -> bool:
    """Return whether the ballot puts the label first without a tie."""
    return ballot.ranking[0] == (label,)


def merge_passes(ballots: Sequence[Ballot]) -> tuple[Ballot, ...]:
    """Return one ballot for each judge, and for each set of answers if it saw several.

    Several passes over the same answers rank by their mean share, equals tie.
    """
    if all(ballot.pass_number == 1 for ballot in ballots):
        return tuple(ballots)
    by_answers: dict[tuple[str, frozenset[Label]], list[Ballot]] = {}
    for ballot in ballots:
        by_answers.setdefault((ballot.judge, frozenset(ballot.shown)), []).append(ballot)
    return tuple(
        cast[0] if len(cast) == 1 else replace(cast[0], ranking=_mean_ranking(cast))
        for cast in by_answers.values()
    )


def _mean_ranking(ballots: Sequence[Ballot]) -> Ranking:
    """Return the ranking by the mean share over ballots on the same answers."""
    shares = [borda_shares(ballot.ranking) for ballot in ballots]
    return rank_by_grades([(x, fmean(share[x] for share in shares)) for x in ballots[0].shown])


def _weights(ballots: Sequence[Ballot], judges: JudgeWeights | None = None) -> list[float]:
    """Return the weight of each ballot: all passes of a judge weigh as much as one ballot."""
    own = [judges[ballot.judge] if judges else 1.0 for ballot in ballots]
    if all(ballot.pass_number == 1 for ballot in ballots):
        return own
    cast = Counter(ballot.judge for ballot in ballots)
    return [weight / cast[ballot.judge] for weight, ballot in zip(own, ballots, strict=True)]


def _line(
    label: Label,
    ballots: Sequence[tuple[Mapping[Label, float], float]],
    merged: Sequence[Ballot],
    share: float | None,
) -> Standing:
    """Return the line of a label, from the ranks and the weight of each ballot."""
    seen = [(places, weight) for places, weight in ballots if label in places]
    judges = [ballot for ballot in merged if label in ballot.shown]
    weighted = [weight * places[label] for places, weight in seen]
    return Standing(
        label=label,
        place=0,
        share=share,
        points=round(sum(weight * (len(places) - places[label]) for places, weight in seen), 9),
        max_points=sum(len(ballot.shown) - 1 for ballot in judges),
        first_votes=sum(is_sole_first(ballot, label) for ballot in judges),
        mean_rank=sum(weighted) / len(judges) if judges else None,
    )


def _sort_key(line: Standing) -> float:
    return -1.0 if line.share is None else line.share


def ranks(ranking: Ranking) -> dict[Label, float]:
    """Return the rank of each label, 1 for the best; tied labels share the mean rank."""
    above = 0
    positions: dict[Label, float] = {}
    for place in ranking:
        positions |= dict.fromkeys(place, above + (len(place) + 1) / 2)
        above += len(place)
    return positions


def borda_points(ranking: Ranking) -> dict[Label, float]:
    """Return for each label the number of rivals it beat, m − r; a tie counts half."""
    positions = ranks(ranking)
    return {label: len(positions) - rank for label, rank in positions.items()}


def borda_shares(ranking: Ranking) -> dict[Label, float]:
    """Return for each label the share of rivals it beat, (m − r)/(m − 1); empty for one label."""
    points = borda_points(ranking)
    rivals = len(points) - 1
    return {label: value / rivals for label, value in points.items()} if rivals else {}


def pair_matrix(
    ballots: Sequence[Ballot], weights: JudgeWeights | None = None, tie: float = _TIE
) -> PairMatrix:
    """Return, for each pair that judges saw, the share of them that ranked the first higher.

    A `tie` counts half unless it says otherwise; pairs that no judge saw are left out. With
    `weights` above 0, it is the share of the weight of the judges who saw the pair.
    """
    wins: dict[tuple[Label, Label], float] = {}
    seen: dict[tuple[Label, Label], float] = {}
    for ballot, weight in zip(ballots, _weights(ballots, weights), strict=True):
        place = ranks(ballot.ranking)
        for pair in permutations(place, 2):
            first, second = pair
            won = tie if place[first] == place[second] else float(place[first] < place[second])
            wins[pair] = wins.get(pair, 0.0) + weight * won
            seen[pair] = seen.get(pair, 0.0) + weight
    return {pair: wins[pair] / seen[pair] for pair in wins}


def pair_share(label: Label, matrix: PairMatrix) -> float | None:
    """Return the mean of the label's pair shares, 0 to 1; None if no judge ranked it."""
    shares = [share for (first, _), share in matrix.items() if first == label]
    return sum(shares) / len(shares) if shares else None
