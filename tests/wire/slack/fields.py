"""Interactive elements: what a user can click or fill in, and the value Slack sends for it.

A person cannot do what Slack's own client prevents: click what is not there, leave a required field
empty, choose what is not offered. A test that tries fails with an AssertionError.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Payload = dict[str, Any]

_FEEDBACK = ("positive", "negative")


def elements_in(value: object, block_id: str = "") -> Iterator[tuple[str, Payload]]:
    """Yield every element that has an action_id, with the id of its block."""
    if isinstance(value, list):
        for part in value:
            yield from elements_in(part, block_id)
    elif isinstance(value, dict):
        own = str(value.get("block_id", block_id))
        if "action_id" in value:
            yield own, value
        for part in value.values():
            yield from elements_in(part, own)


def element(blocks: list[Payload], action_id: str) -> tuple[str, Payload]:
    """Find what is clicked, or fail: there is no such thing on the screen."""
    found = [pair for pair in elements_in(blocks) if pair[1]["action_id"] == action_id]
    there = sorted(str(one["action_id"]) for _, one in elements_in(blocks))
    assert found, f"nobody can click {action_id!r}: there is {there}"
    return found[0]


def action(block_id: str, clicked: Payload, value: str | None, at: float) -> Payload:
    """Write one action: this element was clicked, or set to this value."""
    common = {
        "type": clicked["type"],
        "action_id": clicked["action_id"],
        "block_id": block_id,
        "action_ts": f"{at:.6f}",
    }
    match clicked["type"]:
        case "button":
            shows = {name: clicked[name] for name in ("value", "text") if name in clicked}
            return common | shows
        case "feedback_buttons":
            assert value in _FEEDBACK, f"feedback is one of {_FEEDBACK}, not {value!r}"
            chosen = clicked[f"{value}_button"]
            return common | {"value": chosen["value"], "text": chosen["text"]}
        case _:
            return common | entered(clicked, value)


def entered(field: Payload, value: object) -> Payload:
    match field["type"]:
        case "static_select" | "radio_buttons" | "overflow":
            return {"selected_option": None if value is None else _option(field, value)}
        case "conversations_select":
            return {"selected_conversation": value}
        case "multi_users_select":
            return {"selected_users": value or []}
        case "file_input":
            return {"files": value or []}
    return {"value": value}


def _option(field: Payload, value: object) -> Payload:
    offered: list[Payload] = field.get("options", [])
    found = [one for one in offered if one["value"] == value]
    assert found, f"nobody can choose {value!r}: there is {[one['value'] for one in offered]}"
    return found[0]


def initial(field: Payload) -> object:
    if field.get("initial_option"):
        return field["initial_option"]["value"]
    return field.get("initial_value", field.get("initial_conversation", field.get("initial_users")))


def form(view: Payload, given: Mapping[str, object]) -> Payload:
    """Fill in a modal: values by block_id or action_id, the rest as it stood; fail if it cannot."""
    inputs = [block for block in view["blocks"] if block["type"] == "input"]
    names = {name for block in inputs for name in (block["block_id"], _action_id(block))}
    assert set(given) <= names, f"there is no field {set(given) - names}: there is {names}"
    values: Payload = {}
    for block in inputs:
        field = block["element"]
        value = given.get(block["block_id"], given.get(_action_id(block), initial(field)))
        _possible(block, value)
        shown = {"type": field["type"], **entered(field, value or None)}
        values[block["block_id"]] = {_action_id(block): shown}
    return values


def _action_id(block: Payload) -> str:
    return str(block["element"]["action_id"])


def _possible(block: Payload, value: object) -> None:
    name, field = block["block_id"], block["element"]
    assert value or block.get("optional"), f"the field {name!r} must not be empty"
    if isinstance(value, str) and value and field["type"] == "plain_text_input":
        most, least = field.get("max_length", 3000), field.get("min_length", 0)
        assert least <= len(value) <= most, f"the field {name!r} takes {least} to {most} characters"
    if isinstance(value, list) and field["type"] == "file_input":
        assert len(value) <= field.get("max_files", 10), f"the field {name!r} takes fewer files"
