"""Forms: typed fields, which every chat renders with its own elements, and what a form does.

Knows no chat. Plug-ins declare theirs in `ButtonSet.forms`.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from bot.chat import Chat, IncomingMessage
from bot.context import AppContext
from council.errors import CouncilError

MAX_PEOPLE = 25  # that a form can name; the limit of Discord
SOME_LISTED = "{shown} of {all} are listed. To name another one, type the command."


@dataclass(frozen=True, slots=True)
class TextField:
    """A text of one line, or of several; a chat may allow fewer characters."""

    name: str
    label: str
    hint: str = ""
    max_length: int = 3000
    initial: str = ""
    is_long: bool = False
    required: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """Something to choose: its value, and what people read."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class SelectField:
    """One of many options; a chat leaves the field out if there are none."""

    name: str
    label: str
    options: tuple[Option, ...]
    hint: str = ""
    initial: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class RadioField:
    """One of a few options, all of them in sight; at the start one of them, or the first."""

    name: str
    label: str
    options: tuple[Option, ...]
    initial: str = ""

    @property
    def chosen(self) -> Option:
        """Return the option that is chosen at the start."""
        named = (one for one in self.options if one.value == self.initial)
        return next(named, self.options[0])


@dataclass(frozen=True, slots=True)
class ChannelField:
    """A channel of the workspace."""

    name: str
    label: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class PeopleField:
    """People of the workspace; values are their ids, separated by spaces."""

    name: str
    label: str
    hint: str = ""
    initial: str = ""


@dataclass(frozen=True, slots=True)
class RolesField:
    """Roles, in a chat that has them; values are their ids, separated by spaces."""

    name: str
    label: str
    hint: str = ""
    initial: str = ""


@dataclass(frozen=True, slots=True)
class FileField:
    """Files, which are submitted as those of the message."""

    name: str
    label: str
    hint: str = ""
    max_files: int = 1


Field = TextField | SelectField | RadioField | ChannelField | PeopleField | RolesField | FileField


@dataclass(frozen=True, slots=True)
class Form:
    """A form as every chat shows it; Discord shows its first five fields.

    It is submitted with `value`, if it has one, instead of that of the button that opened it. Its
    `note` stands under the fields; Discord counts it as one of them.
    """

    title: str
    submit: str
    fields: tuple[Field, ...]
    value: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class FormAction:
    """What opens a form for a button's value, and what its submitted values do.

    `open` raises CouncilError for a person who may not submit it; `submit` checks again, and may
    raise FieldError. Values are by the names of fields; those of older forms may be missing.
    """

    open: Callable[[AppContext, IncomingMessage, str], Awaitable[Form]]
    submit: Callable[[AppContext, Chat, IncomingMessage, str, Mapping[str, str]], Awaitable[None]]


class FieldError(CouncilError):
    """What is wrong with the value of one field of a form."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field = field


@contextmanager
def errors_at(field: str, kind: type[CouncilError] = CouncilError) -> Iterator[None]:
    """Raise errors of a kind as those of a field."""
    try:
        yield
    except FieldError:
        raise
    except kind as error:
        raise FieldError(field, str(error)) from error


def named_options(names: Sequence[str]) -> tuple[Option, ...]:
    """Return options whose labels are their values."""
    return tuple(Option(name, name) for name in names)


def fitting_options(field: SelectField, limit: int, longest: int) -> tuple[Option, ...]:
    """Return the options that a select has room for, the chosen one among them.

    `longest` is how many characters a value may have.
    """
    usable = [one for one in field.options if len(one.value) <= longest]
    chosen = [one for one in usable[limit:] if one.value == field.initial]
    return (*chosen, *usable[: limit - len(chosen)])


def select_hint(field: SelectField, shown: int) -> str:
    """Return the hint of a select, and how many options it has no room for."""
    rest = SOME_LISTED.format(shown=shown, all=len(field.options))
    return " ".join(filter(None, (field.hint, rest if shown < len(field.options) else "")))
