"""chat.*: post, update, and post for one person."""

from tests.wire.slack.calls import Call, Method, Payload, RefusalError
from tests.wire.slack.messages import (
    check,
    check_metadata,
    new_message,
    put,
    shown,
    thread_root,
    write,
)
from tests.wire.slack.state import State
from tests.wire.slack.workspace import Channel

UPDATE_TEXT = 4_000
_STRUCTURED = {"blocks": "invalid_blocks_format", "metadata": "invalid_metadata_format"}


def _content_of(call: Call) -> Payload:
    read = {name: call.value(name, code) for name, code in _STRUCTURED.items()}
    return call.arguments | {name: value for name, value in read.items() if value is not None}


def _open_channel(state: State, call: Call) -> Channel:
    """Return the channel a message may be posted in, or refuse."""
    id_ = call.required("channel", "channel_not_found")
    user = state.workspace.users.get(id_)
    if user and not user.deleted:
        return state.workspace.im_with(user.id)
    channel = state.channel(id_)
    if state.bot not in channel.members and "chat:write.public" not in state.app.scopes:
        raise RefusalError("not_in_channel")
    if channel.is_archived:
        raise RefusalError("is_archived")
    return channel


def post_message(state: State, call: Call) -> Payload:
    channel = _open_channel(state, call)
    content = _content_of(call)
    check(state, content)
    check_metadata(content.get("metadata"))
    thread_ts = thread_root(channel, call.text("thread_ts"))
    message = put(channel, new_message(state, channel, state.bot, content), thread_ts)
    message.metadata = content.get("metadata") or None
    state.echo(None, message)
    shows = shown(channel, message, metadata=True)
    return {"channel": channel.id, "ts": message.ts, "message": shows}


def update(state: State, call: Call) -> Payload:
    channel = state.channel(call.required("channel", "channel_not_found"))
    message = channel.find(call.required("ts", "message_not_found"))
    if message is None:
        raise RefusalError("message_not_found")
    if message.user != state.bot:
        raise RefusalError("cant_update_message")
    if channel.is_archived:
        raise RefusalError("is_archived")
    window = state.rules.edit_window_seconds
    if window is not None and state.now() - float(message.ts) > window:
        raise RefusalError("edit_window_closed")
    content = _content_of(call)
    if len(call.text("text") or "") > UPDATE_TEXT:
        raise RefusalError("msg_too_long")
    check(state, content)
    check_metadata(content.get("metadata"))
    write(state, message, content)
    message.edits += 1
    message.payload["edited"] = {"user": state.bot, "ts": f"{state.now():.6f}"}
    if "metadata" in content:
        message.metadata = content["metadata"] or None
    state.echo("message_changed", message)
    shows = shown(channel, message, metadata=True)
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": shows}


def post_ephemeral(state: State, call: Call) -> Payload:
    """Post what one member alone sees."""
    channel = _open_channel(state, call)
    user = call.required("user", "user_not_in_channel")
    if user not in channel.members:
        raise RefusalError("user_not_in_channel")
    content = _content_of(call)
    check(state, content)
    message = new_message(state, channel, state.bot, content)
    message.ephemeral_to = user
    message.thread_ts = thread_root(channel, call.text("thread_ts"))
    state.ephemerals.append(message)
    return {"message_ts": message.ts}


def delete(state: State, call: Call) -> Payload:
    """Delete a message of the app's own; one with replies leaves them in place."""
    channel = state.channel(call.required("channel", "channel_not_found"))
    message = channel.find(call.required("ts", "message_not_found"))
    if message is None:
        raise RefusalError("message_not_found")
    if message.user != state.bot:
        raise RefusalError("cant_delete_message")
    channel.said.remove(message)
    return {"channel": channel.id, "ts": message.ts}


METHODS = {
    "chat.postMessage": Method(post_message, ("chat:write",)),
    "chat.update": Method(update, ("chat:write",)),
    "chat.delete": Method(delete, ("chat:write",)),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",)),
}
