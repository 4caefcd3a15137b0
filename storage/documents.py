"""A round as one line of JSON with everything that is stored of it, and back.

The line is the round's own values by name, with the version of this format: what `verify` needs
elsewhere, prompts and raw texts of ballots included. What people think of it comes last, and its
seal: what was noted of it as it closed, with its link, which names the hash of the link before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from council.errors import StoreError
from council.feedback import Feedback, HumanVote
from council.integrity.seal import Seal
from council.rounds import Round, in_panel_order
from storage.lines import check_zone, checked, line_with, values_of

ROUND = TypeAdapter(Round)
RATINGS = TypeAdapter(tuple[Feedback, ...])
SEAL = TypeAdapter(Seal)
VOTES = TypeAdapter(tuple[HumanVote, ...])


@dataclass(frozen=True, slots=True)
class Record:
    """A round, what people think of it, and what was noted of it as it closed."""

    round_: Round
    ratings: tuple[Feedback, ...] = ()
    votes: tuple[HumanVote, ...] = ()
    seal: Seal | None = None


def line_of(
    round_: Round,
    ratings: tuple[Feedback, ...] = (),
    votes: tuple[HumanVote, ...] = (),
    seal: Seal | None = None,
) -> str:
    """Give the round as one line, without a line end."""
    beside: dict[str, object] = {}
    if ratings:
        beside["ratings"] = RATINGS.dump_python(ratings, mode="json")
    if votes:
        beside["votes"] = VOTES.dump_python(votes, mode="json")
    if seal:
        beside["seal"] = SEAL.dump_python(seal, mode="json")
    return line_with(ROUND, round_, f"Round {round_.id!r}", **beside)


def record_of(line: bytes | str) -> Record:
    """Give what a line holds, in panel order; StoreError naming what no round can hold."""
    return record_from(values_of(line))


def record_from(found: dict[str, Any]) -> Record:
    """Give the round that a line's values make, in panel order; StoreError where they make none."""
    rated, voted = found.pop("ratings", []), found.pop("votes", [])
    sealed = found.pop("seal", None)
    round_ = in_panel_order(checked(ROUND, found))
    check_zone("asked_at", round_.asked_at)
    if round_.forgotten:
        check_zone("forgotten.at", round_.forgotten.at)
    ratings, votes = checked(RATINGS, rated, "ratings"), checked(VOTES, voted, "votes")
    _check_own(round_, "ratings", ratings)
    _check_own(round_, "votes", votes)
    seal = None if sealed is None else checked(SEAL, sealed, "seal")
    return Record(round_, ratings, votes, seal)


def _check_own(round_: Round, name: str, said: Sequence[Feedback | HumanVote]) -> None:
    for i, one in enumerate(said):
        check_zone(f"{name}.{i}.at", one.at)
        if one.round_id != round_.id:
            raise StoreError(f"{name}.{i}.round_id: it is of another round")
