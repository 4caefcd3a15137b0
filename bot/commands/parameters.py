"""Typed command parameters: parse the text after a command's name, or check a form's values.

Slack, mentions and the terminal give text; Discord gives values. Pure: knows no chat, no command.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

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
    SUITE = "suite"
    BAKEOFF = "bakeoff"
    SCHEDULE = "schedule"
    LABEL = "label"  # of an answer in a round
    TOPIC = "topic"  # the name of a command
    CHANNEL = "channel"
    MONEY = "money"  # "$1.50"
    DATE = "date"  # "30d" or "2026-11-01"
    FILE = "file"  # only in forms; text has the file beside it


_PATTERNS = {
    Kind.TEXT: r".+",
    Kind.NUMBER: r"[1-9]\d{0,2}",
    Kind.ROUND: ROUND_PATTERN,
    Kind.BAKEOFF: r"last|[\w:.@-]+",
    Kind.SUITE: r"[\w.+-]+(?:@[0-9a-f]+)?",
    Kind.LABEL: r"[a-z]",
    Kind.MONEY: r"\$?\d+(?:\.\d+)?\$?",
}
_TOKEN = re.compile(r'(?P<name>[a-z_]+):(?P<value>"[^"]*"|\S+)|"[^"]*"|\S+', re.IGNORECASE)

Arguments = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a command.

    In a text any value may be written `name:value`; a `named` one must be. `help` has at most 100
    characters. `choices` are the values of a choice.
    """

    name: str
    help: str
    kind: Kind = Kind.WORD
    required: bool = False
    choices: tuple[str, ...] = ()
    named: bool = False

    def accepts(self, value: str) -> bool:
        """Return whether a value has the right form; whether it exists is another question."""
        if self.choices:
            return value.lower() in self.choices
        pattern = _PATTERNS.get(self.kind, r"\S+")
        return bool(re.fullmatch(pattern, value, re.IGNORECASE | re.DOTALL))

    @property
    def usage(self) -> str:
        """Return the parameter as a usage line shows it: "ROUND", "[panel:PANEL]"."""
        if self.kind is Kind.FLAG:
            shown = self.name
        else:
            value = "|".join(self.choices) or self.name.upper()
            shown = f"{self.name}:{value}" if self.named else value
        return shown if self.required else f"[{shown}]"


def parse_arguments(parameters: Sequence[Parameter], text: str) -> Arguments | None:
    """Return the values by name in the text after a command; None if they do not fit."""
    values: dict[str, str] = {}
    places = [one for one in parameters if not one.named and one.kind not in {Kind.FLAG, Kind.FILE}]
    at = 0
    while match := _TOKEN.search(text, at):
        at = match.end()
        named = _named_parameter(parameters, match)
        if named:
            value = named.name if named.kind is Kind.FLAG else match["value"].strip('"')
        elif places:
            named = next((one for one in places if one.name not in values), None)
            if named is None:
                return None
            places.remove(named)
            if named.kind is Kind.TEXT:  # the rest, as it was written
                value, at = text[match.start() :].strip(), len(text)
            else:
                value = match[0].strip('"')
        else:
            return None
        if named.name in values or (named.kind is not Kind.FLAG and not named.accepts(value)):
            return None
        values[named.name] = value
    return values if has_required(parameters, values) else None


def _named_parameter(parameters: Sequence[Parameter], match: re.Match[str]) -> Parameter | None:
    """Return the parameter that a token names, as in `panel:house` or `now`."""
    if match["name"]:
        wanted = match["name"].lower()
        named = (one for one in parameters if one.kind not in {Kind.TEXT, Kind.FLAG, Kind.FILE})
        return next((one for one in named if one.name == wanted), None)
    wanted = match[0].lower()
    return next((one for one in parameters if one.kind is Kind.FLAG and one.name == wanted), None)


def has_required(parameters: Sequence[Parameter], values: Arguments) -> bool:
    """Return whether every required parameter has a value."""
    return all(values.get(one.name) for one in parameters if one.required)


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
