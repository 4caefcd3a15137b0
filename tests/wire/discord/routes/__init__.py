"""Routes of the REST API."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.wire.discord.calls import Call, Reply
from tests.wire.discord.routes import (
    callbacks,
    channels,
    commands,
    identity,
    messages,
    threads,
    webhooks,
)
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
        return (
            not self.path.startswith(("/interactions/", "/webhooks/")) and self.path != "/gateway"
        )

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """Return the names in a path, if it is one of these."""
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


def _of_commands(base: str) -> list[Route]:
    return [
        Route("GET", base, commands.everything),
        Route("PUT", base, commands.overwrite),
        Route("POST", base, commands.create),
        Route("GET", f"{base}/{{command_id}}", commands.one),
        Route("PATCH", f"{base}/{{command_id}}", commands.edit),
        Route("DELETE", f"{base}/{{command_id}}", commands.delete),
    ]


ROUTES = [
    Route("GET", "/users/@me", identity.own_user),
    Route("POST", "/users/@me/channels", identity.open_direct),
    Route("GET", "/users/{user_id}", identity.user),
    Route("GET", "/oauth2/applications/@me", identity.own_application),
    Route("GET", "/applications/@me", identity.own_application),
    Route("GET", "/gateway", identity.gateway),
    Route("GET", "/gateway/bot", identity.gateway_for_bots),
    Route("GET", _GUILD, identity.guild),
    Route("GET", f"{_GUILD}/roles", identity.roles),
    Route("GET", f"{_GUILD}/channels", identity.channels),
    Route("GET", f"{_GUILD}/members/{{user_id}}", identity.member),
    *_of_commands(f"{_APP}/commands"),
    *_of_commands(f"{_APP}/guilds/{{guild_id}}/commands"),
    Route("GET", _CHANNEL, channels.one),
    Route("PATCH", _CHANNEL, threads.change),
    Route("DELETE", _CHANNEL, channels.delete),
    Route("POST", f"{_CHANNEL}/messages", messages.send),
    Route("GET", f"{_CHANNEL}/messages", messages.history),
    Route("GET", _MESSAGE, messages.one),
    Route("PATCH", _MESSAGE, messages.edit),
    Route("DELETE", _MESSAGE, messages.delete),
    Route("POST", f"{_CHANNEL}/typing", messages.typing),
    Route("POST", f"{_MESSAGE}/threads", threads.from_message),
    Route("POST", f"{_CHANNEL}/threads", threads.alone),
    Route("GET", f"{_CHANNEL}/thread-members", threads.members),
    Route("PUT", f"{_CHANNEL}/thread-members/{{user_id}}", threads.join),
    Route("DELETE", f"{_CHANNEL}/thread-members/{{user_id}}", threads.leave),
    Route("POST", "/interactions/{interaction_id}/{interaction_token}/callback", callbacks.answer),
    Route("POST", _HOOK, webhooks.follow_up),
    Route("GET", _HOOK_MESSAGE, webhooks.look),
    Route("PATCH", _HOOK_MESSAGE, webhooks.edit),
    Route("DELETE", _HOOK_MESSAGE, webhooks.delete),
]
