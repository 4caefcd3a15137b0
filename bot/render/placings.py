"""Who put whom where: judges by answers, as one table."""

from dataclasses import dataclass

from bot.render.names import authors_of, names_of
from council.ballots import Ballot
from council.labels import Label, Slate
from council.rounds import Draw, Round

OWN, NONE = "own", "none"


@dataclass(frozen=True, slots=True)
class Placing:
    """Where one judge put one answer: "1", "2=", "own", or "none" without a ballot.

    `height` is how far up that is, from 0 (last) to 4 (first); `slot` is where the judge saw it,
    1 for the first, None where it did not.
    """

    text: str
    height: int | None = None
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Placings:
    """The answers in the order of the standings, and a row of placings for each judge."""

    columns: tuple[tuple[Label, str], ...]
    rows: tuple[tuple[str, tuple[Placing, ...]], ...]


def placings(round_: Round, draw: Draw) -> Placings:
    """Give the whole table of a round."""
    authors, names = authors_of(round_.panel, draw), names_of(round_.panel)
    lines = round_.tally.standings if round_.tally else ()
    labels = [line.label for line in lines] or sorted(draw.labels.labels)
    ballots = {ballot.judge: ballot for ballot in round_.ballots if ballot.counts}
    rows = tuple(
        (names[slate.judge], tuple(_placing(slate, ballots.get(slate.judge), x) for x in labels))
        for slate in draw.slates
    )
    return Placings(tuple((label, authors[label]) for label in labels), rows)


def _placing(slate: Slate, ballot: Ballot | None, label: Label) -> Placing:
    if label not in slate.shown:
        return Placing(OWN)
    slot = slate.shown.index(label) + 1
    if ballot is None:
        return Placing(NONE, slot=slot)
    better = 0
    for place in ballot.ranking:
        if label in place:
            tie = "=" if len(place) > 1 else ""
            below = len(slate.shown) - better - len(place)
            rivals = max(1, len(slate.shown) - 1)
            # Of a tie each has beaten half of the others.
            beaten = (below + (len(place) - 1) / 2) / rivals
            return Placing(f"{better + 1}{tie}", round(4 * beaten), slot)
        better += len(place)
    return Placing(NONE, slot=slot)
