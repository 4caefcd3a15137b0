"""Payloads of commands, events and interactions, as Slack sends them."""

from typing import Any

from tests.wire.slack.state import State, View
from tests.wire.slack.workspace import APP, Channel, Message

Payload = dict[str, Any]

TOKEN = "verification-token"
_NAMES = {"im": "directmessage", "private": "privategroup", "mpim": "mpdm"}


def command(state: State, user: str, channel: Channel, line: tuple[str, str]) -> Payload:
    """Return a slash command, which names no thread; `line` is the command and its text."""
    return {
        "token": TOKEN,
        "team_id": state.team,
        "team_domain": "home",
        "channel_id": channel.id,
        "channel_name": _NAMES.get(channel.kind, channel.name),
        "user_id": user,
        "user_name": state.workspace.users[user].name,
        "command": line[0],
        "text": line[1],
        "api_app_id": APP,
        "is_enterprise_install": str(state.is_org_install).lower(),
        **({"enterprise_id": found} if (found := state.workspace.enterprise) else {}),
        "response_url": state.hook(user, channel.id),
        "trigger_id": state.trigger(user),
    }


def event(state: State, inner: Payload, *, shared: bool = False) -> Payload:
    number = state.number()
    return {
        "token": TOKEN,
        "team_id": state.team,
        **({"enterprise_id": found} if (found := state.workspace.enterprise) else {}),
        "context_team_id": state.team,
        "api_app_id": APP,
        "event": inner,
        "type": "event_callback",
        "event_id": f"Ev{number:08d}",
        "event_time": int(state.now()),
        "authorizations": [
            {
                "enterprise_id": state.workspace.enterprise or None,
                "team_id": None if state.is_org_install else state.team,
                "user_id": state.bot,
                "is_bot": True,
                "is_enterprise_install": state.is_org_install,
            }
        ],
        "is_ext_shared_channel": shared,
        "event_context": f"context-{number}",
    }


def said(state: State, message: Message, channel: Channel, type_: str) -> Payload:
    author = state.workspace.users[message.user]
    inner: Payload = {
        "type": type_,
        "user": message.user,
        "text": message.text,
        "ts": message.ts,
        "channel": channel.id,
        "event_ts": message.ts,
        "team": author.team,
        "client_msg_id": f"client-{message.ts}",
    }
    if type_ == "message":
        inner["channel_type"] = {"public": "channel", "private": "group"}.get(
            channel.kind, channel.kind
        )
    if message.thread_ts:
        inner["thread_ts"] = message.thread_ts
    if files := message.payload.get("files"):
        inner["files"] = files
        if type_ == "message":
            inner["subtype"] = "file_share"
    if author.is_stranger:
        inner |= {"user_team": author.team, "source_team": author.team}
    return inner


def echo(message: Message, channel: Channel, subtype: str | None, at: str) -> Payload:
    """Return the event for a message that the app posted or changed."""
    kind = {"public": "channel", "private": "group"}.get(channel.kind, channel.kind)
    place: Payload = {"channel": channel.id, "channel_type": kind}
    if subtype is None:
        return {**message.payload, **place, "event_ts": message.ts}
    inner = place | {
        "type": "message",
        "subtype": subtype,
        "hidden": True,
        "ts": at,
        "event_ts": at,
    }
    return inner | {"message": message.payload}


def interaction(state: State, type_: str, user: str) -> Payload:
    who = state.workspace.users[user]
    return {
        "type": type_,
        "token": TOKEN,
        "action_ts": f"{state.now():.6f}",
        "team": {"id": state.team, "domain": "home"},
        "user": {"id": user, "username": who.name, "name": who.name, "team_id": who.team},
        "api_app_id": APP,
        "trigger_id": state.trigger(user),
        "enterprise": {"id": found} if (found := state.workspace.enterprise) else None,
        "is_enterprise_install": state.is_org_install,
    }


def click_in_message(state: State, message: Message, user: str, action: Payload) -> Payload:
    """Return a click in a message; for an ephemeral one Slack does not send the text."""
    channel = state.workspace.channels[message.channel]
    hidden = message.ephemeral_to is not None
    container: Payload = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": hidden,
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    payload = interaction(state, "block_actions", user) | {
        "container": container,
        "channel": {"id": channel.id, "name": _NAMES.get(channel.kind, channel.name)},
        "state": {"values": {}},
        "response_url": state.hook(user, channel.id, message),
        "actions": [action],
    }
    return payload if hidden else payload | {"message": message.payload}


def click_in_view(state: State, view: View, action: Payload) -> Payload:
    return interaction(state, "block_actions", view.user) | {
        "container": {"type": "view", "view_id": view.id},
        "view": view.payload,
        "actions": [action],
    }


def submission(state: State, view: View, values: Payload) -> Payload:
    return interaction(state, "view_submission", view.user) | {
        "view": view.payload | {"state": {"values": values}},
        "response_urls": [],
    }


def shortcut(state: State, user: str, callback_id: str, message: Message | None) -> Payload:
    if message is None:
        return interaction(state, "shortcut", user) | {"callback_id": callback_id}
    channel = state.workspace.channels[message.channel]
    return interaction(state, "message_action", user) | {
        "callback_id": callback_id,
        "message_ts": message.ts,
        "channel": {"id": channel.id, "name": _NAMES.get(channel.kind, channel.name)},
        "message": message.payload,
        "response_url": state.hook(user, channel.id),
    }
