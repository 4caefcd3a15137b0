"""Interaction payloads for the app, and the commands that a user can see."""

from typing import Any

from tests.wire.discord import message_payloads, payloads
from tests.wire.discord.permissions import IN_MESSAGES, Permission
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import Interaction, Modal, State
from tests.wire.discord.world import Channel, Message, User

Payload = dict[str, Any]

IN_GUILD, IN_BOT_DM, IN_PRIVATE = 0, 1, 2
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
        "app_permissions": _app_permissions(state, place),
        "locale": "en-US",
        "entitlements": [],
        "attachment_size_limit": state.rules.file_bytes,
        "context": context_of(place),
        "authorizing_integration_owners": _owners(place, interaction),
    }
    if interaction.source:
        sent["message"] = message_payloads.message(state, interaction.source)
    guild = place.guild
    if guild is None:
        return {**sent, "user": payloads.user(user)}
    return {
        **sent,
        "guild_id": guild.id,
        "guild": {"id": guild.id, "locale": "en-US", "features": []},
        "guild_locale": "en-US",
        "member": {**payloads.member(guild.members[user.id]), "permissions": held},
    }


def context_of(place: Channel) -> int:
    if place.guild:
        return IN_GUILD
    return IN_BOT_DM if BOT in place.people else IN_PRIVATE


def is_outside(place: Channel) -> bool:
    """Return whether the app is there only for those who installed it for themselves."""
    return not place.guild.has_bot if place.guild else context_of(place) == IN_PRIVATE


def is_for_guild(place: Channel) -> bool:
    """Return whether the place's server installed the app, with its bot or only its commands."""
    return not is_outside(place) or bool(place.guild and place.guild.has_commands)


def _app_permissions(state: State, place: Channel) -> str:
    return str(int(IN_MESSAGES)) if is_outside(place) else payloads.permissions(state, place, BOT)


def _owners(place: Channel, interaction: Interaction) -> Payload:
    """Return who installed the app; for a button, what its message was made by."""
    if interaction.source and interaction.source.interaction:
        found: Payload = interaction.source.interaction["authorizing_integration_owners"]
        return found
    owners: Payload = {}
    if is_for_guild(place):
        owners[FOR_GUILD] = place.guild.id if place.guild else "0"
    if interaction.user.has_app:
        owners[FOR_USER] = interaction.user.id
    return owners


def find_command(state: State, place: Channel, user: User, name: str, kind: int = 1) -> Payload:
    """Return the command someone chooses here, if Discord shows it to them."""
    guild = place.guild
    held = state.held(place, user.id)
    if guild:
        assert held & Permission.USE_APPLICATION_COMMANDS, f"{user.name} may use no commands"
    for command in state.commands:
        if (command["type"], command["name"]) == (kind, name):
            contexts = command.get("contexts")
            shows = contexts is None or context_of(place) in contexts
            installs = command.get("integration_types") or [0]
            is_installed = (0 in installs and is_for_guild(place)) or (
                1 in installs and user.has_app
            )
            shows = shows and is_installed
            assert shows, f"{name} does not show in {place.handle}"
            needed = int(command.get("default_member_permissions") or 0)
            assert not guild or held & needed == needed, f"{name} does not show to {user.name}"
            return command
    raise AssertionError(f"no command {name!r} among {[one['name'] for one in state.commands]}")
