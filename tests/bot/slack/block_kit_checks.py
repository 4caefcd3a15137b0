"""What Slack would refuse in rendered posts, whom it would notify, and what people read."""

import json
import re
from collections.abc import Iterator
from typing import Any

from bot.chat import Post
from bot.render.pagination import paginate
from bot.slack.block_kit import fits_slack, render_ephemeral, render_message, render_text
from tests.wire.slack import checks

MENTIONS = re.compile(
    r"<!(?:channel|here|everyone|group|subteam|date)|<@[A-Za-z0-9]|<#[A-Za-z0-9]|@(?:channel|here|everyone)|&lt;!(?:channel|here|everyone)",
    re.IGNORECASE,
)


# What Slack's client makes of mrkdwn, read generously.
_CODE = re.compile(r"[`\uff40]([^`\uff40\n]+)[`\uff40]")
_FORMATS = {
    "bold": re.compile(r"[*\uff0a]([^*\uff0a\n]+)[*\uff0a]"),
    "italic": re.compile(r"(?<![^\W_])[_\uff3f]([^\n]+?)[_\uff3f](?![^\W_])"),
    "strike": re.compile(r"~([^~\n]+)~"),
    "emoji": re.compile(r":([a-z0-9_+'-]+):", re.IGNORECASE),
    "quote": re.compile(r"^\s*((?:&gt;|>|\uff1e).*)", re.MULTILINE),
    "markup": re.compile(r"([<>])"),
}


def formatted_spans(mrkdwn: str) -> list[tuple[str, str]]:
    """Return what Slack shows formatted in mrkdwn, by its kind, in the order of kinds."""
    spans = [("code", match[1]) for match in _CODE.finditer(mrkdwn)]
    rest = _CODE.sub("\0", mrkdwn)
    for kind, pattern in _FORMATS.items():
        spans += [(kind, match[1]) for match in pattern.finditer(rest)]
    return spans


def find_formatting(value: object) -> list[str]:
    """Return what is formatted in mrkdwn other than code and strong words, or is not verbatim."""
    found: list[str] = []
    if isinstance(value, dict):
        if value.get("type") == "mrkdwn":
            spans = formatted_spans(value["text"])
            found += [f"{kind} {words}" for kind, words in spans if kind not in {"code", "bold"}]
            found += [] if value.get("verbatim") is True else ["not verbatim"]
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            found += find_formatting(inner)
    return found


def find_message_faults(payload: dict[str, Any]) -> list[str]:
    blocks = payload.get("blocks", [])
    faults = [*map(str, checks.find_message_faults(payload))]
    if not 1 <= len(payload["text"]) <= (300 if blocks else 40_000):
        faults.append(f"text of {len(payload['text'])}")
    if len(json.dumps(blocks, ensure_ascii=False)) > 12_000:
        faults.append("too much JSON")
    return faults


def find_post_faults(post: Post) -> list[str]:
    found = []
    for page in paginate(post, fits_slack):
        for payload in (render_message(page), render_ephemeral(page), render_text(page)):
            found += [*find_message_faults(payload), *find_mentions(payload)]
    return found


def find_page_faults(blocks: list[dict[str, Any]]) -> list[str]:
    title = {"type": "plain_text", "text": "Answers"}
    view = {"type": "modal", "title": title, "blocks": blocks}
    faults = [*map(str, checks.find_view_faults(view))]
    if not 1 <= len(blocks) <= 95 or len(json.dumps(blocks, ensure_ascii=False)) > 40_000:
        faults.append("too large a page")
    return faults


def find_mentions(payload: dict[str, Any]) -> list[str]:
    """Return every token that would mention somebody, even one split over several texts."""
    texts = [text for _, text in strings(payload)]
    joined = "".join(texts)
    found = [m for text in [*texts, joined] for m in MENTIONS.finditer(text)]
    kinds = {value for key, value in strings(payload) if key == "type"}
    mentions = kinds & {"user", "usergroup", "channel", "broadcast", "emoji", "image"}
    return [*(match[0] for match in found), *mentions, *find_formatting(payload)]


def strings(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from strings(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)


def shown_text(blocks: list[dict[str, Any]]) -> str:
    return "\n".join(text for key, text in strings(blocks) if key in {"text", "url"})
