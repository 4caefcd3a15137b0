"""The worked examples of the method, and what a full panel is."""

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
    """Give one ballot of each of the members A, B, C…, none of whom sees its own answer."""
    return tuple(
        a_ballot(text, by=judge) for judge, text in zip("ABCDEFGH", rankings, strict=False)
    )


def without_own(order: str, members: str) -> tuple[Ballot, ...]:
    """Give the ballots of members who all hold the same order, each less its own label."""
    held = order.split()
    return tuple(
        a_ballot(" ".join(label for label in held if label != judge), by=judge)
        for judge in members.split()
    )


def shares(lines: Sequence[Standing]) -> dict[str, float | None]:
    return {str(line.label): line.share for line in lines}


def places(lines: Sequence[Standing]) -> dict[str, int]:
    return {str(line.label): line.place for line in lines}
