"""What every exported line has in common: JSON with the version of the format."""

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
from council.rounds import Round, in_panel_order

# --- What every exported line has in common: JSON with the version of the format.

T = TypeVar("T")

FORMAT = 1


def dump_line(adapter: TypeAdapter[T], value: T, what: str, **beside: object) -> str:
    """Give a value as one line without a line end, with what stands beside its own fields."""
    try:
        own: Mapping[str, Any] = adapter.dump_python(value, mode="json")
        return to_json({"format": FORMAT, **own, **beside}).decode()
    except PydanticSerializationError as error:
        raise StoreError(f"{what} holds what JSON cannot: {error}.") from error


def parse_line(line: bytes | str) -> dict[str, Any]:
    """Give what a line holds, without its format; StoreError where it is none of ours."""
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
    return found


def validate(kind: TypeAdapter[T], found: object, *within: str) -> T:
    """Give the value that was found; StoreError naming the field that is no such thing."""
    try:
        valid = kind.validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, (*within, *first["loc"])))
        raise StoreError(f"{field}: {first['msg']}") from error
    except PanelError as error:
        raise StoreError(str(error)) from error
    return valid


def check_time_zone(field: str, moment: datetime) -> None:
    """Raise StoreError for a moment without a time zone."""
    if moment.tzinfo is None:
        raise StoreError(f"{field}: a moment without a time zone could be any")


# --- A round as one line of JSON with everything that is stored of it, and back.

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
    return dump_line(ROUND, round_, f"Round {round_.id!r}", **beside)


def parse_round(line: bytes | str) -> Record:
    """Give what a line holds, in panel order; StoreError naming what no round can hold."""
    return _round_from_values(parse_line(line))


def _round_from_values(found: dict[str, Any]) -> Record:
    """Give the round that a line's values make, in panel order; StoreError where they make none."""
    rated, voted = found.pop("ratings", []), found.pop("votes", [])
    sealed = found.pop("seal", None)
    round_ = in_panel_order(validate(ROUND, found))
    check_time_zone("asked_at", round_.asked_at)
    if round_.forgotten:
        check_time_zone("forgotten.at", round_.forgotten.at)
    ratings, votes = validate(RATINGS, rated, "ratings"), validate(VOTES, voted, "votes")
    _check_own(round_, "ratings", ratings)
    _check_own(round_, "votes", votes)
    seal = None if sealed is None else validate(SEAL, sealed, "seal")
    return Record(round_, ratings, votes, seal)


def _check_own(round_: Round, name: str, said: Sequence[Feedback | HumanVote]) -> None:
    for i, one in enumerate(said):
        check_time_zone(f"{name}.{i}.at", one.at)
        if one.round_id != round_.id:
            raise StoreError(f"{name}.{i}.round_id: it is of another round")


# --- Suites, bake-offs and schedules as lines of JSON, and back, beside the rounds of an export.

Kept = StoredSuite | Bakeoff | Schedule

SUITE, BAKEOFF, SCHEDULE = TypeAdapter(StoredSuite), TypeAdapter(Bakeoff), TypeAdapter(Schedule)


def kept_line(kept: Kept) -> str:
    """Give a suite's version, a bake-off or a schedule as one line, without a line end."""
    if isinstance(kept, StoredSuite):
        return dump_line(SUITE, kept, f"Suite {kept.suite.name!r}", kind="suite")
    if isinstance(kept, Bakeoff):
        return dump_line(BAKEOFF, kept, f"Bake-off {kept.id!r}", kind="bakeoff")
    return dump_line(SCHEDULE, kept, f"Schedule {kept.name!r}", kind="schedule")


def thing_of(line: bytes | str) -> Record | Kept:
    """Give what a line holds, a round or what is kept beside rounds; StoreError for anything else.

    It names the field that no such thing can hold.
    """
    found = parse_line(line)
    if "kind" not in found:
        return _round_from_values(found)
    return _item_from_values(found.pop("kind"), found)


def _item_from_values(kind: object, found: dict[str, Any]) -> Kept:
    if kind == "suite":
        suite = validate(SUITE, found)
        check_time_zone("at", suite.at)
        return suite
    if kind == "bakeoff":
        bakeoff = validate(BAKEOFF, found)
        check_time_zone("at", bakeoff.at)
        if bakeoff.ending:
            check_time_zone("ending.at", bakeoff.ending.at)
        return bakeoff
    if kind == "schedule":
        schedule = validate(SCHEDULE, found)
        check_time_zone("made_at", schedule.made_at)
        return schedule
    raise StoreError(f"its kind {kind!r} is none that this version reads: use a newer version")
