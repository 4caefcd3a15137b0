"""Routes of the application, the gateway URL and the guilds."""

from typing import Any

from tests.wire.discord import payloads
from tests.wire.discord.calls import Call, RefusalError, Reply
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import State
from tests.wire.discord.world import Channel

Payload = dict[str, Any]


def own_user(state: State, _call: Call) -> Reply:
    return Reply(body=payloads.me(state.bot))


def own_application(state: State, _call: Call) -> Reply:
    """GET /applications/@me, and the older /oauth2/applications/@me."""
    return Reply(body=payloads.application(state))


def gateway_for_bots(state: State, _call: Call) -> Reply:
    left = max(0, state.rules.identifies - len(state.sessions.identified))
    limit: Payload = {
        "total": state.rules.identifies,
        "remaining": left,
        "reset_after": 86_400_000,
        "max_concurrency": 1,
    }
    shards = state.rules.shards
    body: Payload = {"url": gateway_url(state), "shards": shards, "session_start_limit": limit}
    return Reply(body=body)


def gateway_url(state: State) -> str:
    return state.address.replace("http", "ws", 1) + "/gateway"


def guild(state: State, call: Call) -> Reply:
    return Reply(body=payloads.guild(state.guild(call.names["guild_id"])))


def channels(state: State, call: Call) -> Reply:
    """GET /guilds/{guild_id}/channels: all, those too that the bot may not enter."""
    places = state.guild(call.names["guild_id"]).channels.values()
    return Reply(body=[payloads.channel(state, one) for one in places])


def member(state: State, call: Call) -> Reply:
    found = state.guild(call.names["guild_id"]).members.get(call.names["user_id"])
    if found is None:
        raise RefusalError(10007 if call.names["user_id"] in state.world.users else 10013)
    return Reply(body=payloads.member(found))


def user(state: State, call: Call) -> Reply:
    found = state.world.users.get(call.names["user_id"])
    if found is None:
        raise RefusalError(10013)
    return Reply(body=payloads.user(found))


def open_direct(state: State, call: Call) -> Reply:
    wanted = state.world.users.get(str(call.payload.get("recipient_id")))
    if wanted is None or wanted.id == BOT:
        raise RefusalError(50007 if wanted else 10013)
    return Reply(body=payloads.channel(state, direct_with(state, wanted.id)))


def direct_with(state: State, user_id: str) -> Channel:
    person = state.world.users[user_id]
    place = state.world.direct(person)
    if place is None:
        place = Channel(f"D{person.handle}", state.snowflake(), "", "dm", people={user_id, BOT})
        state.world.channels[place.id] = place
    return place
