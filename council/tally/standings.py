"""Standings: one line for each candidate of a round."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from council.ballots import Ballot
from council.labels import Label
from council.tally.borda import borda_points, ranks
from council.tally.pairs import pair_matrix, pair_share

TOLERANCE = 1e-9  # shares this close are equal


@dataclass(frozen=True, slots=True)
class Standing:
    """How one candidate fared.

    `share` is the pair form, 0 to 1, None where nobody ranked the candidate; points are plain
    Borda with their possible maximum. Equal shares share a place.
    """

    label: Label
    place: int
    share: float | None
    points: float
    max_points: int
    first_votes: int
    mean_rank: float | None


def standings(labels: Iterable[Label], ballots: Sequence[Ballot]) -> tuple[Standing, ...]:
    """Give the candidates best first; ballots that say nothing or only audit are left out."""
    counted = informative(ballots)
    matrix = pair_matrix(counted)
    lines = [_line(label, counted, pair_share(label, matrix)) for label in labels]
    lines.sort(key=lambda line: -_worth(line))
    return tuple(
        replace(line, place=1 + sum(_worth(other) > _worth(line) + TOLERANCE for other in lines))
        for line in lines
    )


def informative(ballots: Sequence[Ballot]) -> tuple[Ballot, ...]:
    """Give the ballots that are counted: cast to be counted, over two answers or more."""
    return tuple(ballot for ballot in ballots if ballot.counts and len(ballot.shown) > 1)


def first_alone(ballot: Ballot, label: Label) -> bool:
    """Say whether the ballot puts the label first, with none beside it."""
    return ballot.ranking[0] == (label,)


def _line(label: Label, ballots: Sequence[Ballot], share: float | None) -> Standing:
    seen = [ballot for ballot in ballots if label in ballot.shown]
    places = [ranks(ballot.ranking)[label] for ballot in seen]
    return Standing(
        label=label,
        place=0,
        share=share,
        points=sum(borda_points(ballot.ranking)[label] for ballot in seen),
        max_points=sum(len(ballot.shown) - 1 for ballot in seen),
        first_votes=sum(first_alone(ballot, label) for ballot in seen),
        mean_rank=sum(places) / len(places) if places else None,
    )


def _worth(line: Standing) -> float:
    return -1.0 if line.share is None else line.share
