"""Find what in a message would notify users, hide where a link leads, or fetch a page.

Pure: a payload of chat.postMessage or chat.update in, one line a finding out, in reading order.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_ENTITY = re.compile(r"<([!@#][^<>\n]+)>")
_SLACK_LINK = re.compile(r"<((?:https?|mailto|ftp|tel):[^<>|\n]*)\|([^<>\n]*)>")
_BARE = re.compile(r"(?<![\w<!])@(channel|here|everyone)\b")
_BARE_NAME = re.compile(r"(?<![\w<!@.])@([a-z0-9][\w.-]*)", re.IGNORECASE)
_NAMING_PARSES = {"full", "client"}
_MENTIONS = {
    "broadcast": "range",
    "user": "user_id",
    "usergroup": "usergroup_id",
    "channel": "channel_id",
}

Payload = Mapping[str, Any]


def find_mentions(payload: Payload, method: str = "chat.postMessage") -> list[str]:
    """Return every notification, hidden link and unfurled URL of this message."""
    text = str(payload.get("text") or "")
    found = [*_in_text(text), *_in_blocks(payload.get("blocks"))]
    if _names_people(payload, method):
        found += _bare_names(text)
    return [*found, *(_unfurls(payload) if method == "chat.postMessage" else ())]


def _in_text(text: str) -> Iterator[str]:
    for match in _ENTITY.finditer(text):
        if not match[1].startswith("!date^"):
            yield f"<{match[1]}>"
    for url, label in _SLACK_LINK.findall(text):
        if _differs(label, url):
            yield f"link {label!r} leads to {url}"


def _differs(label: str, url: str) -> bool:
    return label.strip() != url and label.strip() != url.removeprefix("mailto:")


def _in_blocks(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for part in value:
            yield from _in_blocks(part)
    elif isinstance(value, Mapping):
        yield from _in_object(value)
        for part in value.values():
            yield from _in_blocks(part)


def _in_object(value: Payload) -> Iterator[str]:
    kind, text = value.get("type"), value.get("text")
    if kind in _MENTIONS and _MENTIONS[kind] in value:
        yield f"{kind} {value[_MENTIONS[kind]]}"
    elif kind == "mrkdwn" and isinstance(text, str):
        yield from _in_text(text)
        if value.get("verbatim") is not True:  # Slack then parses "certain mentions" by itself
            yield from _bare_broadcasts(text)
    elif kind == "link" and isinstance(text, str) and _differs(text, str(value.get("url"))):
        yield f"link {text!r} leads to {value.get('url')}"


def _names_people(payload: Payload, method: str) -> bool:
    usual = "client" if method == "chat.update" else "none"
    linked = str(payload.get("link_names", "")).lower() in {"true", "1"}
    return linked or (payload.get("parse") or usual) in _NAMING_PARSES


def _bare_broadcasts(text: str) -> Iterator[str]:
    for match in _BARE.finditer(text):
        yield f"@{match[1]}"


def _bare_names(text: str) -> Iterator[str]:
    yield from _bare_broadcasts(text)
    for match in _BARE_NAME.finditer(text):
        if match[1] not in {"channel", "here", "everyone"}:
            yield f"name @{match[1]}"


def _unfurls(payload: Payload) -> Iterator[str]:
    for name in ("unfurl_links", "unfurl_media"):
        if str(payload.get(name, "")).lower() not in {"false", "0"}:
            yield f"{name} not switched off"
