"""A round as one line of JSON with everything that is stored of it, and back.

The line is the round's own values by name, with the version of this format: what `verify` needs
elsewhere, prompts and raw texts of ballots included. What people think of it comes last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from council.errors import StoreError
from council.feedback import Feedback
from council.human_votes import HumanVote
from council.rounds import Round, in_panel_order
from storage.lines import check_zone, checked, line_with, values_of

ROUND = TypeAdapter(Round)
RATINGS = TypeAdapter(tuple[Feedback, ...])
VOTES = TypeAdapter(tuple[HumanVote, ...])


@dataclass(frozen=True, slots=True)
class Record:
    """A round, and what people think of it."""

    round_: Round
    ratings: tuple[Feedback, ...] = ()
    votes: tuple[HumanVote, ...] = ()


def line_of(
    round_: Round, ratings: tuple[Feedback, ...] = (), votes: tuple[HumanVote, ...] = ()
) -> str:
    """Give the round as one line, without a line end."""
    said = {"ratings": RATINGS.dump_python(ratings, mode="json")} if ratings else {}
    said |= {"votes": VOTES.dump_python(votes, mode="json")} if votes else {}
    return line_with(ROUND, round_, f"Round {round_.id!r}", **said)


def record_of(line: bytes | str) -> Record:
    """Give what a line holds, in panel order; StoreError naming what no round can hold."""
    return record_from(values_of(line))


def record_from(found: dict[str, Any]) -> Record:
    """Give the round that a line's values make, in panel order; StoreError where they make none."""
    rated, voted = found.pop("ratings", []), found.pop("votes", [])
    round_ = in_panel_order(checked(ROUND, found))
    check_zone("asked_at", round_.asked_at)
    if round_.forgotten:
        check_zone("forgotten.at", round_.forgotten.at)
    ratings, votes = checked(RATINGS, rated, "ratings"), checked(VOTES, voted, "votes")
    _check_own(round_, "ratings", ratings)
    _check_own(round_, "votes", votes)
    return Record(round_, ratings, votes)


def _check_own(round_: Round, name: str, said: Sequence[Feedback | HumanVote]) -> None:
    for i, one in enumerate(said):
        check_zone(f"{name}.{i}.at", one.at)
        if one.round_id != round_.id:
            raise StoreError(f"{name}.{i}.round_id: it is of another round")
