"""Submitted modals as Discord sends them."""

from collections.abc import Mapping
from typing import Any

from tests.wire.discord.checks.components import (
    CHECKBOX,
    LABEL,
    RADIO,
    ROW,
    SELECTS,
    TEXT,
    TEXT_INPUT,
)

Payload = dict[str, Any]


def submission(modal: Payload, values: Mapping[str, object]) -> list[Payload]:
    """Return the components of a submission; values by custom_id, or by the label people read."""
    used: set[str] = set()
    filled: list[Payload] = []
    for number, one in enumerate(modal["components"], start=1):
        if one["type"] == TEXT:
            filled.append({"type": TEXT, "id": number})
        elif one["type"] == LABEL:
            name, value = _given(one["component"], one["label"], values)
            used.add(name)
            component = _filled(one["component"], value, 100 + number)
            filled.append({"type": LABEL, "id": number, "component": component})
        elif one["type"] == ROW:
            part = one["components"][0]
            name, value = _given(part, part["label"], values)
            used.add(name)
            components = [_filled(part, value, 100 + number)]
            filled.append({"type": ROW, "id": number, "components": components})
    assert not set(values) - used, f"the modal has no {set(values) - used}"
    return filled


def _given(part: Payload, label: str, values: Mapping[str, object]) -> tuple[str, object]:
    for name in (part["custom_id"], label):
        if name in values:
            return name, values[name]
    return "", _prefilled(part)


def _prefilled(part: Payload) -> object:
    chosen = [one["value"] for one in part.get("options") or [] if one.get("default")]
    return part.get("value") or chosen or None


def _filled(part: Payload, value: object, number: int) -> Payload:
    needs = part.get("required", True) is not False and part["type"] != CHECKBOX
    assert value or not needs, f"{part['custom_id']} must be filled in"
    shown: Payload = {"type": part["type"], "id": number, "custom_id": part["custom_id"]}
    if part["type"] == TEXT_INPUT:
        text = str(value or "")
        most, least = part.get("max_length") or 4000, part.get("min_length") or 0
        assert len(text) <= most, f"longer than {most}"
        assert not text or len(text) >= least, f"shorter than {least}"
        return {**shown, "value": text}
    if part["type"] in {RADIO, CHECKBOX}:
        chosen = value[0] if isinstance(value, list) and value else value
        return {**shown, "value": chosen or (False if part["type"] == CHECKBOX else None)}
    values = list(value) if isinstance(value, list | tuple) else [value] if value else []
    check_values(part, values)
    return {**shown, "values": values}


def check_values(part: Payload, values: list[object]) -> None:
    """Discord's client lets nobody choose what is not offered, or too many."""
    offered = [one["value"] for one in part.get("options") or []]
    assert not offered or set(values) <= set(offered), f"{values} not among {offered}"
    assert len(values) <= (part.get("max_values") or 1), f"no more than {part.get('max_values')}"
    if part["type"] in SELECTS and part.get("required", True) is not False:
        assert len(values) >= part.get("min_values", 1), "too few chosen"
