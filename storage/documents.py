"""A round as one line of JSON with everything that is stored of it, and back.

The line is the round's own values by name, with the version of this format: what `verify` needs
elsewhere, prompts and raw texts of ballots included.
"""

from datetime import datetime

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from council.errors import PanelError, StoreError
from council.rounds import Round, in_panel_order

FORMAT = 1
ROUND = TypeAdapter(Round)


def line_of(round_: Round) -> str:
    """Give the round as one line, without a line end."""
    try:
        return to_json({"format": FORMAT, **ROUND.dump_python(round_, mode="json")}).decode()
    except PydanticSerializationError as error:
        raise StoreError(f"Round {round_.id!r} holds what JSON cannot: {error}.") from error


def round_of(line: bytes | str) -> Round:
    """Give the round of a line, in panel order; StoreError naming what no round can hold."""
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
    try:
        round_ = ROUND.validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise StoreError(f"{field}: {first['msg']}") from error
    except PanelError as error:
        raise StoreError(str(error)) from error
    if any(moment.tzinfo is None for moment in _moments(round_)):
        raise StoreError("asked_at: a moment without a time zone could be any")
    return in_panel_order(round_)


def _moments(round_: Round) -> tuple[datetime, ...]:
    return (round_.asked_at, *([round_.forgotten.at] if round_.forgotten else []))
