"""Routes of the REST API."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.wire.discord.calls import Call, Reply
from tests.wire.discord.routes import callbacks, channels, commands, identity, messages
from tests.wire.discord.state import State

Do = Callable[[State, Call], Reply]


@dataclass(frozen=True, slots=True)
class Route:
    """One method of one path; those of interactions carry their own token."""

    method: str
    path: str
    do: Do

    @property
    def needs_token(self) -> bool:
        """Whether the bot's token is asked for."""
        return not self.path.startswith(("/interactions/", "/webhooks/"))

    def match(self, method: str, path: str) -> dict[str, str] | None:
        if method != self.method:
            return None
        found = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", self.path), path)
        return found.groupdict() if found else None


_CHANNEL = "/channels/{channel_id}"
_MESSAGE = f"{_CHANNEL}/messages/{{message_id}}"
_GUILD = "/guilds/{guild_id}"
_HOOK = "/webhooks/{webhook_id}/{webhook_token}"
_HOOK_MESSAGE = f"{_HOOK}/messages/{{message_id}}"
_APP = "/applications/{application_id}"


ROUTES = [
    Route("GET", "/users/@me", identity.own_user),
    Route("POST", "/users/@me/channels", identity.open_direct),
    Route("GET", "/users/{user_id}", identity.user),
    Route("GET", "/oauth2/applications/@me", identity.own_application),
    Route("GET", "/applications/@me", identity.own_application),
    Route("GET", "/gateway/bot", identity.gateway_for_bots),
    Route("GET", _GUILD, identity.guild),
    Route("GET", f"{_GUILD}/channels", identity.channels),
    Route("GET", f"{_GUILD}/members/{{user_id}}", identity.member),
    Route("PUT", f"{_APP}/commands", commands.overwrite),
    Route("GET", _CHANNEL, channels.one),
    Route("PATCH", _CHANNEL, channels.edit_thread),
    Route("POST", f"{_CHANNEL}/messages", messages.send),
    Route("GET", f"{_CHANNEL}/messages", messages.history),
    Route("POST", f"{_CHANNEL}/typing", messages.show_typing),
    Route("GET", _MESSAGE, messages.one),
    Route("PATCH", _MESSAGE, messages.edit),
    Route("DELETE", _MESSAGE, messages.delete),
    Route("POST", f"{_MESSAGE}/threads", channels.from_message),
    Route("POST", "/interactions/{interaction_id}/{interaction_token}/callback", callbacks.answer),
    Route("POST", _HOOK, callbacks.follow_up),
    Route("PATCH", _HOOK_MESSAGE, callbacks.edit),
    Route("DELETE", _HOOK_MESSAGE, callbacks.delete),
]
