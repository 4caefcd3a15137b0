"""Small checks that join into the shape of a JSON value; each yields what Discord would say of it.

Knows no component: only strings, numbers, lists, objects and unions told apart by their `type`.
Discord ignores what it does not know, so unknown keys are no fault.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing Discord refuses: where, its name for it, its sentence, and the answer's status."""

    at: str  # "components.0.label"
    code: str
    message: str
    status: int = 400

    def __str__(self) -> str:
        return f"{self.at}: {self.message}"


Check = Callable[[object, str], Iterator[Fault]]


def under(at: str, name: str | int) -> str:
    return f"{at}.{name}" if at else str(name)


def required(at: str) -> Fault:
    return Fault(at, "BASE_TYPE_REQUIRED", "This field is required")


def string(most: int, least: int = 0) -> Check:
    def check(value: object, at: str) -> Iterator[Fault]:
        if not isinstance(value, str):
            yield Fault(at, "STRING_TYPE_CONVERT", f'Could not interpret "{value}" as string.')
        elif least and not value:
            yield required(at)
        elif len(value) > most and not least:
            yield Fault(at, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")
        elif not least <= len(value) <= most:
            message = f"Must be between {least} and {most} in length."
            yield Fault(at, "BASE_TYPE_BAD_LENGTH", message)

    return check


def number(least: int, most: int) -> Check:
    def check(value: object, at: str) -> Iterator[Fault]:
        if isinstance(value, bool) or not isinstance(value, int):
            yield Fault(at, "NUMBER_TYPE_COERCE", f'Value "{value}" is not int.')
        elif value < least:
            yield Fault(at, "NUMBER_TYPE_MIN", f"int value should be more than or equal to {least}")
        elif value > most:
            yield Fault(at, "NUMBER_TYPE_MAX", f"int value should be less than or equal to {most}")

    return check


def flag(value: object, at: str) -> Iterator[Fault]:
    if not isinstance(value, bool):
        yield Fault(at, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.")


def choice(*values: object) -> Check:
    def check(value: object, at: str) -> Iterator[Fault]:
        if value not in values or isinstance(value, bool):
            yield Fault(at, "BASE_TYPE_CHOICES", f"Value must be one of {values}.")

    return check


def many(check_one: Check, most: int, least: int = 0) -> Check:
    def check(value: object, at: str) -> Iterator[Fault]:
        if not isinstance(value, list):
            yield Fault(at, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
            return
        if not least <= len(value) <= most:
            message = f"Must be between {least} and {most} in length."
            yield Fault(at, "BASE_TYPE_BAD_LENGTH", message)
        for place, one in enumerate(value):
            yield from check_one(one, under(at, place))

    return check


def shape(needed: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """Want an object with these keys; a null counts as not there."""

    def check(value: object, at: str) -> Iterator[Fault]:
        if not isinstance(value, dict):
            message = "Only dictionaries may be used in a ModelType"
            yield Fault(at, "MODEL_TYPE_CONVERT", message)
            return
        for name in needed:
            if value.get(name) is None:
                yield required(under(at, name))
        for name, one in {**needed, **(optional or {})}.items():
            if value.get(name) is not None:
                yield from one(value[name], under(at, name))

    return check


def typed(shapes: Mapping[int, Check]) -> Check:
    """Want an object whose `type` is one of these, in that type's shape."""

    def check(value: object, at: str) -> Iterator[Fault]:
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, int) or kind not in shapes:
            said = f'Value of field "type" must be one of {tuple(shapes)}.'
            yield Fault(under(at, "type"), "UNION_TYPE_CHOICES", said)
        else:
            yield from shapes[kind](value, at)

    return check


def all_of(*checks: Check) -> Check:
    def check(value: object, at: str) -> Iterator[Fault]:
        for one in checks:
            yield from one(value, at)

    return check


def errors_of(faults: list[Fault]) -> dict[str, Any]:
    """Nest faults as Discord nests them in the `errors` of an answer."""
    errors: dict[str, Any] = {}
    for fault in faults:
        place = errors
        for name in filter(None, fault.at.split(".")):
            place = place.setdefault(name, {})
        place.setdefault("_errors", []).append({"code": fault.code, "message": fault.message})
    return errors
