"""chat.*: post, update, delete, post for one person, and link to a message."""

from tests.wire.slack.calls import Call, RefusalError
from tests.wire.slack.messages import (
    check,
    check_metadata,
    new_message,
    put,
    shown,
    take_away,
    thread_root,
    write,
)
from tests.wire.slack.methods.method import Method, Payload
from tests.wire.slack.state import State
from tests.wire.slack.workspace import BOT, Channel, Message

UPDATE_TEXT = 4_000
_STRUCTURED = {
    "blocks": "invalid_blocks_format",
    "attachments": "invalid_attachments",
    "metadata": "invalid_metadata_format",
}


def content_of(call: Call) -> Payload:
    """Return the arguments with JSON strings parsed."""
    read = {name: call.value(name, code) for name, code in _STRUCTURED.items()}
    return call.arguments | {name: value for name, value in read.items() if value is not None}


def open_channel(state: State, call: Call) -> Channel:
    """Return the channel a message may be posted in, or refuse."""
    id_ = call.required("channel", "channel_not_found")
    user = state.workspace.users.get(id_)
    if user and not user.deleted:
        return state.workspace.im_with(user.id)
    channel = state.channel(id_)
    if BOT not in channel.members and "chat:write.public" not in state.app.scopes:
        raise RefusalError("not_in_channel")
    if channel.is_archived:
        raise RefusalError("is_archived")
    return channel


def post_message(state: State, call: Call) -> Payload:
    """Post to a channel, or under a root."""
    channel = open_channel(state, call)
    content = content_of(call)
    check(state, content)
    check_metadata(content.get("metadata"))
    thread_ts = thread_root(channel, call.text("thread_ts"))
    message = put(channel, new_message(state, channel, BOT, content), thread_ts)
    message.metadata = content.get("metadata") or None
    message.broadcast = bool(thread_ts) and call.flag("reply_broadcast")
    state.echo(None, message)
    shows = shown(channel, message, metadata=True)
    return {"channel": channel.id, "ts": message.ts, "message": shows}


def own(state: State, call: Call, code: str) -> tuple[Channel, Message]:
    """Return the bot's own message that the call names, or refuse with this code."""
    channel = state.channel(call.required("channel", "channel_not_found"))
    message = channel.find(call.required("ts", "message_not_found"))
    if message is None or message.is_tombstone:
        raise RefusalError("message_not_found")
    if message.user != BOT:
        raise RefusalError(code)
    if channel.is_archived:
        raise RefusalError("is_archived")
    return channel, message


def update(state: State, call: Call) -> Payload:
    """Change a message of the bot's own."""
    channel, message = own(state, call, "cant_update_message")
    window = state.rules.edit_window_seconds
    if window is not None and state.now() - float(message.ts) > window:
        raise RefusalError("edit_window_closed")
    content = content_of(call)
    if len(call.text("text") or "") > UPDATE_TEXT:
        raise RefusalError("msg_too_long")
    check(state, content)
    check_metadata(content.get("metadata"))
    write(state, message, content)
    message.edits += 1
    message.payload["edited"] = {"user": BOT, "ts": f"{state.now():.6f}"}
    if "metadata" in content:
        message.metadata = content["metadata"] or None
    state.echo("message_changed", message)
    shows = shown(channel, message, metadata=True)
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": shows}


def delete(state: State, call: Call) -> Payload:
    """Delete a message of the bot's own."""
    channel, message = own(state, call, "cant_delete_message")
    take_away(channel, message)
    state.echo("message_deleted", message)
    return {"channel": channel.id, "ts": message.ts}


def post_ephemeral(state: State, call: Call) -> Payload:
    """Post what one member alone sees."""
    channel = open_channel(state, call)
    user = call.required("user", "user_not_in_channel")
    if user not in channel.members:
        raise RefusalError("user_not_in_channel")
    content = content_of(call)
    check(state, content)
    message = new_message(state, channel, BOT, content)
    message.ephemeral_to = user
    message.thread_ts = thread_root(channel, call.text("thread_ts"))
    state.ephemerals.append(message)
    return {"message_ts": message.ts}


def permalink(state: State, call: Call) -> Payload:
    """Link to a message."""
    channel = state.channel(call.required("channel", "channel_not_found"))
    message = channel.find(call.required("message_ts", "message_not_found"))
    if message is None:
        raise RefusalError("message_not_found")
    link = f"https://home.slack.com/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.thread_ts:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


METHODS = {
    "chat.postMessage": Method(post_message, ("chat:write",)),
    "chat.update": Method(update, ("chat:write",)),
    "chat.delete": Method(delete, ("chat:write",)),
    "chat.postEphemeral": Method(post_ephemeral, ("chat:write",)),
    "chat.getPermalink": Method(permalink, takes_json=False),
}
