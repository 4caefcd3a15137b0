"""Channel routes: get and delete."""

from typing import Any

from tests.wire.discord import payloads
from tests.wire.discord.calls import Call, RefusalError, Reply
from tests.wire.discord.gateway.sessions import GUILDS
from tests.wire.discord.permissions import Permission
from tests.wire.discord.state import State
from tests.wire.discord.world import Channel

Payload = dict[str, Any]


def one(state: State, call: Call) -> Reply:
    """GET /channels/{channel_id}."""
    return Reply(body=payloads.channel(state, state.channel(call.names["channel_id"])))


def delete(state: State, call: Call) -> Reply:
    """DELETE /channels/{channel_id}: a thread or a channel the bot may manage."""
    place = state.channel(call.names["channel_id"])
    if place.guild is None:
        raise RefusalError(50003)
    manage = Permission.MANAGE_THREADS if place.is_thread else Permission.MANAGE_CHANNELS
    state.channel(place.id, manage)
    shown = payloads.channel(state, place)
    remove(state, place)
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
