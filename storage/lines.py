"""What every exported line has in common: JSON with the version of the format."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from council.errors import PanelError, StoreError

T = TypeVar("T")

FORMAT = 1


def line_with(adapter: TypeAdapter[T], value: T, what: str, **beside: object) -> str:
    """Give a value as one line without a line end, with what stands beside its own fields."""
    try:
        own: Mapping[str, Any] = adapter.dump_python(value, mode="json")
        return to_json({"format": FORMAT, **own, **beside}).decode()
    except PydanticSerializationError as error:
        raise StoreError(f"{what} holds what JSON cannot: {error}.") from error


def values_of(line: bytes | str) -> dict[str, Any]:
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


def checked(kind: TypeAdapter[T], found: object, *within: str) -> T:
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


def check_zone(field: str, moment: datetime) -> None:
    """Raise StoreError for a moment without a time zone."""
    if moment.tzinfo is None:
        raise StoreError(f"{field}: a moment without a time zone could be any")
