"""Typed command parameters: parse the text after a command's name, or check a form's values.

Mentions, the terminal and some chats give text, others values. Pure: knows no chat, no command.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from bot.render.text_safety import shorten_to_line
from council.errors import CouncilError

if TYPE_CHECKING:
    from bot.chat import IncomingMessage
    from bot.context import AppContext

# An id is hexadecimal, or a platform event's with colons: no word of a question looks like it.
ROUND_PATTERN = r"last|[0-9a-f]{4,}|\S*[:@]\S*"
LAST = "last"


class Kind(StrEnum):
    """The kind of a value: how it is checked, and what a chat suggests for it."""

    TEXT = "text"  # everything that follows, line breaks included
    WORD = "word"
    NUMBER = "number"  # 1 to 999
    FLAG = "flag"  # present or not; written as its name alone
    CHOICE = "choice"  # one of the parameter's choices
    ROUND = "round"
    PANEL = "panel"
    METHOD = "method"
    LABEL = "label"  # of an answer in a round, or several: "K", "Response K", "K > M = L"
    TOPIC = "topic"  # the name of a command
    CHANNEL = "channel"
    MONEY = "money"  # "$1.50"
    DATE = "date"  # "30d" or "2026-11-01"
    FILE = "file"  # only in forms; text has the file beside it


_PATTERNS = {
    Kind.TEXT: r".+",
    Kind.NUMBER: r"[1-9]\d{0,2}",
    Kind.ROUND: ROUND_PATTERN,
    Kind.LABEL: r"(?:response\s+)?[a-z](?:[\s>=,]+[a-z])*",
    Kind.TOPIC: r"\S+(?:\s+\S+)?",  # with its group: "schedule add"
}
_TAKE_THE_REST = {Kind.TEXT, Kind.LABEL, Kind.TOPIC}
_TOKEN = re.compile(r'(?P<name>[a-z_]+):(?P<value>"[^"]*"|\S+)|"[^"]*"|\S+', re.IGNORECASE)

Arguments = Mapping[str, str]
NOTHING_GIVEN: Arguments = MappingProxyType({})
Suggestion = tuple[str, str]  # label and value
Suggest = Callable[["AppContext", "IncomingMessage"], Awaitable[Sequence[Suggestion]]]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a command.

    In a text any value may be written `name:value`; a `named` one must be. `help` has at most 100
    characters. `choices` are the values of a choice; other values match `pattern`, or that of their
    kind. `suggest` returns values to choose from, where the kind has none. A `form_only` one is
    not typed, and a `text_only` one is no field of a form. A `repeated` one may be named several
    times; commas join its values.
    """

    name: str
    help: str
    kind: Kind = Kind.WORD
    required: bool = False
    choices: tuple[str, ...] = ()
    named: bool = False
    form_only: bool = False
    text_only: bool = False
    repeated: bool = False
    pattern: str = ""
    suggest: Suggest | None = None

    def accepts(self, value: str) -> bool:
        """Return whether a value has the right form; whether it exists is another question."""
        if self.choices:
            return value.lower() in self.choices
        pattern = self.pattern or _PATTERNS.get(self.kind, r"\S+")
        return bool(re.fullmatch(pattern, value, re.IGNORECASE | re.DOTALL))

    @property
    def usage(self) -> str:
        """Return the parameter as a usage line shows it: "ROUND", "[panel:PANEL]"."""
        if self.kind is Kind.FLAG:
            shown = self.name
        else:
            value = "|".join(self.choices) or self.name.upper()
            shown = f"{self.name}:{value}" if self.named else value
            shown += " …" if self.repeated else ""
        return shown if self.required else f"[{shown}]"


option = partial(Parameter, named=True)
form_field = partial(Parameter, form_only=True)


def parse_arguments(parameters: Sequence[Parameter], text: str) -> Arguments | None:
    """Return the values by name in the text after a command; None if they do not fit.

    A value that is named need only be there: what it means is checked later.
    """
    values: dict[str, str] = {}
    at = 0
    while match := _TOKEN.search(text, at):
        at = match.end()
        parameter = _named_parameter(parameters, match)
        value = match["value"].strip('"') if parameter and match["name"] else match[0]
        if parameter is None:
            rest = text[match.start() :].strip()
            parameter = _next_positional(parameters, values, value.strip('"'), rest)
            if parameter is None:
                return None
            value = value.strip('"')
            if parameter.kind in _TAKE_THE_REST:
                value, at = rest, len(text)
        if not value or (parameter.name in values and not parameter.repeated):
            return None
        before = f"{values[parameter.name]}," if parameter.name in values else ""
        values[parameter.name] = f"{before}{value}"
    return values if all(one.name in values for one in parameters if one.required) else None


def _next_positional(
    parameters: Sequence[Parameter], values: Arguments, value: str, rest: str
) -> Parameter | None:
    """Return the first parameter without a value that accepts this one; a required one must.

    `rest` is the text from there on, as it was written: the value of some kinds.
    """
    for one in parameters:
        if one.named or one.form_only or one.kind is Kind.FLAG or one.name in values:
            continue
        if one.accepts(rest if one.kind in _TAKE_THE_REST else value):
            return one
        if one.required:
            return None
    return None


def _named_parameter(parameters: Sequence[Parameter], match: re.Match[str]) -> Parameter | None:
    """Return the parameter that a token names, as in `panel:house` or `now`."""
    wanted = (match["name"] or match[0]).lower()
    for one in parameters:
        is_typed = not one.form_only and (one.kind is Kind.FLAG) == (match["name"] is None)
        if one.name == wanted and is_typed and one.kind is not Kind.TEXT:
            return one
    return None


def has_named_value(parameters: Sequence[Parameter], text: str) -> bool:
    """Return whether a text names the value of a parameter, as in `panel:house`."""
    return any(
        match["name"] and _named_parameter(parameters, match) for match in _TOKEN.finditer(text)
    )


class UsageError(CouncilError):
    """The arguments of a command do not fit; the message shows its usage."""


def check_arguments(parameters: Sequence[Parameter], values: Arguments, usage: str) -> None:
    """Raise UsageError for a missing value, or one of the wrong form, as a form may send it."""
    for one in parameters:
        value = values.get(one.name)
        if value is None and one.required:
            raise UsageError(f"“{one.name}” is missing: {one.help}. Usage: `{usage}`")
        if value is not None and one.kind is not Kind.FLAG and not one.accepts(value):
            shown = shorten_to_line(value, 60)
            raise UsageError(f"“{shown}” does not fit {one.name}: {one.help}. Usage: `{usage}`")


def is_one_edit_away(word: str, name: str) -> bool:
    """Return whether one letter added, dropped, changed or swapped with the next gives the name."""
    if word == name:
        return True
    if abs(len(word) - len(name)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(word, name, strict=False)) if a != b), None)
    if start is None:  # one is the beginning of the other
        return True
    mine, theirs = word[start:], name[start:]
    return (
        mine[1:] == theirs[1:]
        or mine[1:] == theirs
        or mine == theirs[1:]
        or (mine[:2] == theirs[1::-1] and mine[2:] == theirs[2:])
    )
