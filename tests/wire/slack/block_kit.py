"""The blocks and elements that the product uses, and the surfaces on which they may stand.

A type that is not here is refused as unsupported; that is stricter than Slack.
"""

from collections.abc import Iterator

from tests.wire.slack.shapes import (
    Check,
    Fault,
    all_of,
    anything,
    bad,
    choice,
    flag,
    many,
    number,
    one_key_of,
    shape,
    string,
    typed,
)

TABLE_TEXT = 10_000
DATA_TABLE_TEXT = 20_000
_MANY = 10_000  # where Slack names no limit but that of the whole message

_url = string(3000)
_ids: dict[str, Check] = {"block_id": string(255)}
_action_id: dict[str, Check] = {"action_id": string(255)}


# --- Composition objects


def plain(most: int) -> Check:
    """Accept a plain_text object of at most so many characters."""
    return typed({"plain_text": _plain_text(most)})


def _text(most: int) -> Check:
    mrkdwn = shape({"type": anything, "text": string(most)}, {"verbatim": flag})
    return typed({"plain_text": _plain_text(most), "mrkdwn": mrkdwn})


def _plain_text(most: int) -> Check:
    return shape({"type": anything, "text": string(most)}, {"emoji": flag})


def _option(label: Check) -> Check:
    return shape({"text": label, "value": string(150)}, {"description": _text(75)})


_confirm = shape(
    {"title": plain(100), "text": _text(300), "confirm": plain(30), "deny": plain(30)},
    {"style": choice("primary", "danger")},
)


# --- Interactive elements


def _element(required: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    common: dict[str, Check] = {**_action_id, "focus_on_load": flag, "confirm": _confirm}
    return shape({"type": anything, **required}, {**common, **(optional or {})})


_placeholder: dict[str, Check] = {"placeholder": plain(150)}
_button = shape(
    {"type": anything, "text": plain(75)},
    {
        **_action_id,
        "url": _url,
        "value": string(2000),
        "style": choice("primary", "danger"),
        "confirm": _confirm,
        "accessibility_label": string(75),
    },
)
_conversations_select = {
    **_placeholder,
    "response_url_enabled": flag,
    "default_to_current_conversation": flag,
    "initial_conversation": anything,
    "filter": anything,
}
_chosen: dict[str, Check] = {
    "static_select": _element(
        {"options": many(_option(plain(75)), 100)}, {**_placeholder, "initial_option": anything}
    ),
    "conversations_select": _element({}, _conversations_select),
    "multi_users_select": _element(
        {},
        {
            **_placeholder,
            "initial_users": many(string(255), 100),
            "max_selected_items": number(1, 100),
        },
    ),
    "radio_buttons": _element(
        {"options": many(_option(_text(75)), 10)}, {"initial_option": anything}
    ),
}
_overflow = _element({"options": many(_option(plain(75)), 5, 2)})
_in_actions: dict[str, Check] = {"button": _button, "overflow": _overflow, **_chosen}
_plain_text_input = _element(
    {},
    {
        **_placeholder,
        "dispatch_action_config": anything,
        "initial_value": string(3000, 0),
        "multiline": flag,
        "min_length": number(0, 3000),
        "max_length": number(1, 3000),
    },
)
_file_input = _element({}, {"filetypes": many(string(50), 100), "max_files": number(1, 10)})
_in_input: dict[str, Check] = {
    **_chosen,
    "plain_text_input": _plain_text_input,
    "file_input": _file_input,
}
_feedback_button = shape(
    {"text": plain(75), "value": string(2000)}, {"accessibility_label": string(75)}
)
_in_context_actions: dict[str, Check] = {
    "feedback_buttons": shape(
        {
            "type": anything,
            "positive_button": _feedback_button,
            "negative_button": _feedback_button,
        },
        _action_id,
    )
}
INTERACTIVE = frozenset({*_in_actions, *_in_input, *_in_context_actions})


# --- Rich text


_text_style = shape({}, dict.fromkeys(("bold", "italic", "strike", "code", "underline"), flag))
_mention_style = shape({}, dict.fromkeys(("bold", "italic", "strike", "highlight"), flag))
_border: dict[str, Check] = {"border": number(0, 1)}


def _mention(name: str, check: Check) -> Check:
    return shape({"type": anything, name: check}, {"style": _mention_style})


_words: dict[str, Check] = {
    "text": shape({"type": anything, "text": string(13_200)}, {"style": _text_style}),
    "link": shape(
        {"type": anything, "url": _url},
        {"text": string(3000), "unsafe": flag, "style": _text_style},
    ),
}
_inline = typed(
    {
        **_words,
        "user": _mention("user_id", string(30)),
        "usergroup": _mention("usergroup_id", string(30)),
        "channel": _mention("channel_id", string(30)),
        "broadcast": _mention("range", choice("here", "channel", "everyone")),
    }
)
_section = shape({"type": anything, "elements": many(_inline, _MANY)})
_in_rich_text: dict[str, Check] = {
    "rich_text_section": _section,
    "rich_text_list": shape(
        {
            "type": anything,
            "style": choice("bullet", "ordered"),
            "elements": many(typed({"rich_text_section": _section}), _MANY),
        },
        {"indent": number(0, 8), "offset": number(0), **_border},
    ),
    "rich_text_preformatted": shape(
        {"type": anything, "elements": many(typed(_words), _MANY)},
        {"language": string(255), **_border},
    ),
    "rich_text_quote": shape({"type": anything, "elements": many(_inline, _MANY)}, _border),
}
_rich_text = shape({"type": anything, "elements": many(typed(_in_rich_text), _MANY)}, _ids)


# --- Tables


_cell = typed(
    {
        "raw_text": shape({"type": anything, "text": string(DATA_TABLE_TEXT)}),
        "raw_number": shape(
            {"type": anything, "value": number(whole=False), "text": string(DATA_TABLE_TEXT)}
        ),
        "rich_text": _rich_text,
    }
)
_column = shape({}, {"align": choice("left", "center", "right"), "is_wrapped": flag})


def cell_text(value: object) -> int:
    """Count the characters in all cells of a table."""
    if isinstance(value, dict):
        own = value.get("text")
        inner = sum(cell_text(part) for name, part in value.items() if name != "text")
        return inner + (len(own) if isinstance(own, str) else 0)
    return sum(map(cell_text, value)) if isinstance(value, list) else 0


def _text_within(most: int) -> Check:
    def check(value: object, at: str) -> Iterator[Fault]:
        if isinstance(value, dict) and cell_text(value.get("rows")) > most:
            yield bad(f"no more than {most} characters in all cells allowed", f"{at}/rows")

    return check


def _rows_of(value: object) -> list[list[object]]:
    rows = value.get("rows") if isinstance(value, dict) else None
    return [row for row in rows if isinstance(row, list)] if isinstance(rows, list) else []


def _even(value: object, at: str) -> Iterator[Fault]:
    if len({len(row) for row in _rows_of(value)}) > 1:
        yield bad("all rows must have the same number of cells", f"{at}/rows")


def _plain_header(value: object, at: str) -> Iterator[Fault]:
    for place, cell in enumerate(_rows_of(value)[0] if _rows_of(value) else []):
        if isinstance(cell, dict) and cell.get("type") == "rich_text":
            yield bad("rich_text is not allowed in the header row", f"{at}/rows/0/{place}")


_table = all_of(
    shape(
        {"type": anything, "rows": many(many(_cell, 20), 100)},
        {"column_settings": many(_column, 20, 0), **_ids},
    ),
    _text_within(TABLE_TEXT),
)
_data_table = all_of(
    shape(
        {"type": anything, "caption": string(3000), "rows": many(many(_cell, 20), 201, 2)},
        {"page_size": number(1, 100), **_ids},
    ),
    _even,
    _plain_header,
    _text_within(DATA_TABLE_TEXT),
)


# --- Plans


_title = string(256)  # measured for the chunks of a stream; Slack documents none for blocks
_rich = typed({"rich_text": _rich_text})
_task = shape(
    {
        "type": anything,
        "task_id": string(255),
        "title": _title,
        "status": choice("pending", "in_progress", "complete", "error"),
    },
    {"details": _rich, "output": _rich, **_ids},
)


def _own_ids(value: object, at: str) -> Iterator[Fault]:
    tasks = value.get("tasks") if isinstance(value, dict) else None
    ids = [task.get("task_id") for task in tasks or [] if isinstance(task, dict)]
    if len(ids) != len(set(map(str, ids))):
        yield bad("task_id must be unique", f"{at}/tasks")


_plan = all_of(
    shape(
        {"type": anything, "title": _title},
        {"tasks": many(typed({"task_card": _task}), 50, 0), **_ids},
    ),
    _own_ids,
)


# --- Surfaces


def _block(required: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    return shape({"type": anything, **required}, {**_ids, **(optional or {})})


_accessory: dict[str, Check] = {"accessory": typed(_in_actions)}
_section_block = all_of(
    _block(
        {}, {"text": _text(3000), "fields": many(_text(2000), 10), "expand": flag, **_accessory}
    ),
    one_key_of("text", "fields"),
)
_in_context: dict[str, Check] = {"plain_text": _text(3000), "mrkdwn": _text(3000)}
in_modal: dict[str, Check] = {
    "section": _section_block,
    "divider": _block({}),
    "actions": _block({"elements": many(typed(_in_actions), 25)}),
    "context": _block({"elements": many(typed(_in_context), 10)}),
    "header": _block({"text": plain(150)}),
    "input": _block(
        {"label": plain(2000), "element": typed(_in_input)},
        {"hint": plain(2000), "optional": flag, "dispatch_action": flag},
    ),
    "rich_text": _rich_text,
}
in_message: dict[str, Check] = {
    **in_modal,
    "table": _table,
    "data_table": _data_table,
    "context_actions": _block({"elements": many(typed(_in_context_actions), 5)}),
    "plan": _plan,
}
