"""What Discord would refuse in a rendered message, whom it would notify, and its texts."""

import re
from collections.abc import Iterator
from typing import Any

from bot.discord.components import Message, allowed_mentions
from tests.wire.discord import faults_of_message

TEXT, ROW, BUTTON, CONTAINER = 10, 1, 2, 17
PINGS = re.compile(
    r"@(?:everyone|here)|<@[!&]?\d|<#\d|<a?:\w+:\d|</[^:>\n]+:\d|<t:-?\d|<id:\w|<sound:"
    r"|discord\.(?:gg|gift)/|discord(?:app)?\.com/invite|discord://",
    re.IGNORECASE,
)

Component = dict[str, Any]


def components_of(message: Message) -> list[Component]:
    """Return the components as discord.py sends them."""
    return [item.to_component_dict() for item in message.items]


def payload_of(message: Message) -> Component:
    return {
        "components": components_of(message),
        "flags": 1 << 15,
        "allowed_mentions": allowed_mentions(message).to_dict(),
    }


def message_faults(message: Message) -> list[str]:
    faults = faults_of_message(payload_of(message), [file.name for file in message.files])
    said = texts(components_of(message))
    heavy = sum(len(text.encode()) + 12 for text in said) > 10_000
    return [*map(str, faults), *(["too many bytes"] if heavy else [])]


def find_pings(payload: Component) -> list[str]:
    found = [match[0] for text in _strings(payload) for match in PINGS.finditer(text)]
    return found + (["mentions"] if payload["allowed_mentions"] != {"parse": []} else [])


def texts(components: object) -> list[str]:
    return [str(one["content"]) for one in _walk(components) if one["type"] == TEXT]


def _walk(components: object) -> Iterator[Component]:
    for one in components if isinstance(components, list | tuple) else ():
        yield one
        yield from _walk(one.get("components"))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
