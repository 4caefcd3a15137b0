"""Validation of components in messages and modals, as far as the product uses them. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.wire.discord.checks.shapes import (
    Check,
    Fault,
    all_of,
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
USER_SELECT, ROLE_SELECT = 5, 6
CHANNEL_SELECT, TEXT, GALLERY, FILE, CONTAINER, LABEL = 8, 10, 12, 13, 17, 18
FILE_UPLOAD, RADIO_GROUP = 19, 21
MOST_OPTIONS, MOST_RADIOS = 25, 10
LINK_STYLE = 5

Payload = Mapping[str, Any]

_id: dict[str, Check] = {"id": number(0, 2**31 - 1)}
_custom_id: dict[str, Check] = {"custom_id": string(100, 1)}


def _button_kind(value: object, at: str) -> Iterator[Fault]:
    """A link has an address, all others a custom_id; none is without a face."""
    if not isinstance(value, dict):
        return
    is_link = value.get("style") == LINK_STYLE
    needs, excludes = ("url", "custom_id") if is_link else ("custom_id", "url")
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


_button = all_of(
    shape(
        {"style": choice(1, 2, 3, 4, 5)},
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
_option = shape(
    {"label": string(100, 1), "value": string(100, 1)},
    {"description": string(100), "default": flag},
)


def _choices(value: object, at: str) -> Iterator[Fault]:
    """No two options have one value, and no more are chosen at first than can be."""
    options = value.get("options") if isinstance(value, dict) else None
    options = [one for one in options or [] if isinstance(one, dict)]
    values = [one.get("value") for one in options]
    if len(values) > len({*map(str, values)}):
        message = "The specified option value is already used"
        yield Fault(under(at, "options"), "COMPONENT_OPTION_VALUE_DUPLICATED", message)
    most = (value.get("max_values") or 1) if isinstance(value, dict) else 1
    if sum(bool(one.get("default")) for one in options) > most:
        message = "More options are chosen than can be"
        yield Fault(under(at, "options"), "COMPONENT_TOO_MANY_DEFAULT_VALUES", message)


_select: dict[str, Check] = {
    **_id,
    "placeholder": string(150),
    "min_values": number(0, 25),
    "max_values": number(1, 25),
    "required": flag,
}
_string_select = all_of(
    shape({**_custom_id, "options": many(_option, MOST_OPTIONS, 1)}, {**_select, "disabled": flag}),
    _choices,
)
_in_row: dict[int, Check] = {BUTTON: _button, STRING_SELECT: _string_select}


def _full_row(value: object, at: str) -> Iterator[Fault]:
    """A select takes the whole row."""
    parts = value.get("components") if isinstance(value, dict) else None
    kinds = [one.get("type") for one in parts or [] if isinstance(one, dict)]
    if STRING_SELECT in kinds and len(kinds) > 1:
        message = "The component layout width was exceeded"
        yield Fault(under(at, "components"), "COMPONENT_LAYOUT_WIDTH_EXCEEDED", message)


_row = all_of(shape({"components": many(typed(_in_row), 5, 1)}, _id), _full_row)
_text = shape({"content": string(4000, 1)}, _id)
_media = shape({"url": string(2048, 1)})
_gallery = shape(
    {"items": many(shape({"media": _media}, {"description": string(1024, 1)}), 10, 1)}, _id
)


def _attached(value: object, at: str) -> Iterator[Fault]:
    url = value.get("url") if isinstance(value, dict) else None
    if not str(url).startswith("attachment://"):
        message = "Only attachment:// references are supported"
        yield Fault(under(at, "url"), "URL_TYPE_INVALID_SCHEME", message)


_file = shape({"file": all_of(_media, _attached)}, {**_id, "spoiler": flag})
_in_container: dict[int, Check] = {ROW: _row, TEXT: _text, GALLERY: _gallery, FILE: _file}
_container = shape(
    {"components": many(typed(_in_container), 40, 1)},
    {**_id, "accent_color": number(0, 0xFFFFFF), "spoiler": flag},
)
in_message: dict[int, Check] = {**_in_container, CONTAINER: _container}
in_old_message: dict[int, Check] = {ROW: _row}


def walk(components: object, at: str = "components") -> Iterator[tuple[str, Payload]]:
    """Return every component with its place, nested ones too, in reading order."""
    for place, one in enumerate(components if isinstance(components, list) else []):
        if not isinstance(one, dict):
            continue
        here = under(at, place)
        yield here, one
        yield from walk(one.get("components"), under(here, "components"))
        if isinstance(one.get("component"), dict):
            yield under(here, "component"), one["component"]


def duplicates(components: object) -> Iterator[Fault]:
    """Yield a fault for each custom_id and id that occurs twice."""
    for name in ("custom_id", "id"):
        seen: set[object] = set()
        for at, one in walk(components):
            value = one.get(name)
            if value and value in seen:
                code = f"COMPONENT_{name.upper()}_DUPLICATED"
                message = f"Component {name.replace('_', ' ')} cannot be duplicated"
                yield Fault(under(at, name), code, message)
            seen.add(value)


def _lengths(value: object, at: str) -> Iterator[Fault]:
    """A minimum is no more than its maximum, and a prefilled value lies between them."""
    if not isinstance(value, dict):
        return
    least, most = value.get("min_length") or 0, value.get("max_length") or 4000
    if least > most:
        message = "min_length must be less than or equal to max_length"
        yield Fault(under(at, "min_length"), "TEXT_INPUT_COMPONENT_MIN_LENGTH", message)
    if value.get("value") and not least <= len(value["value"]) <= most:
        message = f"Must be between {least} and {most} in length."
        yield Fault(under(at, "value"), "BASE_TYPE_BAD_LENGTH", message)


_text_input = all_of(
    shape(
        {**_custom_id, "style": choice(1, 2)},
        {
            "value": string(4000),
            "placeholder": string(100),
            "required": flag,
            "min_length": number(0, 4000),
            "max_length": number(1, 4000),
        },
    ),
    _lengths,
)
_file_upload = shape(
    _custom_id, {**_id, "min_values": number(0, 10), "max_values": number(1, 10), "required": flag}
)
_radio_group = all_of(
    shape({**_custom_id, "options": many(_option, MOST_RADIOS, 2)}, {**_id, "required": flag}),
    _choices,
)
_channel_select = shape(_custom_id, {**_select, "channel_types": many(number(0, 20), 20)})
_default_value = shape({"id": number(0, 2**64 - 1), "type": choice("user", "role")}, {})
_ids_select = shape(_custom_id, {**_select, "default_values": many(_default_value, 25)})
_in_label: dict[int, Check] = {
    USER_SELECT: _ids_select,
    ROLE_SELECT: _ids_select,
    STRING_SELECT: _string_select,
    TEXT_INPUT: _text_input,
    CHANNEL_SELECT: _channel_select,
    FILE_UPLOAD: _file_upload,
    RADIO_GROUP: _radio_group,
}


def _enabled(value: object, at: str) -> Iterator[Fault]:
    """Discord refuses a modal with a disabled select."""
    if isinstance(value, dict) and value.get("disabled"):
        message = "Components in a modal cannot be disabled"
        yield Fault(under(at, "disabled"), "COMPONENT_DISABLED_IN_MODAL", message)


_label = shape(
    {"label": string(45, 1), "component": all_of(typed(_in_label), _enabled)},
    {"description": string(100, 1)},
)
_modal = shape(
    {
        **_custom_id,
        "title": string(45, 1),
        "components": many(typed({LABEL: _label, TEXT: _text}), 5, 1),
    }
)


def faults_of_modal(modal: object) -> list[Fault]:
    """Return everything Discord would refuse in the data of a modal."""
    faults = list(_modal(modal, "data"))
    if faults or not isinstance(modal, dict):
        return faults
    return list(duplicates(modal["components"]))
