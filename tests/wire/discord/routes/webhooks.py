"""Interaction webhooks: @original and followups, for fifteen minutes."""

from tests.wire.discord import message_payloads
from tests.wire.discord.calls import Call, RefusalError, Reply
from tests.wire.discord.message_store import delete_message, save_edit, update_message
from tests.wire.discord.routes.callbacks import say
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import Interaction, State
from tests.wire.discord.world import Message

FOLLOWUPS = 5  # of an app that only its user has


def _interaction(state: State, call: Call) -> Interaction:
    """Return the interaction of a token; one not yet answered has no webhook."""
    found = state.interactions.get(call.names["webhook_token"])
    if found is None or call.names["webhook_id"] != BOT or found.answer is None:
        raise RefusalError(10015)
    if state.now() - found.at > state.rules.token_seconds:
        raise RefusalError(state.rules.expired_code)
    if found.channel.id not in state.world.channels:
        raise RefusalError(10003)
    return found


def _message(state: State, call: Call) -> tuple[Interaction, Message]:
    interaction = _interaction(state, call)
    wanted = call.names["message_id"]
    message = interaction.original
    if wanted != "@original":
        mine = [*interaction.sent, *([interaction.original] if interaction.original else [])]
        message = next((one for one in mine if one.id == wanted), None)
    if message is None or message not in message.channel.said:
        raise RefusalError(10008)
    return interaction, message


def look(state: State, call: Call) -> Reply:
    """GET …/messages/{message_id}."""
    _, message = _message(state, call)
    return Reply(body=message_payloads.message(state, message))


def edit(state: State, call: Call) -> Reply:
    """PATCH …/messages/{message_id}; writing @original ends the thinking."""
    interaction, message = _message(state, call)
    return _edited(state, call, interaction, message)


def _edited(state: State, call: Call, interaction: Interaction, message: Message) -> Reply:
    if message.channel.archived:
        raise RefusalError(50083)
    update_message(state, message, call.payload, call.uploads)
    if message is interaction.original:
        interaction.is_deferred = False
    return Reply(body=message_payloads.message(state, save_edit(state, message)))


def delete(state: State, call: Call) -> Reply:
    """DELETE …/messages/{message_id}."""
    _, message = _message(state, call)
    delete_message(state, message)
    return Reply(204)


def follow_up(state: State, call: Call) -> Reply:
    """POST /webhooks/{webhook_id}/{webhook_token}; the first one after thinking is the answer."""
    interaction = _interaction(state, call)
    if interaction.is_deferred and interaction.original:
        return _edited(state, call, interaction, interaction.original)
    if interaction.for_user_only and interaction.followups >= FOLLOWUPS:
        raise RefusalError(40094)
    if interaction.channel.archived and interaction.channel.locked:
        raise RefusalError(50083)
    interaction.followups += 1
    message = say(state, interaction, call.payload, call)
    return Reply(body=message_payloads.message(state, message))
