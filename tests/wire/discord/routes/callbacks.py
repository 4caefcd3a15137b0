"""Interaction callbacks, and the webhooks of their messages for fifteen minutes."""

from typing import Any

from tests.wire.discord import message_payloads, payloads
from tests.wire.discord.calls import Call, RefusalError, Reply
from tests.wire.discord.checks import Fault, faults_of_modal
from tests.wire.discord.checks.shapes import many, shape, string
from tests.wire.discord.interactions import is_outside
from tests.wire.discord.message_store import (
    delete_message,
    new_message,
    post_message,
    refuse,
    save_edit,
    update_message,
)
from tests.wire.discord.permissions import Permission
from tests.wire.discord.routes.channels import awake
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import Interaction, Modal, State
from tests.wire.discord.world import EPHEMERAL, LOADING, Message

Payload = dict[str, Any]

COMMAND, COMPONENT, AUTOCOMPLETE, SUBMISSION = 2, 3, 4, 5
SAY, THINK, ACCEPT, UPDATE, SUGGEST, ASK = 4, 5, 6, 7, 8, 9
ALLOWED = {
    COMMAND: {SAY, THINK, ASK},
    COMPONENT: {SAY, THINK, ACCEPT, UPDATE, ASK},
    AUTOCOMPLETE: {SUGGEST},
    SUBMISSION: {SAY, THINK, ACCEPT, UPDATE},
}
REPLY = 19
MOST_FOLLOW_UPS = 5  # where the app is only for those who installed it for themselves
MESSAGE_TYPES = {1: 20, 2: 23, 3: 23}
_choices = shape({"choices": many(shape({"name": string(100, 1)}), 25)})


def answer(state: State, call: Call) -> Reply:
    """POST /interactions/{interaction_id}/{interaction_token}/callback."""
    interaction = state.interactions.get(call.names["interaction_token"])
    if interaction is None or interaction.id != call.names["interaction_id"]:
        raise RefusalError(10062)
    if interaction.answer is not None:
        raise RefusalError(40060)
    if interaction.is_lost or state.now() - interaction.at > state.rules.ack_seconds:
        raise RefusalError(10062)
    kind = int(call.payload.get("type") or 0)
    if kind not in ALLOWED[interaction.type] or _needs_message(kind, interaction):
        refuse([Fault("type", "BASE_TYPE_CHOICES", f"Not an answer to this interaction: {kind}")])
    _carry_out(state, call, interaction, kind)
    interaction.answer = kind
    interaction.answered.set()
    if call.query.get("with_response", "").lower() not in {"1", "true"}:
        return Reply(204)
    return Reply(body=_response(state, interaction))


def _needs_message(kind: object, interaction: Interaction) -> bool:
    return kind in {ACCEPT, UPDATE} and interaction.source is None


def _carry_out(state: State, call: Call, interaction: Interaction, kind: int) -> None:
    data = call.payload.get("data") or {}
    if kind == SAY:
        interaction.original = say(state, interaction, data, call)
    elif kind == THINK:
        interaction.original = _think(state, interaction, data)
    elif kind in {ACCEPT, UPDATE}:
        interaction.original = interaction.source
        if kind == UPDATE and interaction.source:
            update_message(state, interaction.source, data, call.uploads)
            save_edit(state, interaction.source)
    elif kind == SUGGEST:
        refuse(list(_choices(data, "data")))
        interaction.choices = [one["name"] for one in data["choices"]]
    else:
        refuse(faults_of_modal(data))
        who, about = interaction.user.handle, _metadata(interaction)
        modal = Modal(who, data, interaction.channel, about, interaction.source)
        interaction.modal = modal
        state.modals.append(modal)


def say(state: State, interaction: Interaction, data: Payload, call: Call) -> Message:
    """Put a message of this interaction into its place; what is private is for its user alone."""
    message = _message(state, interaction, is_private=bool((data.get("flags") or 0) & EPHEMERAL))
    update_message(state, message, data, call.uploads)
    awake(state, interaction.channel)
    interaction.sent.append(message)
    return post_message(state, message)


def _think(state: State, interaction: Interaction, data: Payload) -> Message:
    """Defer: the bot is thinking; whether the reply is ephemeral is settled now."""
    message = _message(state, interaction, is_private=bool((data.get("flags") or 0) & EPHEMERAL))
    message.flags |= LOADING
    interaction.is_deferred = True
    interaction.sent.append(message)
    return post_message(state, message)


def _message(state: State, interaction: Interaction, *, is_private: bool) -> Message:
    message = new_message(state, interaction.channel, state.bot)
    message.interaction = _metadata(interaction)
    if interaction.original is not None:
        message.reference, message.type = interaction.original, REPLY
    elif interaction.type == COMMAND:
        message.type = MESSAGE_TYPES[interaction.payload["data"]["type"]]
    if is_private or _is_hidden(state, interaction):
        message.flags |= EPHEMERAL
        message.ephemeral_to = interaction.user.id
    return message


def _is_hidden(state: State, interaction: Interaction) -> bool:
    """Return whether a server lets no outside app speak for everyone."""
    place = interaction.channel
    if not place.guild or not is_outside(place):
        return False
    return not state.held(place, interaction.user.id) & Permission.USE_EXTERNAL_APPS


def _metadata(interaction: Interaction) -> Payload:
    shown: Payload = {
        "id": interaction.id,
        "type": interaction.type,
        "user": payloads.user(interaction.user),
        "authorizing_integration_owners": interaction.payload["authorizing_integration_owners"],
    }
    if interaction.type == COMMAND:
        shown["name"] = interaction.payload["data"]["name"]
        shown["command_type"] = interaction.payload["data"]["type"]
    elif interaction.form:
        shown["triggering_interaction_metadata"] = interaction.form.opened_by
    elif interaction.type == COMPONENT and interaction.source:
        shown["interacted_message_id"] = interaction.source.id
    return shown


def _response(state: State, interaction: Interaction) -> Payload:
    told: Payload = {"id": interaction.id, "type": interaction.type}
    shown: Payload = {"interaction": told}
    message = interaction.original
    if message is None:
        return shown
    told |= {
        "response_message_id": message.id,
        "response_message_loading": message.is_loading,
        "response_message_ephemeral": message.ephemeral_to is not None,
        "channel_id": message.channel.id,
    }
    if interaction.answer in {SAY, UPDATE}:
        resource = {"type": interaction.answer, "message": message_payloads.message(state, message)}
        shown["resource"] = resource
    return shown


def _interaction(state: State, call: Call) -> Interaction:
    """Return the interaction of a token; one not yet answered has no webhook."""
    found = state.interactions.get(call.names["webhook_token"])
    if found is None or call.names["webhook_id"] != BOT or found.answer is None:
        raise RefusalError(10015)
    if state.now() - found.at > state.rules.token_seconds:
        raise RefusalError(50027)
    if found.channel.id not in state.world.channels:
        raise RefusalError(10003)
    return found


def _sent_message(state: State, call: Call) -> tuple[Interaction, Message]:
    interaction = _interaction(state, call)
    wanted = call.names["message_id"]
    message = interaction.original
    if wanted != "@original":
        mine = [*interaction.sent, *([interaction.original] if interaction.original else [])]
        message = next((one for one in mine if one.id == wanted), None)
    if message is None or message not in message.channel.said:
        raise RefusalError(10008)
    return interaction, message


def edit(state: State, call: Call) -> Reply:
    """PATCH …/messages/{message_id}; writing @original ends the thinking."""
    interaction, message = _sent_message(state, call)
    return _edited(state, call, interaction, message)


def _edited(state: State, call: Call, interaction: Interaction, message: Message) -> Reply:
    if message.channel.archived:
        raise RefusalError(50083)
    update_message(state, message, call.payload, call.uploads)
    if message is interaction.original:
        interaction.is_deferred = False
    return Reply(body=message_payloads.message(state, save_edit(state, message)))


def delete(state: State, call: Call) -> Reply:
    interaction, message = _sent_message(state, call)
    delete_message(state, message)
    if message is interaction.original:
        interaction.is_deferred = False
    return Reply(204)


def follow_up(state: State, call: Call) -> Reply:
    """POST /webhooks/{webhook_id}/{webhook_token}; the first one after thinking is the answer."""
    interaction = _interaction(state, call)
    if interaction.is_deferred and interaction.original:
        return _edited(state, call, interaction, interaction.original)
    if interaction.channel.archived and interaction.channel.locked:
        raise RefusalError(50083)
    if is_outside(interaction.channel) and interaction.follow_ups == MOST_FOLLOW_UPS:
        raise RefusalError(40094)
    interaction.follow_ups += 1
    message = say(state, interaction, call.payload, call)
    return Reply(body=message_payloads.message(state, message))
