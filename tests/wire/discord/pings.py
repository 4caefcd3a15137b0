"""Find the users that a message would notify.

Pure: a payload and where it goes in, one line a ping out. The strictest reading: a mention inside
code counts too. Embeds notify nobody; text displays do.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

from tests.wire.discord.checks.message import displays

_USER = re.compile(r"<@!?(\d+)>")
_ROLE = re.compile(r"<@&(\d+)>")
_EVERYONE = re.compile(r"@(everyone|here)")

Payload = Mapping[str, Any]
Source = Literal["channel", "interaction"]


def pings_in(payload: Payload, source: Source = "channel") -> list[str]:
    """Return everyone this message would notify, as `allowed_mentions` lets it."""
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
    return kind in (allowed.get("parse") or []) or id_ in (allowed.get(kind) or [])


def _pings_author(mentions: Payload | None) -> bool:
    return mentions is None or bool(mentions.get("replied_user"))
