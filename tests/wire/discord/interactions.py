"""Interaction payloads for the app, and the commands that a user can see."""

from typing import Any

from tests.wire.discord import message_payloads, payloads
from tests.wire.discord.permissions import Permission
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import Interaction, Modal, State
from tests.wire.discord.world import Channel, Message, User

Payload = dict[str, Any]

IN_GUILD, IN_BOT_DM = 0, 1
FOR_GUILD, FOR_USER = "0", "1"


def open_interaction(
    state: State,
    kind: int,
    user: User,
    place: Channel,
    data: Payload,
    cause: Message | Modal | None,
) -> Interaction:
    """Send an interaction to every session; the cause is a message clicked or a modal sent."""
    form = cause if isinstance(cause, Modal) else None
    source = cause.source if isinstance(cause, Modal) else cause
    id_ = state.snowflake()
    token = f"aW50ZXJhY3Rpb24{id_}"
    interaction = Interaction(id_, token, kind, user, place, state.now(), {}, source, form)
    interaction.payload = _payload(state, interaction, data)
    state.interactions[token] = interaction
    state.sessions.dispatch("INTERACTION_CREATE", interaction.payload)
    return interaction


def _payload(state: State, interaction: Interaction, data: Payload) -> Payload:
    place, user = interaction.channel, interaction.user
    held = payloads.permissions(state, place, user.id)
    sent: Payload = {
        "id": interaction.id,
        "application_id": BOT,
        "type": interaction.type,
        "data": data,
        "token": interaction.token,
        "version": 1,
        "channel_id": place.id,
        "channel": {**payloads.channel(state, place), "permissions": held},
        "app_permissions": payloads.permissions(state, place, BOT),
        "locale": "en-US",
        "entitlements": [],
        "attachment_size_limit": state.rules.file_bytes,
        "context": IN_GUILD if place.guild else IN_BOT_DM,
    }
    if interaction.source:
        sent["message"] = message_payloads.message(state, interaction.source)
    guild = place.guild
    if guild is None:
        owners = {FOR_GUILD: "0", FOR_USER: user.id}
        return {**sent, "user": payloads.user(user), "authorizing_integration_owners": owners}
    return {
        **sent,
        "guild_id": guild.id,
        "guild": {"id": guild.id, "locale": "en-US", "features": []},
        "guild_locale": "en-US",
        "member": {**payloads.member(guild.members[user.id]), "permissions": held},
        "authorizing_integration_owners": {FOR_GUILD: guild.id},
    }


def find_command(state: State, place: Channel, user: User, name: str, kind: int = 1) -> Payload:
    """Return the command someone chooses here, if Discord shows it to them."""
    guild = place.guild
    held = state.held(place, user.id)
    if guild:
        assert held & Permission.USE_APPLICATION_COMMANDS, f"{user.name} may use no commands"
    for command in state.commands:
        if (command["type"], command["name"]) == (kind, name):
            contexts = command.get("contexts")
            here = IN_GUILD if guild else IN_BOT_DM
            assert contexts is None or here in contexts, f"{name} does not show in {place.handle}"
            needed = int(command.get("default_member_permissions") or 0)
            assert not guild or held & needed == needed, f"{name} does not show to {user.name}"
            return command
    raise AssertionError(f"no command {name!r} among {[one['name'] for one in state.commands]}")
