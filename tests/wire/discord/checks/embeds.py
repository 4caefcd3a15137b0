"""Validation of embeds."""

from collections.abc import Iterator
from typing import Any

from tests.wire.discord.checks.shapes import Check, Fault, flag, many, number, shape, string, under

ALL_TEXT = 6000

_picture: Check = shape({"url": string(2048, 1)})
embed = shape(
    {},
    {
        "title": string(256),
        "description": string(4096),
        "url": string(2048),
        "color": number(0, 0xFFFFFF),
        "footer": shape({"text": string(2048, 1)}),
        "author": shape({"name": string(256, 1)}),
        "image": _picture,
        "thumbnail": _picture,
        "fields": many(
            shape({"name": string(256, 1), "value": string(1024, 1)}, {"inline": flag}), 25
        ),
    },
)
embeds = many(embed, 10)


def text_length(one: dict[str, Any]) -> int:
    """Count what of an embed counts: title, description, fields, footer and author."""
    texts = [one.get("title"), one.get("description")]
    texts += [(one.get("footer") or {}).get("text"), (one.get("author") or {}).get("name")]
    for part in one.get("fields") or []:
        texts += [part.get("name"), part.get("value")]
    return sum(len(text) for text in texts if isinstance(text, str))


def together(given: list[dict[str, Any]], at: str = "embeds") -> Iterator[Fault]:
    """Yield a fault if all embeds of a message together are too long."""
    total = 0
    for place, one in enumerate(given):
        total += text_length(one)
        if total > ALL_TEXT:
            message = f"Embed size exceeds maximum size of {ALL_TEXT}"
            yield Fault(under(at, place), "MAX_EMBED_SIZE_EXCEEDED", message)
            return
