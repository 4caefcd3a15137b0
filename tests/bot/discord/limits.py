"""An independent check of Discord's message limits, and the texts of a message."""

import re
from collections.abc import Iterator
from typing import Any

from bot.discord.components import Message, allowed_mentions

TEXT, ROW, BUTTON, GALLERY, FILE, CONTAINER = 10, 1, 2, 12, 13, 17
AT_THE_TOP = {TEXT, ROW, GALLERY, FILE, CONTAINER}
PINGS = re.compile(
    r"@(?:everyone|here)|<@[!&]?\d|<#\d|<a?:\w+:\d|</[^:>\n]+:\d|<t:-?\d|<id:\w|<sound:"
    r"|discord\.(?:gg|gift)/|discord(?:app)?\.com/invite|discord://",
    re.IGNORECASE,
)

Component = dict[str, Any]


def payload_of(message: Message) -> Component:
    """Return the JSON that Discord receives for a message."""
    return {
        "components": list(message.components),
        "flags": 1 << 15,
        "allowed_mentions": allowed_mentions(message).to_dict(),
    }


def message_faults(payload: Component) -> list[str]:
    """Return what Discord would refuse in a message."""
    return list(_faults(payload))


def find_pings(payload: Component) -> list[str]:
    """Return every mention and every link with a preview in a payload."""
    found = [match[0] for text in _strings(payload) for match in PINGS.finditer(text)]
    return found + (["mentions"] if payload["allowed_mentions"] != {"parse": []} else [])


def texts(components: object) -> list[str]:
    """Return the texts of a message in order."""
    return [str(one["content"]) for one in _walk(components) if one["type"] == TEXT]


def _faults(payload: Component) -> Iterator[str]:
    every = list(_walk(payload["components"]))
    if not 1 <= len(every) <= 40:
        yield f"{len(every)} components"
    if payload["flags"] != 1 << 15 or payload.keys() - {"components", "flags", "allowed_mentions"}:
        yield "not a message of components"
    if any(one["type"] not in AT_THE_TOP for one in payload["components"]):
        yield "a component out of place"
    ids = [one["custom_id"] for one in every if one["type"] == BUTTON]
    if len(set(ids)) < len(ids):
        yield "one custom id twice"
    yield from _faults_of_texts(texts(payload["components"]))
    for one in every:
        yield from _faults_of(one)


def _faults_of_texts(said: list[str]) -> Iterator[str]:
    if not all(text.strip() for text in said):
        yield "an empty text"
    if sum(map(len, said)) > 4_000:
        yield f"{sum(map(len, said))} characters"
    if sum(len(text.encode()) + 12 for text in said) > 10_000:
        yield "too many bytes"


def _faults_of(one: Component) -> Iterator[str]:
    inside = one.get("components", ())
    if one["type"] == ROW and not 1 <= len(inside) <= 5:
        yield f"a row of {len(inside)}"
    if one["type"] == CONTAINER and not inside:
        yield "an empty container"
    if one["type"] == BUTTON and not (
        1 <= len(one["label"]) <= 80 and 1 <= len(one["custom_id"]) <= 100
    ):
        yield "a button"


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
