"""The structure of rich_text: sections, lists, quotes, code, and what stands in them."""

from tests.wire.slack.blocks.objects import block_id, url
from tests.wire.slack.blocks.shapes import (
    Check,
    anything,
    choice,
    flag,
    many,
    number,
    shape,
    string,
    typed,
)

_MANY = 10_000  # Slack names no limit but that of the whole message

_text_style = shape({}, dict.fromkeys(("bold", "italic", "strike", "code", "underline"), flag))
_mention_style = shape(
    {},
    dict.fromkeys(("bold", "italic", "strike", "highlight", "client_highlight", "unlink"), flag),
)
_id = string(30)
_border: dict[str, Check] = {"border": number(0, 1)}


def _mention(name: str, check: Check) -> Check:
    return shape({"type": anything, name: check}, {"style": _mention_style})


_text = shape({"type": anything, "text": string(13_200)}, {"style": _text_style})
_link = shape(
    {"type": anything, "url": url},
    {"text": string(3000), "unsafe": flag, "style": _text_style},
)
_inline = typed(
    {
        "text": _text,
        "link": _link,
        "emoji": shape(
            {"type": anything, "name": string(255)},
            {"unicode": string(255), "skin_tone": number(1, 6), "style": _text_style},
        ),
        "user": _mention("user_id", _id),
        "usergroup": _mention("usergroup_id", _id),
        "channel": _mention("channel_id", _id),
        "broadcast": _mention("range", choice("here", "channel", "everyone")),
        "color": shape({"type": anything, "value": string(7)}),
        "date": shape(
            {"type": anything, "timestamp": number(0), "format": string(255)},
            {"url": url, "fallback": string(255), "style": _text_style},
        ),
    }
)
_section = shape({"type": anything, "elements": many(_inline, _MANY)})
_list = shape(
    {
        "type": anything,
        "style": choice("bullet", "ordered"),
        "elements": many(typed({"rich_text_section": _section}), _MANY),
    },
    {"indent": number(0, 8), "offset": number(0), **_border},
)
_preformatted = shape(
    {"type": anything, "elements": many(typed({"text": _text, "link": _link}), _MANY)},
    {"language": string(255), **_border},
)
_quote = shape({"type": anything, "elements": many(_inline, _MANY)}, _border)

rich_text = shape(
    {
        "type": anything,
        "elements": many(
            typed(
                {
                    "rich_text_section": _section,
                    "rich_text_list": _list,
                    "rich_text_preformatted": _preformatted,
                    "rich_text_quote": _quote,
                }
            ),
            _MANY,
        ),
    },
    {"block_id": block_id},
)
