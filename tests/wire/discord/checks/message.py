"""Validation of a message, and the users that it would notify.

Pure, and written from Discord's documents alone: it knows no renderer. Lengths are counted in
characters as sent. An edit is checked as the message it would leave behind.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from tests.wire.discord.checks.components import TEXT, duplicates, in_message, in_old_message, walk
from tests.wire.discord.checks.shapes import Fault, choice, flag, many, number, shape, string, typed

CONTENT = 2000
COMPONENTS = 40
DISPLAYED = 4000
DISPLAYED_BYTES = 10_170
BYTES_PER_DISPLAY = 12
V2 = 1 << 15

Payload = Mapping[str, Any]
Source = Literal["channel", "interaction"]

_USER = re.compile(r"<@!?(\d+)>")
_ROLE = re.compile(r"<@&(\d+)>")
_EVERYONE = re.compile(r"@(everyone|here)")


def _snowflake(value: object, at: str) -> Iterator[Fault]:
    """Discord takes ids that are numbers for strings; its document does not say so."""
    yield from string(20, 1)(str(value) if isinstance(value, int) else value, at)


_mentions = shape(
    {},
    {
        "parse": many(choice("users", "roles", "everyone"), 3),
        "users": many(_snowflake, 100),
        "roles": many(_snowflake, 100),
        "replied_user": flag,
    },
)
_fields = shape(
    {},
    {
        "content": string(CONTENT),
        "nonce": string(25),
        "tts": flag,
        "flags": number(0, 2**31 - 1),
        "allowed_mentions": _mentions,
        "attachments": many(shape({}, {"description": string(1024)}), 10),
    },
)


def faults_of_message(payload: Payload, files: Sequence[str] = ()) -> list[Fault]:
    """Return everything Discord would refuse in this message; `files` are those it has already."""
    given = {**payload, "nonce": _as_text(payload.get("nonce"))}
    faults = [*_fields(given, ""), *_two_ways(given)]
    uses_v2 = bool((payload.get("flags") or 0) & V2)
    kinds, most = (in_message, COMPONENTS) if uses_v2 else (in_old_message, 5)
    components = payload.get("components") or []
    faults += many(typed(kinds), most)(components, "components")
    faults += _excluded(payload, is_new=uses_v2)
    if faults:
        return faults
    faults = [*duplicates(components), *_counted(components), *_unattached(payload, files)]
    return faults or list(_size(components))


def is_empty(payload: Payload) -> bool:
    names = ("content", "embeds", "components", "attachments", "sticker_ids", "poll")
    return not any(payload.get(name) for name in names)


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) else value


def _excluded(payload: Payload, *, is_new: bool) -> Iterator[Fault]:
    """Nothing of the old kind goes into a message of the new kind; this fake knows no embeds."""
    for name in ("content", "embeds", "poll", "sticker_ids") if is_new else ("embeds",):
        if payload.get(name):
            message = f"The '{name}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
            yield Fault(name, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", message)


def _two_ways(payload: Payload) -> Iterator[Fault]:
    mentions = payload.get("allowed_mentions")
    if not isinstance(mentions, dict):
        return
    for name in ("users", "roles"):
        if name in (mentions.get("parse") or []) and mentions.get(name):
            said = f"parse:[{name!r}] and {name}: [ids...] are mutually exclusive."
            yield Fault("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", said)


def _counted(components: object) -> Iterator[Fault]:
    every = [one for _, one in walk(components)]
    if len(every) > COMPONENTS:
        said = f"The total number of components in a message exceeded {COMPONENTS}"
        yield Fault("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", said)
    shown = sum(len(text) for text in displays(components))
    if shown > DISPLAYED:
        said = f"The displayable text size {shown} exceeds the maximum of {DISPLAYED}"
        yield Fault("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", said)


def displays(components: object) -> list[str]:
    return [str(one["content"]) for _, one in walk(components) if one.get("type") == TEXT]


def _size(components: object) -> Iterator[Fault]:
    """Discord breaks over a text of too many bytes; it does not refuse it."""
    texts = displays(components)
    size = sum(len(text.encode()) for text in texts) + BYTES_PER_DISPLAY * len(texts)
    if size > DISPLAYED_BYTES:
        yield Fault("components", "INTERNAL", f"{size} bytes > {DISPLAYED_BYTES}", 500)


def referenced(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for part in value:
            yield from referenced(part)
    elif isinstance(value, Mapping):
        url = value.get("url")
        if isinstance(url, str) and url.startswith("attachment://"):
            yield url.removeprefix("attachment://")
        for part in value.values():
            yield from referenced(part)


def _unattached(payload: Payload, files: Sequence[str]) -> Iterator[Fault]:
    sent = [str(one.get("filename")) for one in payload.get("attachments") or []]
    for wanted in referenced(payload.get("components")):
        if wanted not in {*sent, *files}:
            message = f"The referenced attachment {wanted!r} was not found"
            code = "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND"
            yield Fault("components", code, message)


def pings_in(payload: Payload, source: Source = "channel") -> list[str]:
    """Return everyone this message would notify, as `allowed_mentions` lets it.

    The strictest reading: a mention inside code counts too. Embeds notify nobody.
    """
    text = "\n".join([str(payload.get("content") or ""), *displays(payload.get("components"))])
    mentions = payload.get("allowed_mentions")
    allowed = _usual(source) if mentions is None else mentions
    found = [f"<@{one}>" for one in _USER.findall(text) if _lets(allowed, "users", one)]
    found += [f"<@&{one}>" for one in _ROLE.findall(text) if _lets(allowed, "roles", one)]
    if "everyone" in (allowed.get("parse") or []):
        found += [f"@{one}" for one in _EVERYONE.findall(text)]
    if payload.get("message_reference") and _pings_author(mentions):
        found.append("the author replied to")
    return found


def _usual(source: Source) -> Payload:
    """What is let through when nothing is said: all in a channel, users in an interaction."""
    return {"parse": ["users", "roles", "everyone"] if source == "channel" else ["users"]}


def _lets(allowed: Payload, kind: str, id_: str) -> bool:
    return kind in (allowed.get("parse") or []) or id_ in map(str, allowed.get(kind) or [])


def _pings_author(mentions: Payload | None) -> bool:
    return mentions is None or bool(mentions.get("replied_user"))
