"""The worked examples of the method, and ballots of a full panel."""

from collections.abc import Sequence

from council.ballots import Ballot
from council.tally import Standing
from tests.builders import a_ballot

E1 = (
    a_ballot("B C D", by="A"),
    a_ballot("A C=D", by="B"),
    a_ballot("A B=D", by="C"),  # ranks A alone; the rest share the last places
    a_ballot("B A C", by="D"),
)


def full_panel(*rankings: str) -> tuple[Ballot, ...]:
    """Return a ballot of each member A, B, C…, none of which sees its own answer."""
    return tuple(
        a_ballot(text, by=judge) for judge, text in zip("ABCDEFGH", rankings, strict=False)
    )


def without_own(order: str, members: str) -> tuple[Ballot, ...]:
    """Return the ballots of members that agree on one order, each without its own label."""
    held = order.split()
    return tuple(
        a_ballot(" ".join(label for label in held if label != judge), by=judge)
        for judge in members.split()
    )


def shares(lines: Sequence[Standing]) -> dict[str, float | None]:
    return {str(line.label): line.share for line in lines}


def places(lines: Sequence[Standing]) -> dict[str, int]:
    return {str(line.label): line.place for line in lines}
