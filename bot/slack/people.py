"""Who speaks and where: what Slack says of users and conversations, asked once in a while."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat import Asker, UnsureError
from bot.slack.calls import RefusedError, called
from council.errors import CouncilError

KEPT_SECONDS = 300.0
PATIENCE_SECONDS = 2.0  # somebody waits for the acknowledgement
INVITE = "I am not in this channel: type /invite and my name, then ask again."
ARCHIVED = "This channel is archived: ask in another one."
BUSY = "Slack does not answer just now: try again in a moment."
_NOT_TOLD = {"missing_scope", "unknown_method", "not_allowed_token_type"}

Facts = dict[str, Any]
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A channel, a group, or a direct message; what Slack did not say of it counts as private.

    `refusal` says why the bot cannot post there, and what to do; it is empty where it can.
    """

    id: str
    is_private: bool = True
    is_shared: bool = False
    refusal: str = ""


@dataclass(slots=True)
class People:
    """What is known of people and conversations; a fact is asked for again after five minutes."""

    client: AsyncWebClient
    team: str
    clock: Callable[[], float] = time.monotonic
    _kept: dict[str, tuple[float, Any]] = field(default_factory=dict)
    _turns: defaultdict[str, asyncio.Lock] = field(
        default_factory=lambda: defaultdict(asyncio.Lock)
    )

    async def asker(self, user: str, name: str = "") -> Asker:
        """Give who speaks; without leave to ask Slack, guests cannot be told from members."""

        async def ask() -> Asker:
            facts = await self._facts(lambda: self.client.users_info(user=user), "user")
            return _asker(user, facts, self.team) if facts else Asker(user, name or user)

        return await self._once(f"user {user}", ask)

    async def named(self, user: str) -> str:
        """Give the name somebody goes by; the id where Slack does not tell."""
        try:
            return (await self.asker(user)).name
        except CouncilError:
            return user

    async def conversation(self, channel: str) -> Conversation:
        """Give what is known of where something is said."""
        if not channel or channel.startswith("D"):
            return Conversation(channel)

        async def ask() -> Conversation:
            return await self._conversation(channel)

        return await self._once(f"channel {channel}", ask)

    async def _conversation(self, channel: str) -> Conversation:
        try:
            facts = await self._facts(
                lambda: self.client.conversations_info(channel=channel), "channel"
            )
        except RefusedError as error:
            if error.code == "channel_not_found":
                return Conversation(channel, refusal=INVITE)
            raise
        return _conversation(channel, facts)

    def forget(self, channel: str) -> None:
        """Ask again next time: something has changed in the channel."""
        self._kept.pop(f"channel {channel}", None)

    def forget_channels(self) -> None:
        """Ask again about every channel: one may have changed."""
        for name in [name for name in self._kept if name.startswith("channel ")]:
            del self._kept[name]

    async def _once(self, name: str, ask: Callable[[], Awaitable[Found]]) -> Found:
        async with self._turns[name]:  # of many who want to know, one asks
            until, found = self._kept.get(name, (0.0, None))
            if found is None or until < self.clock():
                found = await ask()
                self._kept[name] = (self.clock() + KEPT_SECONDS, found)
        fact: Found = found
        return fact

    async def _facts(self, call: Callable[[], Any], kind: str) -> Facts:
        """Give what Slack says; nothing where the bot has no leave to ask."""
        try:
            reply = await called(call, PATIENCE_SECONDS)
        except UnsureError as error:
            raise CouncilError(BUSY) from error
        except RefusedError as error:
            if error.code == "ratelimited":
                raise CouncilError(BUSY) from error
            if error.code not in _NOT_TOLD:
                raise
            structlog.get_logger().debug("slack_fact_unknown", kind=kind, why=error.code)
            return {}
        facts: Facts = reply.get(kind) or {}
        return facts


def _asker(user: str, facts: Facts, team: str) -> Asker:
    profile = facts.get("profile") or {}
    name = profile.get("display_name") or facts.get("real_name") or facts.get("name") or user
    restricted = facts.get("is_restricted") or facts.get("is_ultra_restricted")
    stranger = facts.get("is_stranger") or facts.get("team_id", team) != team
    return Asker(user, str(name), is_guest=bool(restricted or stranger))


def _conversation(channel: str, facts: Facts) -> Conversation:
    if not facts:
        return Conversation(channel)
    closed = facts.get("is_private") or facts.get("is_im") or facts.get("is_mpim")
    shared = facts.get("is_ext_shared") or facts.get("is_pending_ext_shared")
    refusal = ARCHIVED if facts.get("is_archived") else ""
    if facts.get("is_member") is False and not facts.get("is_mpim"):
        refusal = refusal or INVITE
    return Conversation(channel, bool(closed), bool(shared), refusal)
