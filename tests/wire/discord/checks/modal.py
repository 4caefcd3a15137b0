"""Validation of a modal. Pure."""

from collections.abc import Iterator

from tests.wire.discord.checks.components import (
    CHECKBOX,
    CHECKBOXES,
    LABEL,
    RADIO,
    ROW,
    TEXT,
    TEXT_INPUT,
    UPLOAD,
    duplicates,
    selects,
    text,
)
from tests.wire.discord.checks.shapes import (
    Check,
    Fault,
    all_of,
    choice,
    flag,
    many,
    number,
    shape,
    string,
    typed,
    under,
)

_custom_id: dict[str, Check] = {"custom_id": string(100, 1)}
_input = {
    "label": string(45, 1),
    "value": string(4000),
    "placeholder": string(100),
    "required": flag,
    "min_length": number(0, 4000),
    "max_length": number(1, 4000),
}


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


text_input = all_of(shape({**_custom_id, "style": choice(1, 2)}, _input), _lengths)
_option = shape({"label": string(100, 1), "value": string(100, 1)}, {"description": string(100)})
_counts: dict[str, Check] = {"min_values": number(0, 10), "max_values": number(1, 10)}
_in_label: dict[int, Check] = {
    TEXT_INPUT: text_input,
    **selects,
    UPLOAD: shape(_custom_id, {**_counts, "required": flag}),
    RADIO: shape({**_custom_id, "options": many(_option, 10, 2)}, {"required": flag}),
    CHECKBOXES: shape({**_custom_id, "options": many(_option, 10, 1)}, _counts),
    CHECKBOX: shape(_custom_id, {"default": flag}),
}
_label = shape(
    {"label": string(45, 1), "component": typed(_in_label)}, {"description": string(100)}
)
_old_input = all_of(text_input, shape({"label": string(45, 1)}))
_row = shape({"components": many(typed({TEXT_INPUT: _old_input}), 1, 1)})
_modal = shape(
    {
        **_custom_id,
        "title": string(45, 1),
        "components": many(typed({ROW: _row, LABEL: _label, TEXT: text}), 5, 1),
    }
)


def faults_of_modal(modal: object) -> list[Fault]:
    """Return everything Discord would refuse in the data of a modal."""
    faults = list(_modal(modal, "data"))
    if faults or not isinstance(modal, dict):
        return faults
    return list(duplicates(modal["components"]))
