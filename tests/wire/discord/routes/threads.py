"""Thread routes: start from a message, in a forum or alone; members."""

from typing import Any

from tests.wire.discord import message_payloads, payloads
from tests.wire.discord.calls import Call, RefusalError, Reply
from tests.wire.discord.checks.shapes import choice, number, shape, string
from tests.wire.discord.gateway.sessions import GUILDS
from tests.wire.discord.message_store import (
    dispatch_message,
    new_message,
    post_message,
    refuse,
    update_message,
)
from tests.wire.discord.permissions import Permission
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import State
from tests.wire.discord.world import HAS_THREAD, Channel, Kind

Payload = dict[str, Any]

ARCHIVING = (60, 1440, 4320, 10080)
PRIVATE = 12
_settings = {
    "auto_archive_duration": choice(*ARCHIVING),
    "rate_limit_per_user": number(0, 21600),
}
_new = shape({"name": string(100, 1)}, _settings)
_changed = shape({}, {"name": string(100, 1), **_settings})


def begin(state: State, place: Channel, given: Payload, id_: str, kind: Kind = "thread") -> Channel:
    """Open a thread of the bot's, and tell of it."""
    thread = Channel(f"T{id_}", id_, given["name"], kind, place.guild, place)
    thread.owner, thread.people, thread.created = BOT, {BOT}, state.now()
    thread.auto_archive = given.get("auto_archive_duration") or 1440
    thread.slow_mode = given.get("rate_limit_per_user") or 0
    state.world.channels[thread.id] = thread
    shown = {**payloads.channel(state, thread), "newly_created": True}
    state.sessions.dispatch("THREAD_CREATE", shown, GUILDS)
    return thread


def from_message(state: State, call: Call) -> Reply:
    """POST /channels/{channel_id}/messages/{message_id}/threads: its id is the message's."""
    place = state.channel(call.names["channel_id"])
    if place.kind != "text":
        raise RefusalError(50024)
    state.channel(place.id, Permission.CREATE_PUBLIC_THREADS)
    message = state.message(place, call.names["message_id"])
    refuse(list(_new(call.payload, "")))
    if message.thread is not None or message.id in state.world.channels:
        raise RefusalError(160004)
    message.thread = begin(state, place, call.payload, message.id)
    message.flags |= HAS_THREAD
    dispatch_message(state, "MESSAGE_UPDATE", message)
    return Reply(201, payloads.channel(state, message.thread))


def alone(state: State, call: Call) -> Reply:
    """POST /channels/{channel_id}/threads: a forum's post, or a thread of no message."""
    place = state.channel(call.names["channel_id"])
    if place.kind == "forum":
        return _forum_post(state, call, place)
    if place.kind != "text":
        raise RefusalError(50024)
    is_private = call.payload.get("type", PRIVATE) == PRIVATE
    needed = Permission.CREATE_PRIVATE_THREADS if is_private else Permission.CREATE_PUBLIC_THREADS
    state.channel(place.id, needed)
    refuse(list(_new(call.payload, "")))
    kind: Kind = "private_thread" if is_private else "thread"
    thread = begin(state, place, call.payload, state.snowflake(), kind)
    return Reply(201, payloads.channel(state, thread))


def _forum_post(state: State, call: Call, place: Channel) -> Reply:
    """Open a post; who may send there may open one, and its first message has its id."""
    state.channel(place.id, Permission.SEND_MESSAGES)
    refuse(list(_new(call.payload, "")))
    thread = Channel("", state.snowflake(), "", "thread", place.guild, place)
    first = new_message(state, thread, state.bot)
    first.id = thread.id
    update_message(state, first, call.payload.get("message") or {}, call.uploads)
    first.channel = begin(state, place, call.payload, thread.id)
    for file in first.files:
        file.channel = thread.id
    post_message(state, first)
    shown = payloads.channel(state, first.channel)
    return Reply(201, {**shown, "message": message_payloads.rest_payload(state, first)})


def change(state: State, call: Call) -> Reply:
    """PATCH /channels/{channel_id}: a thread's name and state, or a channel's name."""
    place = state.channel(call.names["channel_id"])
    refuse(list(_changed(call.payload, "")))
    if not place.is_thread:
        state.channel(place.id, Permission.MANAGE_CHANNELS)
        place.name = call.payload.get("name") or place.name
        return Reply(body=payloads.channel(state, place))
    _change_thread(state, place, call.payload)
    shown = payloads.channel(state, place)
    state.sessions.dispatch("THREAD_UPDATE", shown, GUILDS)
    return Reply(body=shown)


def _change_thread(state: State, thread: Channel, given: Payload) -> None:
    manages = state.held(thread) & Permission.MANAGE_THREADS
    if thread.archived and given.get("archived") is not False:
        raise RefusalError(50083)
    if not manages and (thread.owner != BOT or thread.locked or "locked" in given):
        raise RefusalError(50013)
    thread.name = given.get("name") or thread.name
    thread.archived = given.get("archived", thread.archived)
    thread.locked = given.get("locked", thread.locked)
    thread.auto_archive = given.get("auto_archive_duration") or thread.auto_archive


def awake(state: State, thread: Channel) -> None:
    """A message in an archived thread opens it again."""
    if thread.archived:
        thread.archived = False
        state.sessions.dispatch("THREAD_UPDATE", payloads.channel(state, thread), GUILDS)


def joined(state: State, thread: Channel, user: str) -> None:
    """Add a member to a thread, and dispatch the event."""
    if user in thread.people or thread.guild is None:
        return
    thread.people.add(user)
    told: Payload = {"id": thread.id, "guild_id": thread.guild.id}
    told |= {"member_count": len(thread.people)}
    told["added_members"] = [payloads.thread_member(thread, user)]
    state.sessions.dispatch("THREAD_MEMBERS_UPDATE", told, GUILDS)


def _thread(state: State, call: Call) -> Channel:
    thread = state.channel(call.names["channel_id"])
    if not thread.is_thread:
        raise RefusalError(50024)
    return thread


def members(state: State, call: Call) -> Reply:
    """GET /channels/{channel_id}/thread-members."""
    thread = _thread(state, call)
    shown = [payloads.thread_member(thread, one) for one in sorted(thread.people)]
    return Reply(body=shown)


def join(state: State, call: Call) -> Reply:
    """PUT /channels/{channel_id}/thread-members/{user_id}; "@me" is the bot."""
    thread = _thread(state, call)
    if thread.archived:
        raise RefusalError(50083)
    user = BOT if call.names["user_id"] == "@me" else call.names["user_id"]
    if thread.guild is None or user not in thread.guild.members:
        raise RefusalError(10007)
    joined(state, thread, user)
    return Reply(204)


def leave(state: State, call: Call) -> Reply:
    """DELETE /channels/{channel_id}/thread-members/{user_id}."""
    thread = _thread(state, call)
    user = BOT if call.names["user_id"] == "@me" else call.names["user_id"]
    if user != BOT:
        state.channel(thread.id, Permission.MANAGE_THREADS)
    thread.people.discard(user)
    return Reply(204)
