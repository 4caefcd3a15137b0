"""A round as one line of JSON with everything that is stored of it, and back.

The line is the round's own values by name, with the version of this format: what `verify` needs
elsewhere, prompts and raw texts of ballots included. What people think of it comes last, and its
seal: what was noted of it as it closed, with its link, which names the hash of the link before.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from council.errors import StoreError
from council.feedback import Feedback
from council.rounds import Round, in_panel_order
from council.sealing import Seal
from storage.lines import check_zone, checked, line_with, values_of

ROUND = TypeAdapter(Round)
RATINGS = TypeAdapter(tuple[Feedback, ...])
SEAL = TypeAdapter(Seal)


@dataclass(frozen=True, slots=True)
class Record:
    """A round, what people think of it, and what was noted of it as it closed."""

    round_: Round
    ratings: tuple[Feedback, ...] = ()
    seal: Seal | None = None


def line_of(round_: Round, ratings: tuple[Feedback, ...] = (), seal: Seal | None = None) -> str:
    """Give the round as one line, without a line end."""
    beside: dict[str, object] = {}
    if ratings:
        beside["ratings"] = RATINGS.dump_python(ratings, mode="json")
    if seal:
        beside["seal"] = SEAL.dump_python(seal, mode="json")
    return line_with(ROUND, round_, f"Round {round_.id!r}", **beside)


def record_of(line: bytes | str) -> Record:
    """Give what a line holds, in panel order; StoreError naming what no round can hold."""
    return record_from(values_of(line))


def record_from(found: dict[str, Any]) -> Record:
    """Give the round that a line's values make, in panel order; StoreError where they make none."""
    rated, sealed = found.pop("ratings", []), found.pop("seal", None)
    round_ = in_panel_order(checked(ROUND, found))
    check_zone("asked_at", round_.asked_at)
    if round_.forgotten:
        check_zone("forgotten.at", round_.forgotten.at)
    ratings = checked(RATINGS, rated, "ratings")
    for i, feedback in enumerate(ratings):
        check_zone(f"ratings.{i}.at", feedback.at)
        if feedback.round_id != round_.id:
            raise StoreError(f"ratings.{i}.round_id: it is of another round")
    seal = None if sealed is None else checked(SEAL, sealed, "seal")
    return Record(round_, ratings, seal)
