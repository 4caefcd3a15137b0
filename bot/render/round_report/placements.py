"""Placements: the table of judges by answers, as text and as heights of a chart."""

from dataclasses import dataclass

from bot.render.formatting import author_names
from bot.render.round_report.rankings import slates_to_read, voter_title
from bot.render.round_report.results import ordered_labels
from council.ballots import Ballot
from council.labels import Label, Slate
from council.rounds import Draw, Round
from council.tally.borda import ranks

OWN_TEXT, NO_BALLOT_TEXT = "own", "none"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one judge put one answer: "1", "2=", "own", or "none" without a ballot.

    `height` is its position from 0 (last) to 4 (first); `slot` is where the judge saw it, from 1
    on, None if it did not.
    """

    text: str
    height: int | None = None
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class PlacementTable:
    """The answers in the order of the standings, and a row of placements for each judge."""

    columns: tuple[tuple[Label, str], ...]
    rows: tuple[tuple[str, tuple[Placement, ...]], ...]


def placement_table(round_: Round, draw: Draw) -> PlacementTable:
    """Return the table of judges by answers."""
    authors = author_names(round_.panel, draw)
    labels = ordered_labels(round_, draw)
    ballots = {ballot.voter: ballot for ballot in round_.ballots if ballot.counts}
    rows = tuple(
        (
            voter_title(round_, slate),
            tuple(_place_answer(slate, ballots.get(slate.voter), x) for x in labels),
        )
        for slate in slates_to_read(round_, draw)
    )
    return PlacementTable(tuple((label, authors[label]) for label in labels), rows)


def _place_answer(slate: Slate, ballot: Ballot | None, label: Label) -> Placement:
    if label not in slate.shown:
        return Placement(OWN_TEXT)
    slot = slate.shown.index(label) + 1
    rank = ranks(ballot.ranking).get(label) if ballot else None
    if ballot is None or rank is None:
        return Placement(NO_BALLOT_TEXT, slot=slot)
    tied = next(len(place) for place in ballot.ranking if label in place)
    # The mean rank of a tie: in it each answer has beaten half of the others.
    beaten = (len(slate.shown) - rank) / max(1, len(slate.shown) - 1)
    first = round(rank - (tied - 1) / 2)
    return Placement(f"{first}{'=' if tied > 1 else ''}", round(4 * beaten), slot)
