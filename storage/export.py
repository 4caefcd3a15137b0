"""The export format: rounds, suites, bake-offs and schedules as lines of JSON, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from council.bakeoffs.models import Bakeoff, Schedule
from council.bakeoffs.ports import StoredSuite
from council.errors import PanelError, StoreError
from council.feedback import Feedback, HumanVote
from council.integrity.seal import Seal
from council.rounds import Round, sort_by_panel

T = TypeVar("T")

FORMAT = 1

ROUND = TypeAdapter(Round)
RATINGS = TypeAdapter(tuple[Feedback, ...])
SEAL = TypeAdapter(Seal)
VOTES = TypeAdapter(tuple[HumanVote, ...])
SUITE, BAKEOFF, SCHEDULE = TypeAdapter(StoredSuite), TypeAdapter(Bakeoff), TypeAdapter(Schedule)

ExportedItem = StoredSuite | Bakeoff | Schedule


@dataclass(frozen=True, slots=True)
class ExportedRound:
    """A round with its feedback, its votes and its seal."""

    round_: Round
    ratings: tuple[Feedback, ...] = ()
    votes: tuple[HumanVote, ...] = ()
    seal: Seal | None = None


def dump_round(
    round_: Round,
    ratings: tuple[Feedback, ...] = (),
    votes: tuple[HumanVote, ...] = (),
    seal: Seal | None = None,
) -> str:
    """Return the round as one line, without a line end."""
    extra: dict[str, object] = {}
    if ratings:
        extra["ratings"] = RATINGS.dump_python(ratings, mode="json")
    if votes:
        extra["votes"] = VOTES.dump_python(votes, mode="json")
    if seal:
        extra["seal"] = SEAL.dump_python(seal, mode="json")
    return dump_line(ROUND, round_, f"Round {round_.id!r}", **extra)


def _round_from_values(fields: dict[str, Any]) -> ExportedRound:
    rating_values, vote_values = fields.pop("ratings", []), fields.pop("votes", [])
    seal_values = fields.pop("seal", None)
    round_ = sort_by_panel(validate(ROUND, fields))
    check_time_zone("asked_at", round_.asked_at)
    if round_.forgotten:
        check_time_zone("forgotten.at", round_.forgotten.at)
    ratings, votes = (
        validate(RATINGS, rating_values, "ratings"),
        validate(VOTES, vote_values, "votes"),
    )
    _check_same_round(round_, "ratings", ratings)
    _check_same_round(round_, "votes", votes)
    seal = None if seal_values is None else validate(SEAL, seal_values, "seal")
    return ExportedRound(round_, ratings, votes, seal)


def _check_same_round(round_: Round, name: str, items: Sequence[Feedback | HumanVote]) -> None:
    for i, item in enumerate(items):
        check_time_zone(f"{name}.{i}.at", item.at)
        if item.round_id != round_.id:
            raise StoreError(f"{name}.{i}.round_id: it is of another round")


def dump_item(item: ExportedItem) -> str:
    """Return a suite's version, a bake-off or a schedule as one line, without a line end."""
    if isinstance(item, StoredSuite):
        return dump_line(SUITE, item, f"Suite {item.suite.name!r}", kind="suite")
    if isinstance(item, Bakeoff):
        return dump_line(BAKEOFF, item, f"Bake-off {item.id!r}", kind="bakeoff")
    return dump_line(SCHEDULE, item, f"Schedule {item.name!r}", kind="schedule")


def parse_item(line: bytes | str) -> ExportedRound | ExportedItem:
    """Return the content of a line, a round in panel order.

    Raise StoreError with the name of an invalid field.
    """
    fields = parse_line(line)
    if "kind" not in fields:
        return _round_from_values(fields)
    return _item_from_values(fields.pop("kind"), fields)


def _item_from_values(kind: object, fields: dict[str, Any]) -> ExportedItem:
    if kind == "suite":
        suite = validate(SUITE, fields)
        check_time_zone("at", suite.at)
        return suite
    if kind == "bakeoff":
        bakeoff = validate(BAKEOFF, fields)
        check_time_zone("at", bakeoff.at)
        if bakeoff.ending:
            check_time_zone("ending.at", bakeoff.ending.at)
        return bakeoff
    if kind == "schedule":
        schedule = validate(SCHEDULE, fields)
        check_time_zone("made_at", schedule.made_at)
        return schedule
    raise StoreError(f"its kind {kind!r} is none that this version reads: use a newer version")


def dump_line(adapter: TypeAdapter[T], value: T, what: str, **extra: object) -> str:
    """Return a value as one line without a line end; `extra` fields are added to its own."""
    try:
        own: Mapping[str, Any] = adapter.dump_python(value, mode="json")
        return to_json({"format": FORMAT, **own, **extra}).decode()
    except PydanticSerializationError as error:
        raise StoreError(f"{what} holds what JSON cannot: {error}.") from error


def parse_line(line: bytes | str) -> dict[str, Any]:
    """Return the fields of a line, without its format; raise StoreError for any other text."""
    try:
        fields = from_json(line)
    except ValueError as error:
        raise StoreError(f"it is no JSON ({error})") from error
    if not isinstance(fields, dict) or "format" not in fields:
        raise StoreError("it is no exported round: it names no format")
    if fields.pop("format") != FORMAT:
        raise StoreError(
            f"its format is another than {FORMAT}, the one this version reads: use a newer version"
        )
    return fields


def validate(kind: TypeAdapter[T], value: object, *path: str) -> T:
    """Return the validated value; raise StoreError with the name of an invalid field."""
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, (*path, *first["loc"])))
        raise StoreError(f"{field}: {first['msg']}") from error
    except PanelError as error:
        raise StoreError(str(error)) from error


def check_time_zone(field: str, moment: datetime) -> None:
    """Raise StoreError for a time without a time zone."""
    if moment.tzinfo is None:
        raise StoreError(f"{field}: a moment without a time zone could be any")
