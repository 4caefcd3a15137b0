"""Message routes: send, edit, delete, history."""

from tests.wire.discord import message_payloads
from tests.wire.discord.calls import Call, RefusalError, Reply
from tests.wire.discord.checks import Fault
from tests.wire.discord.message_store import (
    delete_message,
    new_message,
    post_message,
    refuse,
    save_edit,
    update_message,
)
from tests.wire.discord.permissions import Permission
from tests.wire.discord.routes.channels import awake, joined
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import State
from tests.wire.discord.world import Channel, Message

OLD_SECONDS = 3600.0
REPLY = 19


def send(state: State, call: Call) -> Reply:
    """POST /channels/{channel_id}/messages."""
    place = _speaking(state, call)
    nonce = call.payload.get("nonce")
    key = (place.id, str(nonce))
    twin = state.nonces.get(key) if call.payload.get("enforce_nonce") else None
    if twin is not None and state.now() - twin.at <= state.rules.nonce_seconds:
        return Reply(body=message_payloads.rest_payload(state, twin))
    message = new_message(state, place, state.bot)
    _refer(state, message, call)
    update_message(state, message, call.payload, call.uploads)
    if nonce is not None:
        message.nonce = str(nonce)
        state.nonces[key] = message
    if place.is_thread:
        awake(state, place)
        joined(state, place, BOT)
    return Reply(body=message_payloads.rest_payload(state, post_message(state, message)))


def show_typing(state: State, call: Call) -> Reply:
    """POST /channels/{channel_id}/typing."""
    _speaking(state, call)
    return Reply(204)


def _speaking(state: State, call: Call) -> Channel:
    """Return a place where the bot may say what it wants to say."""
    place = state.channel(call.names["channel_id"])
    if place.kind == "forum":
        raise RefusalError(50008)
    voice = Permission.SEND_MESSAGES_IN_THREADS if place.is_thread else Permission.SEND_MESSAGES
    needed = [voice]
    if call.payload.get("embeds"):
        needed.append(Permission.EMBED_LINKS)
    if call.uploads:
        needed.append(Permission.ATTACH_FILES)
    state.channel(place.id, *needed)
    if place.locked and not state.held(place) & Permission.MANAGE_THREADS:
        raise RefusalError(50083 if place.archived else 160005)
    if place.kind == "dm" and not _reachable(state, place):
        raise RefusalError(50007)
    return place


def _reachable(state: State, place: Channel) -> bool:
    """Return whether the bot may write to a user: they allow it and share a guild with it."""
    (person,) = place.people - {BOT}
    guilds = [guild for guild in state.world.guilds.values() if guild.has_bot]
    shares = any(person in guild.members for guild in guilds)
    return shares and state.world.users[person].takes_direct_messages


def _refer(state: State, message: Message, call: Call) -> None:
    """Return the message replied to; raise RefusalError if it is gone and must exist."""
    reference = call.payload.get("message_reference")
    if not reference:
        return
    if not state.held(message.channel) & Permission.READ_MESSAGE_HISTORY:
        raise RefusalError(160002)
    original = message.channel.find(str(reference.get("message_id")))
    if original is None and reference.get("fail_if_not_exists", True):
        refuse([Fault("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")])
    if original is not None:
        message.reference, message.type = original, REPLY
        mentions = call.payload.get("allowed_mentions")
        message.pings_author = mentions is None or bool(mentions.get("replied_user"))


def history(state: State, call: Call) -> Reply:
    """GET /channels/{channel_id}/messages, the newest first."""
    place = state.channel(call.names["channel_id"])
    if not state.held(place) & Permission.READ_MESSAGE_HISTORY:
        return Reply(body=[])
    limit = int(call.query.get("limit", "50"))
    if not 1 <= limit <= 100:
        message = "int value should be less than or equal to 100"
        refuse([Fault("limit", "NUMBER_TYPE_MAX", message)])
    said = [one for one in place.said if not one.ephemeral_to]
    if "before" in call.query:
        said = [one for one in said if int(one.id) < int(call.query["before"])]
    if "after" in call.query:
        said = [one for one in said if int(one.id) > int(call.query["after"])][:limit]
    return Reply(body=[message_payloads.rest_payload(state, one) for one in said[::-1][:limit]])


def one(state: State, call: Call) -> Reply:
    """GET /channels/{channel_id}/messages/{message_id}."""
    place = state.channel(call.names["channel_id"], Permission.READ_MESSAGE_HISTORY)
    found = state.message(place, call.names["message_id"])
    return Reply(body=message_payloads.rest_payload(state, found))


def edit(state: State, call: Call) -> Reply:
    """PATCH /channels/{channel_id}/messages/{message_id}: the bot's own alone."""
    place = state.channel(call.names["channel_id"])
    message = state.message(place, call.names["message_id"])
    if message.author.id != BOT:
        raise RefusalError(50005)
    if place.archived:
        raise RefusalError(50083)
    if call.payload.get("embeds"):
        state.channel(place.id, Permission.EMBED_LINKS)
    if call.uploads:
        state.channel(place.id, Permission.ATTACH_FILES)
    if state.now() - message.at > OLD_SECONDS:
        if message.old_edits >= state.rules.old_edits:
            raise RefusalError(30046, retry_after=1.0)
        message.old_edits += 1
    update_message(state, message, call.payload, call.uploads)
    return Reply(body=message_payloads.rest_payload(state, save_edit(state, message)))


def delete(state: State, call: Call) -> Reply:
    """DELETE /channels/{channel_id}/messages/{message_id}: the bot's own, or with a permission."""
    place = state.channel(call.names["channel_id"])
    message = state.message(place, call.names["message_id"])
    if message.author.id != BOT:
        state.channel(place.id, Permission.MANAGE_MESSAGES)
    if place.archived:
        raise RefusalError(50083)
    delete_message(state, message)
    return Reply(204)
