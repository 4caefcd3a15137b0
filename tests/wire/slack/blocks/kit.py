"""Every block, and the surfaces it may stand on."""

from collections.abc import Iterator

from tests.wire.slack.blocks import elements
from tests.wire.slack.blocks.objects import block_id, image, plain, text, url
from tests.wire.slack.blocks.rich_text import rich_text
from tests.wire.slack.blocks.shapes import (
    Check,
    Fault,
    all_of,
    anything,
    bad,
    choice,
    flag,
    many,
    one_key_of,
    shape,
    string,
    typed,
)
from tests.wire.slack.blocks.tables import data_table, table
from tests.wire.slack.blocks.tasks import plan, task_card

MARKDOWN_TEXT = 12_000


def _block(required: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    return shape({"type": anything, **required}, {"block_id": block_id, **(optional or {})})


def _long_markdown(value: object, at: str) -> Iterator[Fault]:
    """Refuse a text past the limit, under the code that Slack has for it."""
    written = value.get("text") if isinstance(value, dict) else None
    if isinstance(written, str) and len(written) > MARKDOWN_TEXT:
        message = f"must be less than {MARKDOWN_TEXT + 1} characters"
        yield bad(message, f"{at}/text", "msg_too_long")


_section = all_of(
    _block(
        {},
        {
            "text": text(3000),
            "fields": many(text(2000), 10),
            "accessory": typed(elements.in_section),
            "expand": flag,
        },
    ),
    one_key_of("text", "fields"),
)
_image = all_of(
    _block(
        {"alt_text": string(2000)},
        {"image_url": url, "slack_file": anything, "title": plain(2000)},
    ),
    one_key_of("image_url", "slack_file"),
)
_input = _block(
    {"label": plain(2000), "element": typed(elements.in_input)},
    {"hint": plain(2000), "optional": flag, "dispatch_action": flag},
)
_video = _block(
    {"alt_text": string(2000), "title": plain(200), "thumbnail_url": url, "video_url": url},
    {
        "author_name": string(49),
        "description": plain(200),
        "provider_icon_url": url,
        "provider_name": string(255),
        "title_url": url,
    },
)
_pie = shape(
    {
        "type": anything,
        "segments": many(shape({"label": string(20), "value": anything}), 12),
    }
)
_chart = typed({"pie": _pie, "line": anything, "bar": anything, "area": anything})
_card = all_of(
    _block(
        {},
        {
            "hero_image": typed({"image": image}),
            "icon": typed({"image": image}),
            "title": text(150),
            "subtitle": text(150),
            "body": text(200),
            "actions": many(typed({"button": elements.in_actions["button"]}), 25),
        },
    ),
    one_key_of("hero_image", "title", "actions", "body"),
)
_levels = choice("default", "info", "warning", "error", "success")

_everywhere: dict[str, Check] = {
    "section": _section,
    "divider": _block({}),
    "image": _image,
    "actions": _block({"elements": many(typed(elements.in_actions), 25)}),
    "context": _block({"elements": many(typed(elements.in_context), 10)}),
    "header": _block({"text": plain(150)}),
    "input": _input,
    "rich_text": rich_text,
    "video": _video,
}
_inside = {name: _everywhere[name] for name in _everywhere} | {"table": table}
_container = all_of(
    _block(
        {"child_blocks": many(typed(_inside), 10)},
        {
            "title": plain(150),
            "rich_text_title": typed({"rich_text": rich_text}),
            "subtitle": text(150),
            "width": choice("narrow", "standard", "wide", "full"),
            "icon": typed({"image": image}),
            "is_collapsible": flag,
            "default_collapsed": flag,
            "has_header_divider": flag,
        },
    ),
    one_key_of("title", "rich_text_title"),
)
_on_pages: dict[str, Check] = {"table": table, "data_table": data_table, "container": _container}

in_message: dict[str, Check] = {
    **_everywhere,
    **_on_pages,
    "markdown": all_of(_block({"text": string(10**9)}), _long_markdown),
    "context_actions": _block({"elements": many(typed(elements.in_context_actions), 5)}),
    "plan": plan,
    "task_card": task_card,
    "card": _card,
    "carousel": _block({"elements": many(typed({"card": _card}), 10)}),
    "data_visualization": _block({"title": string(50), "chart": _chart}),
}
in_modal: dict[str, Check] = {
    **_everywhere,
    "alert": _block({"text": text(200)}, {"level": _levels}),
}
in_home: dict[str, Check] = {**_everywhere, **_on_pages}
