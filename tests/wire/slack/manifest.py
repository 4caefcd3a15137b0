"""Validate an app manifest as Slack does, as far as a small app needs. Pure."""

from collections.abc import Iterator
from typing import Any

from tests.wire.slack.shapes import (
    Check,
    Fault,
    all_of,
    anything,
    bad,
    choice,
    flag,
    many,
    shape,
    string,
)
from tests.wire.slack.state import SCOPES

BOT_SCOPES = frozenset({"chat:write.public", *SCOPES})
NEEDED_BY_EVENT = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "channel_archive": "channels:read",
    "channel_unarchive": "channels:read",
    "member_joined_channel": "channels:read",
}


def _scope(value: object, at: str) -> Iterator[Fault]:
    if value not in BOT_SCOPES:
        yield bad(f"unknown scope: {value}", at)


def _slash(value: object, at: str) -> Iterator[Fault]:
    if isinstance(value, str) and not value.startswith("/"):
        yield bad("must begin with a slash", at)


_command = shape(
    {"command": all_of(string(32), _slash), "description": string(2000)},
    {"usage_hint": string(1000), "should_escape": flag, "url": string(3000)},
)
_shortcut = shape(
    {
        "name": string(24),
        "type": choice("message", "global"),
        "callback_id": string(255),
        "description": string(150),
    }
)
_bot_user = shape({"display_name": string(80)}, {"always_online": flag})
_home = shape(
    {},
    {
        "home_tab_enabled": flag,
        "messages_tab_enabled": flag,
        "messages_tab_read_only_enabled": flag,
    },
)
_display = shape(
    {"name": string(35)},
    {
        "description": string(140),
        "long_description": string(4000, 175),
        "background_color": string(7, 4),
    },
)
_settings: dict[str, Check] = {
    "socket_mode_enabled": flag,
    "org_deploy_enabled": flag,
    "token_rotation_enabled": flag,
    "interactivity": shape({"is_enabled": flag}, {"request_url": string(3000)}),
    "event_subscriptions": shape(
        {}, {"request_url": string(3000), "bot_events": many(string(255), 100)}
    ),
}
_manifest = shape(
    {"display_information": _display},
    {
        "_metadata": anything,
        "features": shape(
            {},
            {
                "bot_user": _bot_user,
                "app_home": _home,
                "slash_commands": many(_command, 50),
                "shortcuts": many(_shortcut, 10),
            },
        ),
        "oauth_config": shape(
            {},
            {
                "scopes": shape({}, {"bot": many(_scope, 255)}),
                "redirect_urls": many(string(3000), 1000),
            },
        ),
        "settings": shape({}, _settings),
    },
)


def find_manifest_faults(manifest: object) -> list[Fault]:
    faults = list(_manifest(manifest, ""))
    if faults or not isinstance(manifest, dict):
        return faults
    return [*_urls(manifest), *_scopes(manifest)]


def _urls(manifest: dict[str, Any]) -> Iterator[Fault]:
    """Without Socket Mode, whatever Slack sends needs an address to send it to."""
    settings = manifest.get("settings", {})
    if settings.get("socket_mode_enabled"):
        return
    for place, command in enumerate(manifest.get("features", {}).get("slash_commands", [])):
        if "url" not in command:
            yield bad("url is required without Socket Mode", f"/features/slash_commands/{place}")
    for name in ("interactivity", "event_subscriptions"):
        if name in settings and "request_url" not in settings[name]:
            yield bad("request_url is required without Socket Mode", f"/settings/{name}")


def _scopes(manifest: dict[str, Any]) -> Iterator[Fault]:
    has = set(manifest.get("oauth_config", {}).get("scopes", {}).get("bot", []))
    features = manifest.get("features", {})
    if (features.get("slash_commands") or features.get("shortcuts")) and "commands" not in has:
        yield bad("commands and shortcuts need the scope commands", "/oauth_config/scopes/bot")
    events = manifest.get("settings", {}).get("event_subscriptions", {}).get("bot_events", [])
    for place, event in enumerate(events):
        needed = NEEDED_BY_EVENT.get(event)
        if needed and needed not in has:
            at = f"/settings/event_subscriptions/bot_events/{place}"
            yield bad(f"{event} needs the scope {needed}", at)
