"""Validate messages and views as Slack does.

Pure, and written from Slack's documents alone: it knows no renderer. Lengths are counted in
characters as sent. The limit of the text of all blocks is not documented; it is counted by the
strictest reading that leaves the documented limits reachable (tables have a limit of their own).
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.wire.slack.block_kit import INTERACTIVE, in_message, in_modal, plain
from tests.wire.slack.shapes import Fault, anything, bad, flag, many, shape, string, typed

MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
BLOCK_TEXT = 13_200
VIEW_BYTES = 250_000
TABLES = ("table", "data_table")

Payload = Mapping[str, Any]

_modal = shape(
    {"type": anything, "title": plain(24), "blocks": many(typed(in_modal), VIEW_BLOCKS)},
    {
        "private_metadata": string(3000, 0),
        "callback_id": string(255),
        "submit": plain(24),
        "close": plain(24),
        "clear_on_close": flag,
    },
)
_home = shape(
    {"type": anything, "blocks": many(typed(in_modal), VIEW_BLOCKS)},
    {"private_metadata": string(3000, 0), "callback_id": string(255), "external_id": string(255)},
)
_blocks = many(typed(in_message), MESSAGE_BLOCKS, 0)


def find_message_faults(payload: Payload) -> list[Fault]:
    """Return everything that chat.postMessage would refuse in these arguments, worst first."""
    blocks = payload.get("blocks") or []
    if payload.get("attachments") or payload.get("markdown_text"):
        return [bad("this fake knows neither attachments nor markdown_text", "")]
    if not payload.get("text") and not blocks:
        return [bad("no message text provided", "", "no_text")]
    if not isinstance(blocks, list):
        return [bad("must be an array", "/blocks", "invalid_blocks_format")]
    faults = list(_blocks(blocks, "/blocks"))
    return faults or [*_duplicates(blocks, "/blocks"), *_together(blocks)]


def find_view_faults(view: object) -> list[Fault]:
    """Return everything that views.open or views.update would refuse in this view."""
    faults = list(typed({"modal": _modal})(view, "/view"))
    if isinstance(view, dict) and not faults:
        faults = [*_duplicates(view["blocks"], "/view/blocks"), *_submits(view), *_size(view)]
    return _of_arguments(faults)


def find_home_faults(view: object) -> list[Fault]:
    """Return everything that views.publish would refuse in this view."""
    faults = list(typed({"home": _home})(view, "/view"))
    if isinstance(view, dict) and not faults:
        faults = [*_duplicates(view["blocks"], "/view/blocks"), *_size(view)]
    return _of_arguments(faults)


def _of_arguments(faults: list[Fault]) -> list[Fault]:
    return [
        replace(fault, code="invalid_arguments") if fault.code == "invalid_blocks" else fault
        for fault in faults
    ]


def _submits(view: Payload) -> Iterator[Fault]:
    if any(block["type"] == "input" for block in view["blocks"]) and "submit" not in view:
        yield bad("missing required field: submit", "/view")


def _size(view: Payload) -> Iterator[Fault]:
    if len(json.dumps(view, ensure_ascii=False).encode()) > VIEW_BYTES:
        yield bad("view is larger than 250 KB", "/view", "view_too_large")


def _duplicates(blocks: Sequence[Payload], at: str) -> Iterator[Fault]:
    for name in ("block_id", "action_id"):
        for value, times in Counter(_all(blocks, name)).items():
            if times > 1:
                yield bad(f"`{name}` already exists: {value}", at)


def _all(value: object, name: str) -> Iterator[str]:
    """Find every value under this key, an action's only where an element carries it."""
    if isinstance(value, Mapping):
        found = value.get(name)
        if isinstance(found, str) and (name == "block_id" or value.get("type") in INTERACTIVE):
            yield found
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _all(part, name)


def _together(blocks: Sequence[Payload]) -> Iterator[Fault]:
    """Hold all blocks of a message to the limits they share."""
    if sum(map(text_length, blocks)) > BLOCK_TEXT:
        yield bad(f"no more than {BLOCK_TEXT} characters", "/blocks", "msg_blocks_too_long")
    if sum(block["type"] in TABLES for block in blocks) > 1:
        yield bad("only_one_table_allowed", "/blocks", "invalid_attachments")


def text_length(value: object) -> int:
    """Count the characters that a block shows; a table's are counted apart."""
    if isinstance(value, list):
        return sum(map(text_length, value))
    if not isinstance(value, Mapping) or value.get("type") in TABLES:
        return 0
    shown = [value.get(name) for name in ("text", "title", "label", "hint")]
    own = sum(len(part) for part in shown if isinstance(part, str))
    return own + sum(map(text_length, value.values()))
