"""Composable validators of JSON values; each yields the faults that Slack would report.

Knows no block: only strings, numbers, lists, objects and unions told apart by their `type`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

INVALID = "invalid_blocks"


@dataclass(frozen=True, slots=True)
class Fault:
    """A validation error: its code, message and JSON pointer."""

    code: str
    message: str
    pointer: str

    def __str__(self) -> str:
        return f"{self.message} [json-pointer:{self.pointer}]"


Check = Callable[[object, str], Iterator[Fault]]


def bad(message: str, at: str, code: str = INVALID) -> Fault:
    """Return a fault; the default code is invalid_blocks."""
    return Fault(code, message, at)


def anything(_value: object, _at: str) -> Iterator[Fault]:
    yield from ()


def flag(value: object, at: str) -> Iterator[Fault]:
    if not isinstance(value, bool):
        yield bad("must be a boolean", at)


def string(most: int, least: int = 1) -> Check:
    def check(value: object, at: str) -> Iterator[Fault]:
        if not isinstance(value, str):
            yield bad("must be a string", at)
        elif len(value) < least:
            yield bad(f"must be more than {least - 1} characters", at)
        elif len(value) > most:
            yield bad(f"must be less than {most + 1} characters", at)

    return check


def choice(*values: str) -> Check:
    def check(value: object, at: str) -> Iterator[Fault]:
        if value not in values:
            yield bad(f"must be one of: {', '.join(values)}", at)

    return check


def number(
    least: float = float("-inf"), most: float = float("inf"), *, whole: bool = True
) -> Check:
    """Accept a number between these two; a boolean is none."""
    kinds: tuple[type, ...] = (int,) if whole else (int, float)

    def check(value: object, at: str) -> Iterator[Fault]:
        if isinstance(value, bool) or not isinstance(value, kinds):
            yield bad("must be an integer" if whole else "must be a number", at)
        elif isinstance(value, (int, float)) and not least <= value <= most:
            yield bad(f"must be between {least:g} and {most:g}", at)

    return check


def many(check_one: Check, most: int, least: int = 1) -> Check:
    """Accept a list of so many of these."""

    def check(value: object, at: str) -> Iterator[Fault]:
        if not isinstance(value, list):
            yield bad("must be an array", at)
            return
        if len(value) > most:
            yield bad(f"no more than {most} items allowed", at)
        if len(value) < least:
            yield bad(f"no fewer than {least} items allowed", at)
        for place, one in enumerate(value):
            yield from check_one(one, f"{at}/{place}")

    return check


def shape(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Accept an object with these keys and no others."""
    allowed = {**(optional or {}), **required}

    def check(value: object, at: str) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield bad("must be an object", at)
            return
        for name in required:
            if name not in value:
                yield bad(f"missing required field: {name}", at)
        for name, part in value.items():
            if name in allowed:
                yield from allowed[name](part, f"{at}/{name}")
            else:
                yield bad(f"invalid additional property: {name}", at)

    return check


def typed(shapes: Mapping[str, Check]) -> Check:
    """Accept an object whose `type` is one of these, in that type's shape."""

    def check(value: object, at: str) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield bad("must be an object", at)
        elif "type" not in value:
            yield bad("missing required field: type", at)
        elif value["type"] not in shapes:
            yield bad(f"unsupported type: {value['type']}", f"{at}/type")
        else:
            yield from shapes[value["type"]](value, at)

    return check


def all_of(*checks: Check) -> Check:
    def check(value: object, at: str) -> Iterator[Fault]:
        for one in checks:
            yield from one(value, at)

    return check


def one_key_of(*names: str) -> Check:
    """Accept at least one of these keys in an object."""

    def check(value: object, at: str) -> Iterator[Fault]:
        if isinstance(value, dict) and not any(name in value for name in names):
            yield bad(f"missing required field: {' or '.join(names)}", at)

    return check
