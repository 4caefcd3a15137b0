"""Who speaks and where: what Slack says of users and conversations, asked once in a while."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import structlog
from aiolimiter import AsyncLimiter
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat import Asker, DeliveryUnknownError, IncomingMessage, PostingForbiddenError
from bot.slack.client import TIMEOUT_SECONDS, EditRateLimiter, RefusedError, called
from council.errors import CouncilError
from council.places import Place

# --- Who speaks and where: what Slack says of users and conversations, asked once in a while.

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
class Directory:
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
        except DeliveryUnknownError as error:
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


# --- The one workspace: the client, who we are in it, and what we may do there.

CHAT = "slack"
# For a preview Slack would fetch whatever address a model wrote, with all that is in it.
UNFURLED: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}


@dataclass(frozen=True, slots=True)
class LookupLimits:
    """How long Slack is waited for, and how fast it is spoken to."""

    timeout_seconds: float = TIMEOUT_SECONDS  # of one call
    ping_seconds: float = 5.0  # of a socket, and before it is opened anew
    late_seconds: float = 20.0  # how long after we gave an edit up Slack may still carry it out
    edit_seconds: float = 3.0  # Slack asks for no more edits of one message than that
    posts_at_once: int = 4  # a channel bears about one post a second, and some more for a moment
    posts_a_second: float = 1.0


SLACKS_OWN = LookupLimits()


@dataclass(slots=True)
class Workspace:
    """A workspace; `scopes` is empty where Slack did not say what it granted."""

    client: AsyncWebClient
    team: str
    bot: str
    people: Directory
    scopes: frozenset[str] = frozenset()
    pace: LookupLimits = SLACKS_OWN
    edits: EditRateLimiter = field(default_factory=EditRateLimiter)
    posts: dict[str, AsyncLimiter] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)  # channels of people's direct messages

    def may(self, scope: str) -> bool:
        """Say whether a scope was granted, as far as is known."""
        return not self.scopes or scope in self.scopes

    def posts_in(self, channel: str) -> AsyncLimiter:
        """Give what paces the posts in a channel."""
        most = self.pace.posts_at_once
        return self.posts.setdefault(channel, AsyncLimiter(most, most / self.pace.posts_a_second))

    async def own_channel(self, user: str) -> str:
        """Give the channel of somebody's direct messages with the bot."""
        if user not in self.own:
            reply = await called(lambda: self.client.conversations_open(users=user), 1.0)
            self.own[user] = str(reply["channel"]["id"])
        return self.own[user]


# --- Channels that people name: looked up, and whether bot and speaker are both in them.

PAGE = 200
MOST_PAGES = 25
LOOKUP_TIMEOUT_SECONDS = 10.0
NOT_BOTH = (
    "There is no channel #{name} that you and I are both in: check its name, and type /invite and "
    "my name there."
)

Call = Callable[..., Any]


async def elsewhere(workspace: Workspace, said: IncomingMessage, name: str) -> IncomingMessage:
    """Give what was said as if it were said in another channel of the workspace, named or by id."""
    client = workspace.client
    kinds = "public_channel,private_channel" if workspace.may("groups:read") else "public_channel"
    own = _listed(client.users_conversations, "channels", types=kinds, exclude_archived=True)
    async for channel in own:
        if name.casefold() in {str(channel.get("name", "")).casefold(), channel["id"].casefold()}:
            return await _there(workspace, said, str(channel["id"]), name)
    raise PostingForbiddenError(NOT_BOTH.format(name=name))


async def check_postable(workspace: Workspace, place: Place) -> None:
    """Raise PostingForbiddenError for a channel that is gone, archived, or without the bot."""
    workspace.people.forget(place.channel)  # it may have changed since
    where = await workspace.people.conversation(place.channel)
    if where.refusal:
        raise PostingForbiddenError(where.refusal)


async def _there(
    workspace: Workspace, said: IncomingMessage, channel: str, name: str
) -> IncomingMessage:
    where = await workspace.people.conversation(channel)
    if where.refusal:
        raise PostingForbiddenError(where.refusal)
    # Members of the workspace may see every public channel; others only what they are in.
    if where.is_private or said.asker.is_guest:
        members = _listed(workspace.client.conversations_members, "members", channel=channel)
        if said.asker.id not in [member async for member in members]:
            raise PostingForbiddenError(NOT_BOTH.format(name=name))
    place = Place(CHAT, workspace.team, channel, private=where.is_private)
    return replace(said, place=place, is_shared=where.is_shared, is_direct=False)


async def _listed(call: Call, kind: str, **wanted: object) -> AsyncIterator[Any]:
    """Give what Slack lists, page after page."""
    cursor = ""
    for _ in range(MOST_PAGES):
        more = {"cursor": cursor} if cursor else {}
        try:
            reply = await called(lambda: call(limit=PAGE, **wanted, **more), LOOKUP_TIMEOUT_SECONDS)  # noqa: B023
        except DeliveryUnknownError as error:
            raise CouncilError(BUSY) from error
        except RefusedError as error:
            raise PostingForbiddenError(f"I cannot look up channels here. {error}") from None
        for found in reply.get(kind) or ():
            yield found
        cursor = str((reply.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return
