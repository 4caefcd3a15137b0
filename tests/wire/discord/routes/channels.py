"""Channels and threads: get and remove, start a thread from a message, reopen it, add members."""

from typing import Any

from tests.wire.discord import payloads
from tests.wire.discord.calls import Call, RefusalError, Reply
from tests.wire.discord.checks.shapes import choice, flag, number, shape, string
from tests.wire.discord.message_store import dispatch_message, refuse
from tests.wire.discord.permissions import Permission
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.sessions import GUILDS
from tests.wire.discord.state import State
from tests.wire.discord.world import HAS_THREAD, Channel, Kind

Payload = dict[str, Any]

ARCHIVING = (60, 1440, 4320, 10080)
_settings = {
    "auto_archive_duration": choice(*ARCHIVING),
    "rate_limit_per_user": number(0, 21600),
}
_changes = shape({}, {**_settings, "name": string(100, 1), "archived": flag, "locked": flag})
_new = shape({"name": string(100, 1)}, _settings)


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


def one(state: State, call: Call) -> Reply:
    return Reply(body=payloads.channel(state, state.channel(call.names["channel_id"])))


def edit_thread(state: State, call: Call) -> Reply:
    """PATCH /channels/{channel_id}, for threads: archived ones can only be reopened."""
    thread = state.channel(call.names["channel_id"])
    if not thread.is_thread:
        state.channel(thread.id, Permission.MANAGE_CHANNELS)
    given = {name: value for name, value in call.payload.items() if value is not None}
    refuse(list(_changes(given, "")))
    manages = bool(state.held(thread) & Permission.MANAGE_THREADS)
    reopens = given.get("archived") is False
    if thread.archived and not reopens:
        raise RefusalError(50083)
    if not manages:
        if thread.locked or not state.held(thread) & Permission.SEND_MESSAGES_IN_THREADS:
            raise RefusalError(50013)
        if thread.owner != BOT and set(given) != {"archived"}:
            raise RefusalError(50013)
    thread.archived = bool(given.get("archived", thread.archived))
    thread.name = given.get("name", thread.name)
    shown = payloads.channel(state, thread)
    state.sessions.dispatch("THREAD_UPDATE", shown, GUILDS)
    return Reply(body=shown)


def remove(state: State, place: Channel) -> None:
    """Take a place away with the threads under it, and tell of it."""
    for thread in state.world.threads_of(place):
        state.world.channels.pop(thread.id)
    shown = payloads.channel(state, place)
    del state.world.channels[place.id]
    state.world.gone[place.id] = place
    if place.guild is None:
        return
    place.guild.channels.pop(place.id, None)
    if place.is_thread:
        names = ("id", "guild_id", "parent_id", "type")
        told = {name: shown[name] for name in names}
        state.sessions.dispatch("THREAD_DELETE", told, GUILDS)
    else:
        state.sessions.dispatch("CHANNEL_DELETE", shown, GUILDS)
