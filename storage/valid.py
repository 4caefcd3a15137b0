"""What rows hold, checked before it is taken for a value of the council's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pydantic import ValidationError

from council.errors import PanelError, StoreError

T = TypeVar("T")


def valid(name: str, check: Callable[[object], T], found: object) -> T:
    """Give what the check makes of a value; ValueError naming the field that is no such thing."""
    try:
        return check(found)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, (name, *first["loc"])))
        raise ValueError(f"{field}: {first['msg']}.") from error


@contextmanager
def told_by_field(kind: str, name: str) -> Iterator[None]:
    """Raise StoreError, with the field's name, for what no such thing can hold."""
    try:
        yield
    except (ValueError, PanelError) as error:
        said = f"{kind} {name!r} holds what no {kind.lower()} can: {error}"
        raise StoreError(said) from error
