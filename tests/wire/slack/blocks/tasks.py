"""Plans and their task cards: bare titles, and nothing pending outside a plan."""

from collections.abc import Iterator

from tests.wire.slack.blocks.objects import block_id, url
from tests.wire.slack.blocks.rich_text import rich_text
from tests.wire.slack.blocks.shapes import (
    Check,
    Fault,
    all_of,
    anything,
    bad,
    choice,
    many,
    shape,
    string,
    typed,
)

_title = string(256)  # measured for the chunks of a stream; Slack documents none for blocks
_rich = typed({"rich_text": rich_text})
_source = typed({"url": shape({"type": anything, "url": url, "text": string(256)})})
_task = shape(
    {
        "type": anything,
        "task_id": string(255),
        "title": _title,
        "status": choice("pending", "in_progress", "complete", "error"),
    },
    {"details": _rich, "output": _rich, "sources": many(_source, 50, 0), "block_id": block_id},
)


def _begun(value: object, at: str) -> Iterator[Fault]:
    if isinstance(value, dict) and value.get("status") == "pending":
        yield bad("pending is only allowed inside a plan", f"{at}/status")


def _own_ids(value: object, at: str) -> Iterator[Fault]:
    tasks = value.get("tasks") if isinstance(value, dict) else None
    ids = [task.get("task_id") for task in tasks or [] if isinstance(task, dict)]
    if len(ids) != len(set(map(str, ids))):
        yield bad("task_id must be unique", f"{at}/tasks")


task_card: Check = all_of(_task, _begun)
plan: Check = all_of(
    shape(
        {"type": anything, "title": _title},
        {"tasks": many(typed({"task_card": _task}), 50, 0), "block_id": block_id},
    ),
    _own_ids,
)
