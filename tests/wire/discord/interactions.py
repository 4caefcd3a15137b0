"""Interaction payloads for the app, and the commands that a user can see."""

from typing import Any

from tests.wire.discord import message_payloads, payloads
from tests.wire.discord.permissions import Permission
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import Interaction, Modal, SeenFault, State
from tests.wire.discord.world import Channel, Message, User

Payload = dict[str, Any]

IN_GUILD, IN_BOT_DM = 0, 1
FOR_GUILD, FOR_USER = "0", "1"


class Interactions:
    """Opens interactions and sends them to every session; no intent is asked for."""

    def __init__(self, state: State) -> None:
        self._state = state

    def open(
        self, kind: int, user: User, place: Channel, data: Payload, cause: Message | Modal | None
    ) -> Interaction:
        """Send one; what causes it is a message that was clicked, or a modal that is sent."""
        form = cause if isinstance(cause, Modal) else None
        source = cause.source if isinstance(cause, Modal) else cause
        state = self._state
        id_ = state.snowflake()
        token = f"aW50ZXJhY3Rpb24{id_}"
        interaction = Interaction(id_, token, kind, user, place, state.now(), {}, source, form)
        interaction.for_user_only = place.guild is not None and not place.guild.has_bot
        interaction.payload = self._payload(interaction, data)
        state.interactions[token] = interaction
        state.sessions.dispatch("INTERACTION_CREATE", interaction.payload)
        return interaction

    def failed(self, user: User, what: str) -> None:
        """Show someone that the app failed."""
        self._state.faults.append(SeenFault(user.handle, what))

    def _payload(self, interaction: Interaction, data: Payload) -> Payload:
        state, place, user = self._state, interaction.channel, interaction.user
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
        return sent | self._owner(interaction, held)

    def _owner(self, interaction: Interaction, held: str) -> Payload:
        guild, user = interaction.channel.guild, interaction.user
        if guild is None:
            return {
                "user": payloads.user(user),
                "authorizing_integration_owners": {FOR_GUILD: "0", FOR_USER: user.id},
            }
        owners = {FOR_GUILD: guild.id} if guild.has_bot else {FOR_USER: user.id}
        return {
            "guild_id": guild.id,
            "guild": {"id": guild.id, "locale": "en-US", "features": []},
            "guild_locale": "en-US",
            "member": {**payloads.member(guild.members[user.id]), "permissions": held},
            "authorizing_integration_owners": owners,
        }


def find_command(state: State, place: Channel, user: User, name: str, kind: int = 1) -> Payload:
    """Return the command someone chooses here, if Discord shows it to them."""
    guild = place.guild
    known = [*state.commands[None].values()]
    if guild:
        held = state.held(place, user.id)
        assert held & Permission.USE_APPLICATION_COMMANDS, f"{user.name} may use no commands"
        known = [*state.commands.get(guild.id, {}).values(), *known]
    for command in known:
        if (command["type"], command["name"]) == (kind, name):
            _check_context(command, place)
            _check_permissions(state, command, place, user)
            return command
    raise AssertionError(f"no command {name!r} among {[one['name'] for one in known]}")


def _check_context(command: Payload, place: Channel) -> None:
    """A command shows only where it was registered for."""
    contexts = command.get("contexts")
    here = IN_GUILD if place.guild else IN_BOT_DM
    hidden = contexts is not None and here not in contexts
    if place.guild is None:
        hidden = hidden or (contexts is None and command.get("dm_permission") is False)
    elif not place.guild.has_bot:
        hidden = hidden or 1 not in command.get("integration_types", [0])
    assert not hidden, f"{command['name']} does not show in {place.handle}"


def _check_permissions(state: State, command: Payload, place: Channel, user: User) -> None:
    needed = command.get("default_member_permissions")
    if needed is None or place.guild is None:
        return
    held = int(state.held(place, user.id))
    allowed = bool(held & Permission.ADMINISTRATOR) or (held & int(needed) == int(needed) != 0)
    assert allowed, f"{user.name} may not use {command['name']}"
