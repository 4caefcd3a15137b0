"""A round as one line of JSON with everything that is stored of it, and back.

The line is the round's own values by name, with the version of this format: what `verify` needs
elsewhere, prompts and raw texts of ballots included. What people think of it comes last.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from council.errors import PanelError, StoreError
from council.feedback import Feedback
from council.rounds import Round, in_panel_order

T = TypeVar("T")

FORMAT = 1
ROUND = TypeAdapter(Round)
RATINGS = TypeAdapter(tuple[Feedback, ...])


@dataclass(frozen=True, slots=True)
class Record:
    """A round, and what people think of it."""

    round_: Round
    ratings: tuple[Feedback, ...] = ()


def line_of(round_: Round, ratings: tuple[Feedback, ...] = ()) -> str:
    """Give the round as one line, without a line end."""
    rated = {"ratings": RATINGS.dump_python(ratings, mode="json")} if ratings else {}
    try:
        own = ROUND.dump_python(round_, mode="json")
        return to_json({"format": FORMAT, **own, **rated}).decode()
    except PydanticSerializationError as error:
        raise StoreError(f"Round {round_.id!r} holds what JSON cannot: {error}.") from error


def record_of(line: bytes | str) -> Record:
    """Give what a line holds, in panel order; StoreError naming what no round can hold."""
    try:
        found = from_json(line)
    except ValueError as error:
        raise StoreError(f"it is no JSON ({error})") from error
    if not isinstance(found, dict) or "format" not in found:
        raise StoreError("it is no exported round: it names no format")
    if found.pop("format") != FORMAT:
        raise StoreError(
            f"its format is another than {FORMAT}, the one this version reads: use a newer version"
        )
    rated = found.pop("ratings", [])
    round_ = in_panel_order(_valid(ROUND, found))
    _check_zone("asked_at", round_.asked_at)
    if round_.forgotten:
        _check_zone("forgotten.at", round_.forgotten.at)
    ratings = _valid(RATINGS, rated, "ratings")
    for i, feedback in enumerate(ratings):
        _check_zone(f"ratings.{i}.at", feedback.at)
        if feedback.round_id != round_.id:
            raise StoreError(f"ratings.{i}.round_id: it is of another round")
    return Record(round_, ratings)


def _valid(kind: TypeAdapter[T], found: object, *within: str) -> T:
    try:
        valid = kind.validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, (*within, *first["loc"])))
        raise StoreError(f"{field}: {first['msg']}") from error
    except PanelError as error:
        raise StoreError(str(error)) from error
    return valid


def _check_zone(field: str, moment: datetime) -> None:
    if moment.tzinfo is None:
        raise StoreError(f"{field}: a moment without a time zone could be any")
