"""Options of slash commands and fields of modals as Discord sends them.

Refuses what Discord's clients refuse.
"""

from collections.abc import Mapping
from typing import Any

from tests.wire.discord import message_payloads, payloads
from tests.wire.discord.calls import Upload
from tests.wire.discord.checks.components import (
    CHANNEL_SELECT,
    FILE_UPLOAD,
    RADIO_GROUP,
    ROLE_SELECT,
    STRING_SELECT,
    TEXT,
    TEXT_INPUT,
    USER_SELECT,
)
from tests.wire.discord.message_store import store
from tests.wire.discord.permissions import Permission
from tests.wire.discord.state import State
from tests.wire.discord.world import TYPES, Channel, User

Payload = dict[str, Any]

SUB, GROUP, STRING, INTEGER, BOOLEAN, CHANNEL, NUMBER, ATTACHMENT = 1, 2, 3, 4, 5, 7, 10, 11
_KINDS: dict[int, tuple[type, ...]] = {
    STRING: (str,),
    INTEGER: (int,),
    BOOLEAN: (bool,),
    CHANNEL: (Channel,),
    NUMBER: (int, float),
    ATTACHMENT: (Upload,),
}


class Filling:
    def __init__(self, state: State, user: User, place: Channel, *, partial: bool = False) -> None:
        self._state = state
        self._user = user
        self._place = place
        self._partial = partial  # while typing: nothing is required yet
        self.resolved: dict[str, Payload] = {}

    def data(self, command: Payload, path: list[str], values: Mapping[str, object]) -> Payload:
        options = self._options(command, path, values)
        data = {"id": command["id"], "name": command["name"], "type": command["type"]}
        data["options"] = options
        return {**data, "resolved": self.resolved} if self.resolved else data

    def _options(
        self, holder: Payload, path: list[str], values: Mapping[str, object]
    ) -> list[Payload]:
        if path:
            inner = _named(holder, path[0])
            filled = self._options(inner, path[1:], values)
            return [{"name": inner["name"], "type": inner["type"], "options": filled}]
        known = holder.get("options") or []
        assert all(one["type"] not in {SUB, GROUP} for one in known), "a subcommand is missing"
        unknown = set(values) - {one["name"] for one in known}
        assert not unknown, f"{holder['name']} has no option {unknown}"
        missing = [one["name"] for one in known if one.get("required")]
        missing = [name for name in missing if name not in values]
        assert self._partial or not missing, f"{missing} must be filled in"
        return [self._one(one, values[one["name"]]) for one in known if one["name"] in values]

    def _one(self, option: Payload, value: object) -> Payload:
        if not self._partial:
            self._check(option, value)
        shown = {"name": option["name"], "type": option["type"]}
        return {**shown, "value": self._value(option["type"], value)}

    def _check(self, option: Payload, value: object) -> None:
        """Discord's client lets nobody send a value of the wrong kind or size."""
        name, kinds = option["name"], _KINDS.get(option["type"])
        assert kinds is None or isinstance(value, kinds), f"{name} cannot be {value!r}"
        choices = [one["value"] for one in option.get("choices") or []]
        assert not choices or value in choices, f"{name} is one of {choices}"
        kinds_of_channels = option.get("channel_types")
        if isinstance(value, Channel) and kinds_of_channels:
            assert TYPES[value.kind] in kinds_of_channels, f"{name} cannot be a {value.kind}"
        if isinstance(value, str):
            most = option.get("max_length") or 6000
            assert len(value) <= most, f"{name} is longer than {most}"
            assert len(value) >= (option.get("min_length") or 0), f"{name} is too short"
        elif isinstance(value, (int, float)):
            assert value >= option.get("min_value", value), f"{name} is too small"
            assert value <= option.get("max_value", value), f"{name} is too large"

    def _value(self, kind: int, value: object) -> object:
        if kind == ATTACHMENT:
            assert isinstance(value, Upload)
            assert len(value.content) <= self._state.rules.file_bytes, "too large to attach"
            file = store(self._state, self._place, value)
            self._resolve("attachments", file.id, message_payloads.attachment(self._state, file))
            return file.id
        if isinstance(value, Channel):
            self._resolve("channels", value.id, self._channel(value))
            return value.id
        return value

    def _channel(self, channel: Channel) -> Payload:
        """Return a partial channel, with what its chooser may do there."""
        assert channel.guild is self._place.guild, "only channels of this server can be chosen"
        held = payloads.permissions(self._state, channel, self._user.id)
        assert int(held) & Permission.VIEW_CHANNEL, "nobody can choose what they do not see"
        shown = payloads.channel(self._state, channel)
        names = ("id", "name", "type", "parent_id", "flags", "last_message_id")
        return {name: shown[name] for name in names if name in shown} | {"permissions": held}

    def _resolve(self, kind: str, id_: str, shown: Payload) -> None:
        self.resolved.setdefault(kind, {})[id_] = shown


def _named(holder: Payload, name: str) -> Payload:
    for one in holder.get("options") or []:
        if one["name"] == name and one["type"] in {SUB, GROUP}:
            found: Payload = one
            return found
    raise AssertionError(f"{holder['name']} has no subcommand {name!r}")


def focus(options: list[Payload], name: str) -> None:
    for one in options:
        if "options" in one:
            focus(one["options"], name)
        elif one["name"] == name:
            one["focused"] = True


class Submission(Filling):
    """The fields of a modal, with values by custom_id or by the label people read."""

    def components(self, modal: Payload, values: Mapping[str, object]) -> list[Payload]:
        used: set[str] = set()
        filled: list[Payload] = []
        for number, one in enumerate(modal["components"], start=1):
            if one["type"] == TEXT:
                filled.append({"type": TEXT, "id": number})
                continue
            part = one["component"]
            names = (part["custom_id"], one["label"])
            name = next((name for name in names if name in values), "")
            used.add(name)
            value = values[name] if name else _prefilled(part)
            component = self._filled(part, value, 100 + number)
            filled.append({"type": one["type"], "id": number, "component": component})
        assert not set(values) - used, f"the modal has no {set(values) - used}"
        return filled

    def _filled(self, part: Payload, value: object, number: int) -> Payload:
        needs = part.get("required", True) is not False
        assert value or not needs, f"{part['custom_id']} must be filled in"
        shown: Payload = {"type": part["type"], "id": number, "custom_id": part["custom_id"]}
        if part["type"] == TEXT_INPUT:
            text = str(value or "")
            most, least = part.get("max_length") or 4000, part.get("min_length") or 0
            assert len(text) <= most, f"longer than {most}"
            assert not text or len(text) >= least, f"shorter than {least}"
            return {**shown, "value": text}
        chosen = list(value) if isinstance(value, list | tuple) else [value] if value else []
        assert len(chosen) <= (part.get("max_values") or 1), "too many chosen"
        if part["type"] == RADIO_GROUP:
            _check_offered(part, chosen)
            return {**shown, "value": chosen[0] if chosen else None}
        return {**shown, "values": self._chosen(part, chosen)}

    def _chosen(self, part: Payload, chosen: list[Any]) -> list[object]:
        if part["type"] == STRING_SELECT:
            _check_offered(part, chosen)
            return chosen
        if part["type"] == CHANNEL_SELECT:
            kinds = part.get("channel_types") or [*TYPES.values()]
            assert all(TYPES[one.kind] in kinds for one in chosen), "not that kind of channel"
            return [self._value(CHANNEL, one) for one in chosen]
        if part["type"] in {USER_SELECT, ROLE_SELECT}:
            return [str(getattr(one, "id", one)) for one in chosen]
        assert part["type"] == FILE_UPLOAD, f"this fake knows no component {part['type']}"
        return [self._value(ATTACHMENT, one) for one in chosen]


def _check_offered(part: Payload, chosen: list[Any]) -> None:
    offered = [one["value"] for one in part.get("options") or []]
    assert set(chosen) <= set(offered), f"{chosen} not among {offered}"


def _prefilled(part: Payload) -> object:
    chosen = [one["value"] for one in part.get("options") or [] if one.get("default")]
    ids = [str(one["id"]) for one in part.get("default_values") or []]
    return part.get("value") or chosen or ids or None
