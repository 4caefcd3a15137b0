"""Limits of Block Kit, checked independently of the renderer.

A stricter validator may replace `find_message_faults` and `find_mentions`.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from bot.chat import Post
from bot.render.pagination import paginate
from bot.slack.block_kit import fits_slack, render_ephemeral, render_message, render_text

LEAVES = {"text", "link"}
KINDS = {
    "header", "rich_text", "context", "actions", "context_actions", "plan", "table", "data_table",
    "divider",
}  # fmt: skip
MODAL_KINDS = {"header", "rich_text", "context", "actions", "divider"}
MENTIONS = re.compile(
    r"<!(?:channel|here|everyone|group|subteam|date)|<@[A-Za-z0-9]|<#[A-Za-z0-9]|@(?:channel|here|everyone)|&lt;!(?:channel|here|everyone)",
    re.IGNORECASE,
)


def find_message_faults(payload: dict[str, Any]) -> list[str]:
    """Return what Slack would refuse in a message."""
    blocks = payload.get("blocks", [])
    faults = list(_faults(blocks, KINDS))
    if not 1 <= len(payload["text"]) <= (300 if blocks else 40_000):
        faults.append(f"text of {len(payload['text'])}")
    if len(blocks) > 50:
        faults.append(f"{len(blocks)} blocks")
    if sum("table" in block["type"] for block in blocks) > 1:
        faults.append("two tables")
    if len(json.dumps(blocks, ensure_ascii=False)) > 12_000:
        faults.append("too much JSON")
    return faults


def find_post_faults(post: Post) -> list[str]:
    """Return what Slack would refuse in any form of a post's pages, and whom they would mention."""
    found = []
    for page in paginate(post, fits_slack):
        for payload in (render_message(page), render_ephemeral(page), render_text(page)):
            found += [*find_message_faults(payload), *find_mentions(payload)]
    return found


def find_page_faults(blocks: list[dict[str, Any]]) -> list[str]:
    """Return what Slack would refuse in a page of a modal."""
    faults = list(_faults(blocks, MODAL_KINDS))
    if not 1 <= len(blocks) <= 95 or len(json.dumps(blocks, ensure_ascii=False)) > 40_000:
        faults.append("too large a page")
    return faults


def find_mentions(payload: dict[str, Any]) -> list[str]:
    """Return every token that would mention somebody, even one split over several texts."""
    texts = [text for _, text in strings(payload)]
    joined = "".join(texts)
    found = [m for text in [*texts, joined] for m in MENTIONS.finditer(text)]
    kinds = {value for key, value in strings(payload) if key == "type"}
    mentions = kinds & {"user", "usergroup", "channel", "broadcast", "emoji", "image", "mrkdwn"}
    return [*(match[0] for match in found), *mentions]


def strings(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string in a payload with its key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from strings(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)


def shown_text(blocks: list[dict[str, Any]]) -> str:
    """Return the text that the blocks show, in order."""
    return "\n".join(text for key, text in strings(blocks) if key in {"text", "url"})


def _faults(blocks: list[dict[str, Any]], kinds: set[str]) -> Iterator[str]:
    for block in blocks:
        if block["type"] not in kinds:
            yield f"block {block['type']}"
        yield from _CHECKS.get(block["type"], _nothing)(block)
    actions = [text for key, text in strings(blocks) if key == "action_id"]
    if len(actions) != len(set(actions)):
        yield "action id twice"


def _rich_text(block: dict[str, Any]) -> Iterator[str]:
    if not block["elements"]:
        yield "empty rich text"
    for element in block["elements"]:
        if not element["elements"]:
            yield f"empty {element['type']}"
        if len(shown_text([element])) - _breaks(element) > 3_000:
            yield f"long {element['type']}"
        yield from _leaves(element)


def _breaks(element: dict[str, Any]) -> int:
    return sum(key in {"text", "url"} for key, _ in strings(element))


def _leaves(element: dict[str, Any]) -> Iterator[str]:
    inside = {"rich_text_list": {"rich_text_section"}}.get(element["type"], LEAVES)
    if element.get("indent", 0) > 8 or element.get("offset", 0) < 0:
        yield "indent or offset"
    for leaf in element["elements"]:
        if leaf["type"] not in inside:
            yield f"{leaf['type']} in {element['type']}"
        if leaf["type"] == "rich_text_section":
            yield from _leaves(leaf)
        elif not leaf.get("text", leaf.get("url")):
            yield "empty leaf"
        if leaf["type"] == "link" and ("text" in leaf or not leaf["url"].startswith("http")):
            yield "a link that hides where it leads"


def _table(block: dict[str, Any]) -> Iterator[str]:
    cells = [cell for row in block["rows"] for cell in row]
    if not all(cell["text"].strip() for cell in cells):
        yield "empty cell"
    if len(block["rows"]) > 100 or any(len(row) > 20 for row in block["rows"]):
        yield "large table"
    if len({len(row) for row in block["rows"]}) != 1 or sum(len(c["text"]) for c in cells) > 10_000:
        yield "uneven or long table"


def _header(block: dict[str, Any]) -> Iterator[str]:
    if not 1 <= len(block["text"]["text"]) <= 150 or block["text"]["type"] != "plain_text":
        yield "header"


def _context(block: dict[str, Any]) -> Iterator[str]:
    if not 1 <= len(block["elements"]) <= 10:
        yield "context"
    if any(not 1 <= len(element["text"]) <= 3_000 for element in block["elements"]):
        yield "text in context"


def _plan(block: dict[str, Any]) -> Iterator[str]:
    if not isinstance(block["title"], str) or not 1 <= len(block["tasks"]) <= 50:
        yield "plan"
    if any(not isinstance(task["title"], str) for task in block["tasks"]):
        yield "task title"


def _nothing(_block: dict[str, Any]) -> Iterator[str]:
    return iter(())


_CHECKS = {
    "rich_text": _rich_text,
    "table": _table,
    "data_table": _table,
    "header": _header,
    "context": _context,
    "plan": _plan,
}
