"""Validate messages and views as Slack does.

Pure, and written from Slack's documents alone: it knows no renderer. Lengths are counted in
characters as sent. Two limits are nowhere documented, and counted here by the strictest reading
that leaves the documented ones reachable: the text of all blocks (tables have a limit of their own)
and the items that a markdown block expands into (itself, its headings, its dividers).
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markdown_it import MarkdownIt

from tests.wire.slack.blocks.elements import INTERACTIVE
from tests.wire.slack.blocks.kit import MARKDOWN_TEXT, in_home, in_message, in_modal
from tests.wire.slack.blocks.objects import plain
from tests.wire.slack.blocks.shapes import (
    Check,
    Fault,
    all_of,
    anything,
    bad,
    flag,
    many,
    shape,
    string,
    typed,
)

MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
BLOCK_TEXT = 13_200
VIEW_BYTES = 250_000
CHARTS = 2
TABLES = ("table", "data_table")

Payload = Mapping[str, Any]

_id: dict[str, Check] = {"private_metadata": string(3000, 0), "callback_id": string(255)}
_view: dict[str, Check] = {**_id, "external_id": string(255), "type": anything}
_modal = shape(
    {"type": anything, "title": plain(24), "blocks": many(typed(in_modal), VIEW_BLOCKS)},
    {
        **_view,
        "submit": plain(24),
        "close": plain(24),
        "clear_on_close": flag,
        "notify_on_close": flag,
        "submit_disabled": flag,
    },
)
_home = shape({"type": anything, "blocks": many(typed(in_home), VIEW_BLOCKS)}, _view)
_blocks = many(typed(in_message), MESSAGE_BLOCKS, 0)


def find_message_faults(payload: Payload) -> list[Fault]:
    """Return everything that chat.postMessage would refuse in these arguments, worst first."""
    blocks = payload.get("blocks") or []
    attachments = payload.get("attachments") or []
    if not any(payload.get(name) for name in ("text", "markdown_text", "blocks", "attachments")):
        return [bad("no message text provided", "", "no_text")]
    if payload.get("markdown_text") and (payload.get("text") or blocks):
        return [bad("markdown_text excludes text and blocks", "/text", "markdown_text_conflict")]
    faults = [
        *find_block_faults(blocks),
        *_attachments(attachments),
        *_length_of(payload.get("markdown_text"), "/markdown_text"),
    ]
    return faults or list(_one_table(blocks, attachments))


def find_block_faults(blocks: object, at: str = "/blocks") -> list[Fault]:
    """Return everything in these blocks for which a message would be refused."""
    if not isinstance(blocks, list):
        return [bad("must be an array", at, "invalid_blocks_format")]
    faults = list(_blocks(blocks, at))
    return faults or [*_duplicates(blocks, at), *_together(blocks, at)]


def find_view_faults(view: object) -> list[Fault]:
    """Return everything that views.open, push, update or publish would refuse in this view."""
    at = "/view"
    kinds = {"modal": _modal, "home": _home}
    faults = list(all_of(typed(kinds))(view, at))
    if isinstance(view, dict) and not faults:
        blocks = view["blocks"]
        faults = [*_duplicates(blocks, f"{at}/blocks"), *_submits(view), *_size(view)]
    return [_of_arguments(fault) for fault in faults]


def _of_arguments(fault: Fault) -> Fault:
    return replace(fault, code="invalid_arguments") if fault.code == "invalid_blocks" else fault


def _submits(view: Payload) -> Iterator[Fault]:
    asks = any(block["type"] == "input" for block in view["blocks"])
    if view["type"] == "modal" and asks and "submit" not in view:
        yield bad("missing required field: submit", "/view")


def _size(view: Payload) -> Iterator[Fault]:
    if len(json.dumps(view, ensure_ascii=False).encode()) > VIEW_BYTES:
        yield bad("view is larger than 250 KB", "/view", "view_too_large")


def _attachments(attachments: object) -> Iterator[Fault]:
    if not isinstance(attachments, list):
        yield bad("must be an array", "/attachments", "invalid_attachments")
        return
    for place, attachment in enumerate(attachments):
        if isinstance(attachment, dict) and "blocks" in attachment:
            for fault in find_block_faults(attachment["blocks"], f"/attachments/{place}/blocks"):
                yield replace(fault, code="invalid_attachments")


def _length_of(markdown_text: object, at: str) -> Iterator[Fault]:
    if isinstance(markdown_text, str) and len(markdown_text) > MARKDOWN_TEXT:
        yield bad(f"must be less than {MARKDOWN_TEXT + 1} characters", at, "msg_too_long")


def _duplicates(blocks: Sequence[Payload], at: str) -> Iterator[Fault]:
    for name in ("block_id", "action_id"):
        seen = Counter(_all(blocks, name))
        for value, times in seen.items():
            if times > 1:
                yield bad(f"`{name}` already exists: {value}", at)


def _all(value: object, name: str) -> Iterator[str]:
    """Find every value under this key, an action's only where an element carries it."""
    if isinstance(value, Mapping):
        found = value.get(name)
        if isinstance(found, str) and (name == "block_id" or value.get("type") in INTERACTIVE):
            yield found
        for part in value.values():
            yield from _all(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from _all(part, name)


def _together(blocks: Sequence[Payload], at: str) -> Iterator[Fault]:
    """Hold all blocks of a message to the limits they share."""
    markdown = [str(block["text"]) for block in blocks if block["type"] == "markdown"]
    if sum(map(len, markdown)) > MARKDOWN_TEXT:
        message = f"no more than {MARKDOWN_TEXT} characters in all markdown blocks allowed"
        yield bad(message, at, "msg_too_long")
    if len(blocks) + sum(map(_expansions, markdown)) > MESSAGE_BLOCKS:
        yield bad(f"no more than {MESSAGE_BLOCKS} items allowed", at)
    if sum(map(text_length, blocks)) > BLOCK_TEXT:
        yield bad(f"no more than {BLOCK_TEXT} characters", at, "msg_blocks_too_long")
    if sum(block["type"] == "data_visualization" for block in blocks) > CHARTS:
        yield bad(f"no more than {CHARTS} data_visualization blocks allowed", at)


def _expansions(markdown: str) -> int:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    return sum(token.type in {"heading_open", "hr", "table_open"} for token in tokens)


def text_length(value: object) -> int:
    """Count the characters that a block shows; a table's are counted apart."""
    if isinstance(value, list):
        return sum(map(text_length, value))
    if not isinstance(value, Mapping) or value.get("type") in TABLES:
        return 0
    shown = [value.get(name) for name in ("text", "title", "label", "hint")]
    own = sum(len(part) for part in shown if isinstance(part, str))
    return own + sum(map(text_length, value.values()))


def _tables(value: object) -> Iterator[Payload]:
    if isinstance(value, list):
        for part in value:
            yield from _tables(part)
    elif isinstance(value, Mapping):
        if value.get("type") in TABLES:
            yield value
        for part in value.values():
            yield from _tables(part)


def _one_table(blocks: object, attachments: object) -> Iterator[Fault]:
    tables = [*_tables(blocks), *_tables(attachments)]
    if len(tables) > 1:
        yield bad("only_one_table_allowed", "/blocks", "invalid_attachments")
