"""Validation of an application command. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.wire.discord.checks.shapes import (
    Check,
    Fault,
    all_of,
    choice,
    flag,
    many,
    number,
    shape,
    string,
    under,
)

TEXT = 8000
USER, MESSAGE = 2, 3
_NAME = re.compile(r"^[-_'\w]{1,32}$")

Payload = Mapping[str, Any]


def _name(value: object, at: str) -> Iterator[Fault]:
    if not isinstance(value, str) or not _NAME.match(value) or value != value.lower():
        message = "Command name is invalid"
        yield Fault(at, "APPLICATION_COMMAND_INVALID_NAME", message)


_choice = shape({"name": string(100, 1)})


def _option(value: object, at: str) -> Iterator[Fault]:
    """Options nest: a group holds subcommands, a subcommand holds what people fill in."""
    yield from _option_itself(value, at)
    if isinstance(value, dict) and value.get("options"):
        yield from many(_option, 25)(value["options"], under(at, "options"))
        yield from _order(value, at)


_option_itself = shape(
    {"type": number(1, 11), "name": _name, "description": string(100, 1)},
    {
        "required": flag,
        "autocomplete": flag,
        "choices": many(_choice, 25),
        "min_length": number(0, 6000),
        "max_length": number(1, 6000),
    },
)


def _order(value: object, at: str) -> Iterator[Fault]:
    """Required options come first, and no name comes twice."""
    options = value.get("options") if isinstance(value, dict) else None
    seen_optional, names = False, set[object]()
    for place, one in enumerate(options or []):
        spot = under(at, f"options.{place}")
        if one.get("name") in names:
            said = "Option name already used"
            yield Fault(under(spot, "name"), "APPLICATION_COMMAND_OPTIONS_NAME_INVALID", said)
        names.add(one.get("name"))
        if one.get("required") and seen_optional:
            said = "Required options must be placed before non-required options"
            code = "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID"
            yield Fault(under(spot, "required"), code, said)
        if one.get("autocomplete") and one.get("choices"):
            said = "Autocomplete may not be set with choices"
            yield Fault(spot, "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_CHOICES", said)
        seen_optional = seen_optional or not one.get("required")


_common: dict[str, Check] = {
    "nsfw": flag,
    "contexts": many(choice(0, 1, 2), 3, 1),
    "integration_types": many(choice(0, 1), 2, 1),
}
_chat = all_of(
    shape(
        {"name": _name, "description": string(100, 1)}, {**_common, "options": many(_option, 25)}
    ),
    _order,
)
_menu = shape({"name": string(32, 1)}, _common)


def faults_of_command(command: object, at: str = "") -> list[Fault]:
    kind = command.get("type") if isinstance(command, dict) else None
    check = _menu if kind in {USER, MESSAGE} else _chat
    faults = list(check(command, at))
    if not faults and isinstance(command, dict) and text_of(command) > TEXT:
        message = f"Command exceeds maximum size ({TEXT})"
        faults.append(Fault(at, "APPLICATION_COMMAND_TOO_LARGE", message))
    return faults


def text_of(value: Payload) -> int:
    """Count the characters of names, descriptions and choices, the longest of each language."""
    total = 0
    for name in ("name", "description"):
        texts = [value.get(name) or "", *(value.get(f"{name}_localizations") or {}).values()]
        total += max(len(text) for text in texts)
    if isinstance(value.get("value"), str):
        total += len(value["value"])
    inner = [*(value.get("options") or []), *(value.get("choices") or [])]
    return total + sum(text_of(one) for one in inner)
