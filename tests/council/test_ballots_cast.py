"""A judge's reply becomes a ballot in public labels."""

import pytest

from council.ballots import Ballot, SpoiledBallot, cast_ballot, translate_labels
from tests.builders import a_ballot, a_ranking, a_slate, an_exchange, ballot_text, labels

SLOTS = dict(zip("ABC", labels("Z K M"), strict=True))


def test_a_ballot_is_stored_in_public_labels() -> None:
    paper = an_exchange(ballot_text("C A=B", "n0", "Response C beats Response A."))

    voted = cast_ballot(a_slate("Z K M"), "n0", paper)

    assert voted == Ballot(
        judge="J",
        shown=labels("Z K M"),
        ranking=a_ranking("M Z=K"),
        reason="Response M beats Response Z.",
        paper=paper,
    )


def test_an_invalid_reply_becomes_a_spoiled_ballot() -> None:
    paper = an_exchange("I rank none.")

    voted = cast_ballot(a_slate("Z K M"), "n0", paper)

    assert voted == SpoiledBallot("J", "it held no JSON object with a ranking", paper)


def test_a_letter_outside_the_slate_spoils_the_ballot() -> None:
    voted = cast_ballot(a_slate("Z K"), "n0", an_exchange(ballot_text("A B C", "n0")))

    assert isinstance(voted, SpoiledBallot)
    assert voted.fault == "it named a letter that was not on the slate"


def test_every_ballot_but_an_audit_counts() -> None:
    assert a_ballot("K M").counts
    assert not a_ballot("K M", audit="own visible").counts


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("Response A is best.", "Response Z is best."),
        ("responses A, B and C tie", "responses Z, K and M tie"),
        ("Answer B vs. A", "Answer K vs. Z"),
        ("Response A > Response B", "Response Z > Response K"),
        ("B is short; C is wrong.", "K is short; M is wrong."),
        ("A > B = C", "Z > K = M"),
        ("A is right", "Z is right"),
        ("A good answer. I like it.", "A good answer. I like it."),
        ("Response B, I think, is best", "Response K, I think, is best"),
        ("Response D is not here", "Response D is not here"),
        ("ABC and Bob stay", "ABC and Bob stay"),
        ("", ""),
    ],
)
def test_a_reason_uses_public_labels(text: str, public: str) -> None:
    assert translate_labels(text, SLOTS) == public


def test_swapped_letters_are_translated_once() -> None:
    # Public labels are never slot letters, so no label is translated again.
    assert translate_labels(
        "B beats C, C beats B", dict(zip("BC", labels("M K"), strict=True))
    ) == ("M beats K, K beats M")
