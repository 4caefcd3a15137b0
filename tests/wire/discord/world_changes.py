"""Changes that the app does not make: permissions, deleted channels and messages, outages."""

from typing import Any

from tests.wire.discord import payloads
from tests.wire.discord.message_store import delete_message as remove_message
from tests.wire.discord.permissions import NOTHING, Overwrite, Permission
from tests.wire.discord.routes import channels
from tests.wire.discord.routes.channels import begin
from tests.wire.discord.sample_world import BOT, add_role
from tests.wire.discord.sessions import GUILDS
from tests.wire.discord.state import State
from tests.wire.discord.world import Channel, Guild, Message

Payload = dict[str, Any]


class WorldChanges:
    state: State

    def permit(
        self,
        channel: str | Channel,
        who: str = "BOT",
        *,
        allow: Permission = NOTHING,
        deny: Permission = NOTHING,
    ) -> None:
        """Set what someone may do in a channel; "@everyone" is everyone."""
        place = self.state.world.channel(channel)
        assert place.guild is not None
        everyone = who == "@everyone"
        id_ = place.guild.id if everyone else self.state.world.user(who).id
        place.overwrites[id_] = Overwrite(allow, deny)
        shown = payloads.channel(self.state, place)
        self.state.sessions.dispatch("CHANNEL_UPDATE", shown, GUILDS)

    def grant(self, guild: str | Guild, who: str, permission: Permission) -> None:
        """Give somebody a new role with this permission."""
        place = self.state.world.guild(guild)
        role = add_role(place, permission.name or "role", permission, who)
        shown = {"guild_id": place.id, "role": payloads.role(role, len(place.roles))}
        self.state.sessions.dispatch("GUILD_ROLE_CREATE", shown, GUILDS)

    def open_thread(self, user: str, channel: str | Channel, name: str) -> Channel:
        """Open a thread without a message, or a post in a forum, as a user."""
        place = self.state.world.channel(channel)
        thread = begin(self.state, place, {"name": name}, self.state.snowflake())
        thread.owner = self.state.world.user(user).id
        thread.people = {thread.owner}
        return thread

    def set_thread(
        self, thread: Channel, *, archived: bool | None = None, locked: bool | None = None
    ) -> None:
        thread.archived = thread.archived if archived is None else archived
        thread.locked = thread.locked if locked is None else locked
        shown = payloads.channel(self.state, thread)
        self.state.sessions.dispatch("THREAD_UPDATE", shown, GUILDS)

    def delete_message(self, message: Message) -> None:
        remove_message(self.state, message)

    def delete_channel(self, channel: str | Channel) -> None:
        channels.remove(self.state, self.state.world.channel(channel))

    def remove_bot(self, guild: str | Guild) -> None:
        place = self.state.world.guild(guild)
        place.has_bot = False
        place.members.pop(BOT, None)
        self.state.sessions.dispatch("GUILD_DELETE", {"id": place.id}, GUILDS)

    def outage(self, guild: str | Guild, *, over: bool = False) -> None:
        place = self.state.world.guild(guild)
        if over:
            shown = payloads.guild_create(self.state, place)
            self.state.sessions.dispatch("GUILD_CREATE", shown, GUILDS)
        else:
            gone: Payload = {"id": place.id, "unavailable": True}
            self.state.sessions.dispatch("GUILD_DELETE", gone, GUILDS)
