"""Validation of components in messages and modals."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.wire.discord.checks.shapes import (
    Check,
    Fault,
    all_of,
    anything,
    choice,
    flag,
    many,
    number,
    required,
    shape,
    string,
    typed,
    under,
)

ROW, BUTTON, STRING_SELECT, TEXT_INPUT = 1, 2, 3, 4
OTHER_SELECTS = (5, 6, 7, 8)
SECTION, TEXT, THUMBNAIL, GALLERY, FILE, SEPARATOR = 9, 10, 11, 12, 13, 14
CONTAINER, LABEL, UPLOAD, RADIO, CHECKBOXES, CHECKBOX = 17, 18, 19, 21, 22, 23
LINK_STYLE, PREMIUM_STYLE = 5, 6
SELECTS = (STRING_SELECT, *OTHER_SELECTS)

_id: dict[str, Check] = {"id": number(0, 2**31 - 1)}
_custom_id: dict[str, Check] = {"custom_id": string(100, 1)}


def _button_kind(value: object, at: str) -> Iterator[Fault]:
    """A link has an address, all others a custom_id; none is without a face."""
    if not isinstance(value, dict) or value.get("style") == PREMIUM_STYLE:
        return
    needs, excludes = ("custom_id", "url")
    if value.get("style") == LINK_STYLE:
        needs, excludes = excludes, needs
    if not value.get(needs):
        yield required(under(at, needs))
    if value.get(excludes):
        message = "A custom id and url cannot both be specified"
        yield Fault(at, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", message)
    if not value.get("label") and not value.get("emoji"):
        yield Fault(at, "BUTTON_COMPONENT_INVALID_LABEL", "A button needs a label or an emoji")


def _link(value: object, at: str) -> Iterator[Fault]:
    if not str(value).startswith(("http://", "https://", "discord://")):
        message = "Scheme must be one of ('http', 'https', 'discord')."
        yield Fault(at, "URL_TYPE_INVALID_SCHEME", message)


button = all_of(
    shape(
        {"style": choice(1, 2, 3, 4, 5, 6)},
        {
            **_id,
            **_custom_id,
            "label": string(80),
            "disabled": flag,
            "emoji": shape({}, {"name": string(32)}),
            "url": all_of(string(512), _link),
        },
    ),
    _button_kind,
)


def _values(value: object, at: str) -> Iterator[Fault]:
    """No two options of one list may mean the same, and a minimum is no more than the maximum."""
    if not isinstance(value, dict):
        return
    options = value.get("options")
    given = [one.get("value") for one in options or [] if isinstance(one, dict)]
    for place, one in enumerate(given):
        if one in given[:place]:
            said = "The specified option value is already used"
            spot = under(at, f"options.{place}.value")
            yield Fault(spot, "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", said)
    least, most = value.get("min_values"), value.get("max_values")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        said = "min_values must be less than or equal to max_values"
        yield Fault(at, "SELECT_COMPONENT_MIN_VALUES_GREATER_THAN_MAX", said)


def _option(**more: Check) -> Check:
    texts: dict[str, Check] = {"label": string(100, 1), "value": string(100, 1)}
    return shape(texts, {"description": string(100), "default": flag, **more})


_select_extras: dict[str, Check] = {
    **_id,
    "placeholder": string(150),
    "min_values": number(0, 25),
    "max_values": number(1, 25),
    "disabled": flag,
    "required": flag,
}
string_select = all_of(
    shape({**_custom_id, "options": many(_option(), 25, 1)}, _select_extras), _values
)
other_select = all_of(
    shape(_custom_id, {**_select_extras, "default_values": many(anything, 25)}), _values
)
selects: dict[int, Check] = {
    STRING_SELECT: string_select,
    **dict.fromkeys(OTHER_SELECTS, other_select),
}


def _row_width(value: object, at: str) -> Iterator[Fault]:
    """Five buttons, or one select alone."""
    parts = value.get("components") if isinstance(value, dict) else None
    kinds = [part.get("type") for part in parts or [] if isinstance(part, dict)]
    if len(kinds) > 1 and any(kind != BUTTON for kind in kinds):
        message = "The specified component exceeds the maximum width"
        yield Fault(under(at, "components.1"), "COMPONENT_LAYOUT_WIDTH_EXCEEDED", message)


row = all_of(shape({"components": many(typed({BUTTON: button, **selects}), 5, 1)}, _id), _row_width)
text = shape({"content": string(4000, 1)}, _id)
_media = shape({"url": string(2048, 1)})
thumbnail = shape({"media": _media}, {**_id, "description": string(1024, 1), "spoiler": flag})
gallery = shape(
    {"items": many(shape({"media": _media}, {"description": string(1024, 1)}), 10, 1)}, _id
)


def _attached(value: object, at: str) -> Iterator[Fault]:
    url = value.get("url") if isinstance(value, dict) else None
    if not str(url).startswith("attachment://"):
        message = "Only attachment:// references are supported"
        yield Fault(under(at, "url"), "URL_TYPE_INVALID_SCHEME", message)


file = shape({"file": all_of(_media, _attached)}, {**_id, "spoiler": flag})
separator = shape({}, {**_id, "divider": flag, "spacing": choice(1, 2)})
section = shape(
    {
        "components": many(typed({TEXT: text}), 3, 1),
        "accessory": typed({BUTTON: button, THUMBNAIL: thumbnail}),
    },
    _id,
)
in_container: dict[int, Check] = {
    ROW: row,
    SECTION: section,
    TEXT: text,
    GALLERY: gallery,
    FILE: file,
    SEPARATOR: separator,
}
container = shape(
    {"components": many(typed(in_container), 40, 1)},
    {**_id, "accent_color": number(0, 0xFFFFFF), "spoiler": flag},
)
in_message: dict[int, Check] = {**in_container, CONTAINER: container}
in_old_message: dict[int, Check] = {ROW: row}

Payload = Mapping[str, Any]


def walk(components: object, at: str = "components") -> Iterator[tuple[str, Payload]]:
    """Return every component with its place, nested ones too, in reading order."""
    for place, one in enumerate(components if isinstance(components, list) else []):
        if not isinstance(one, dict):
            continue
        here = under(at, place)
        yield here, one
        yield from walk(one.get("components"), under(here, "components"))
        for inner in ("accessory", "component"):
            if isinstance(one.get(inner), dict):
                yield under(here, inner), one[inner]


def duplicates(components: object) -> Iterator[Fault]:
    """Yield a fault for each custom_id and id that occurs twice."""
    for name in ("custom_id", "id"):
        seen: set[object] = set()
        for at, one in walk(components):
            value = one.get(name)
            if value and value in seen:
                code = f"COMPONENT_{name.upper()}_DUPLICATED"
                said = f"Component {name.replace('_', ' ')} cannot be duplicated"
                yield Fault(under(at, name), code, said)
            seen.add(value)
