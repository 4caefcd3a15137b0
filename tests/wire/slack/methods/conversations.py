"""conversations.*: what channels there are, who is in them, what was said."""

from collections.abc import Sequence
from typing import TypeVar

from tests.wire.slack.calls import Call, Method, Payload, RefusalError
from tests.wire.slack.messages import shown
from tests.wire.slack.state import State
from tests.wire.slack.workspace import Channel, Message

T = TypeVar("T")

_FAMILY = {"public": "channels", "private": "groups", "im": "im", "mpim": "mpim"}
_KINDS = {"public_channel": "public", "private_channel": "private", "im": "im", "mpim": "mpim"}


def described(state: State, channel: Channel) -> Payload:
    common: Payload = {
        "id": channel.id,
        "is_channel": channel.kind == "public",
        "is_group": channel.kind == "private",
        "is_im": channel.kind == "im",
        "is_mpim": channel.kind == "mpim",
        "is_private": channel.kind != "public",
        "is_archived": channel.is_archived,
        "is_shared": channel.is_ext_shared,
        "is_ext_shared": channel.is_ext_shared,
        "is_org_shared": False,
        "context_team_id": state.team,
    }
    if channel.kind == "im":
        return common | {"user": next(iter(channel.members - {state.bot}))}
    return common | {"name": channel.name, "is_member": state.bot in channel.members}


def page(
    call: Call, items: Sequence[T], usual: int = 100, most: int = 1000
) -> tuple[Sequence[T], str]:
    """Return the page at the cursor, and the cursor of the next."""
    cursor = call.text("cursor") or "0"
    limit = call.number("limit", usual)
    if not cursor.isdigit():
        raise RefusalError("invalid_cursor")
    if not 1 <= limit <= 1000:
        raise RefusalError("invalid_limit")
    start, limit = int(cursor), min(limit, most)
    return items[start : start + limit], str(start + limit) if start + limit < len(items) else ""


def _of_kind(state: State, call: Call, right: str) -> Channel:
    """Return the channel the call names, if the token has the scope of its kind."""
    channel = state.channel(call.required("channel", "channel_not_found"))
    state.need(call, f"{_FAMILY[channel.kind]}:{right}")
    return channel


def info(state: State, call: Call) -> Payload:
    channel = _of_kind(state, call, "read")
    return {"channel": described(state, channel)}


def members(state: State, call: Call) -> Payload:
    ids, cursor = page(call, sorted(_of_kind(state, call, "read").members))
    return {"members": list(ids), "response_metadata": {"next_cursor": cursor}}


def _within(call: Call, messages: list[Message]) -> list[Message]:
    oldest, latest = call.text("oldest") or "0", call.text("latest")
    bounds = {call.text("oldest"), latest} if call.flag("inclusive") else set()
    return [
        message
        for message in messages
        if message.ts in bounds or float(oldest) < float(message.ts) < float(latest or "inf")
    ]


def _inside(state: State, call: Call) -> Channel:
    channel = _of_kind(state, call, "history")
    if state.bot not in channel.members:
        raise RefusalError("not_in_channel")
    return channel


def _listed(state: State, call: Call, channel: Channel, messages: list[Message]) -> Payload:
    most = state.history_limit.objects if state.history_limit else 1000
    usual = 100 if call.method == "conversations.history" else 1000
    found, cursor = page(call, messages, usual, most)
    metadata = call.flag("include_all_metadata")
    return {
        "messages": [shown(channel, message, metadata=metadata) for message in found],
        "has_more": bool(cursor),
        "response_metadata": {"next_cursor": cursor},
    }


def history(state: State, call: Call) -> Payload:
    """Return the messages of a channel, latest first, without replies."""
    channel = _inside(state, call)
    said = [one for one in channel.said if one.thread_ts is None]
    return _listed(state, call, channel, _within(call, said)[::-1])


def replies(state: State, call: Call) -> Payload:
    """Return a root and its replies; for a reply, only itself."""
    channel = _inside(state, call)
    root = channel.find(call.required("ts", "thread_not_found"))
    under = [one for one in channel.said if one.thread_ts == call.text("ts")]
    if root is None and not under:
        raise RefusalError("thread_not_found")
    return _listed(state, call, channel, [*([root] if root else []), *_within(call, under)])


def open_(state: State, call: Call) -> Payload:
    users = [name for name in (call.text("users") or "").split(",") if name]
    if not users:
        raise RefusalError("users_list_not_supplied")
    if len(users) > 1:
        raise RefusalError("not_supported_by_this_fake")
    state.need(call, "im:write")
    user = state.workspace.users.get(users[0])
    if user is None:
        raise RefusalError("user_not_found")
    if user.deleted:
        raise RefusalError("user_disabled")
    if user.is_bot:
        raise RefusalError("cannot_dm_bot")
    return {"channel": {"id": state.workspace.im_with(user.id).id}}


def list_own(state: State, call: Call) -> Payload:
    types = (call.text("types") or "public_channel").split(",")
    if not set(types) <= set(_KINDS):
        raise RefusalError("invalid_types")
    kinds = {_KINDS[name] for name in types}
    for kind in kinds:
        state.need(call, f"{_FAMILY[kind]}:read")
    found = [
        described(state, channel)
        for channel in state.workspace.channels.values()
        if channel.kind in kinds
        and state.bot in channel.members
        and not (call.flag("exclude_archived") and channel.is_archived)
    ]
    channels, cursor = page(call, found)
    return {"channels": list(channels), "response_metadata": {"next_cursor": cursor}}


METHODS = {
    "conversations.info": Method(info, takes_json=False),
    "conversations.members": Method(members, takes_json=False),
    "conversations.history": Method(history, takes_json=False),
    "conversations.replies": Method(replies, takes_json=False),
    "conversations.open": Method(open_),
    "users.conversations": Method(list_own, takes_json=False),
}
