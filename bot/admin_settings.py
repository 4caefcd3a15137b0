"""Admin settings: what people chose in a chat for its workspace or a channel, as stored values.

Knows names and values, not what they do: `bot/access.py` and `council/budget_caps.py` apply them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from council.budget_caps import Account, ChosenCaps
from council.money import cap_micro_usd
from council.places import LOCAL_CHATS, Place
from council.ports import KeyValueStore

SETTINGS = "settings"  # the kind of memo: one for a workspace, one for each of its channels
# Those of a workspace bear the names of `council.toml`, except these two.
CHANNELS, ADMIN_ROLES = "channels", "admin_roles"
ADMINS, ROLES = "admins", "roles"
SWITCHES = ("guests", "direct_messages", "shared_channels")
COUNTS = ("rounds_per_hour", "rounds_per_day", "rounds_at_once")
WORKSPACE_USD, CHANNEL_USD = "workspace_day_usd", "channel_day_usd"
# Those of a channel; the last two are stored elsewhere, and here is who changed them.
OPEN, VENDORS, VOTES_FIRST, PANEL, READING = "open", "vendors", "votes_first", "panel", "reading"
ON, OFF = "on", "off"
USUAL = "*"  # the value of no panel, open or closed as the workspace has it
ALL_CHANNELS, OPEN_CHANNELS = "all", "open"  # values of CHANNELS


@dataclass(frozen=True, slots=True)
class Change:
    """A value that somebody chose, and when; "" is nothing, as before anybody chose."""

    value: str
    by: str
    name: str
    at: datetime


def has_settings(place: Place) -> bool:
    """Return whether a place belongs to a workspace, for which people can choose settings."""
    return place.chat not in LOCAL_CHATS and bool(place.workspace)


def workspace_key(place: Place) -> str:
    """Return the name under which the settings of a place's workspace are stored."""
    return f"{place.chat}/{place.workspace}/"


def channel_key(place: Place) -> str:
    """Return the name under which the settings of a place's channel are stored."""
    return f"{workspace_key(place)}{place.within}"


async def load_changes(key_values: KeyValueStore, key: str) -> dict[str, Change]:
    """Return the settings under a key, by name."""
    return parse_changes(await key_values.read(SETTINGS, key) or "{}")


def parse_changes(text: str) -> dict[str, Change]:
    """Return the settings that a stored text holds, by name."""
    stored = json.loads(text)
    return {
        name: Change(one["value"], one["by"], one["name"], datetime.fromisoformat(one["at"]))
        for name, one in stored.items()
    }


async def store_changes(key_values: KeyValueStore, key: str, changes: Mapping[str, Change]) -> None:
    """Store settings under a key; those under other names stay."""
    stored = {
        name: {"value": one.value, "by": one.by, "name": one.name, "at": one.at.isoformat()}
        for name, one in ({**await load_changes(key_values, key), **changes}).items()
    }
    await key_values.put(SETTINGS, key, json.dumps(stored))


def values_of(changes: Mapping[str, Change]) -> dict[str, str]:
    """Return the values that are not empty."""
    return {name: one.value for name, one in changes.items() if one.value}


async def chosen_caps(key_values: KeyValueStore, account: Account) -> ChosenCaps:
    """Return the caps that admins chose for the workspace of an account."""
    if not account.workspace:
        return ChosenCaps()
    values = values_of(await load_changes(key_values, f"{account.workspace}/"))
    return ChosenCaps(_cap(values, WORKSPACE_USD), _cap(values, CHANNEL_USD))


def _cap(values: Mapping[str, str], name: str) -> int | None:
    return cap_micro_usd(float(values[name])) if name in values else None
