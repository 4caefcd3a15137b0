"""Options of slash commands as Discord sends them; refuses what its clients refuse."""

from collections.abc import Mapping
from typing import Any

from tests.wire.discord import message_payloads, payloads
from tests.wire.discord.calls import Upload
from tests.wire.discord.message_store import store
from tests.wire.discord.state import State
from tests.wire.discord.world import Channel, Guild, User

Payload = dict[str, Any]

SUB, GROUP, STRING, INTEGER, BOOLEAN, USER, CHANNEL, ROLE = 1, 2, 3, 4, 5, 6, 7, 8
NUMBER, ATTACHMENT = 10, 11
_KINDS: dict[int, tuple[type, ...]] = {
    STRING: (str,),
    INTEGER: (int,),
    BOOLEAN: (bool,),
    NUMBER: (int, float),
    ATTACHMENT: (Upload,),
}


class Filling:
    """Fills in one command for someone, in a place."""

    def __init__(self, state: State, place: Channel, *, partial: bool = False) -> None:
        self._state = state
        self._place = place
        self._partial = partial  # while typing: nothing is required yet
        self.resolved: dict[str, Payload] = {}

    def data(self, command: Payload, path: list[str], values: Mapping[str, object]) -> Payload:
        """Return the `data` of the interaction."""
        options = self._options(command, path, values)
        data = {"id": command["id"], "name": command["name"], "type": command["type"]}
        data["options"] = options
        if command.get("guild_id"):
            data["guild_id"] = command["guild_id"]
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
        if kind == USER and isinstance(value, str | User):
            return self._person(self._state.world.user(value))
        if kind == CHANNEL and isinstance(value, str | Channel):
            place = self._state.world.channel(value)
            shown = payloads.channel(self._state, place)
            shown["permissions"] = payloads.permissions(self._state, place, self._state.bot.id)
            self._resolve("channels", place.id, shown)
            return place.id
        return value

    def _person(self, person: User) -> str:
        self._resolve("users", person.id, payloads.user(person))
        guild: Guild | None = self._place.guild
        if guild and person.id in guild.members:
            shown = payloads.member(guild.members[person.id], with_user=False)
            shown["permissions"] = payloads.permissions(self._state, self._place, person.id)
            self._resolve("members", person.id, shown)
        return person.id

    def _resolve(self, kind: str, id_: str, shown: Payload) -> None:
        self.resolved.setdefault(kind, {})[id_] = shown


def _named(holder: Payload, name: str) -> Payload:
    for one in holder.get("options") or []:
        if one["name"] == name and one["type"] in {SUB, GROUP}:
            found: Payload = one
            return found
    raise AssertionError(f"{holder['name']} has no subcommand {name!r}")


def focus(options: list[Payload], name: str) -> None:
    """Mark the option someone is typing into."""
    for one in options:
        if "options" in one:
            focus(one["options"], name)
        elif one["name"] == name:
            one["focused"] = True
