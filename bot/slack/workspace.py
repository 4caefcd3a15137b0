"""Slack workspace: client and limits, a cache of users and channels, and channel lookup by name."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import structlog

from bot.chat import Asker, DeliveryUnknownError, IncomingMessage, PostingForbiddenError
from bot.coordination.tasks import BackgroundTasks
from bot.slack.client import (
    TIMEOUT_SECONDS,
    EditRateLimiter,
    PostRateLimiter,
    RefusedError,
    RotatingClient,
    call_api,
    list_items,
)
from bot.slack.history import HistoryLimit, KeptLooks
from council.errors import CouncilError
from council.places import Place

CHAT = "slack"
# To build a preview Slack would fetch any URL a model wrote, including data encoded in it.
NO_UNFURL: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}

NOT_A_MEMBER = "I am not in this channel. Type /invite and my name, then ask again."
ARCHIVED = "This channel is archived. Ask in another one."
_BUSY = "Slack is not answering right now. Try again in a moment."
_NO_COMMON_CHANNEL = (
    "There is no channel #{name} that you and I are both in. Check its name, and type /invite "
    "and my name there."
)

_FACT_WAIT_SECONDS = 2.0  # a user is waiting for the acknowledgement
_NO_PERMISSION = {"missing_scope", "unknown_method", "not_allowed_token_type"}

Facts = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SlackLimits:
    """Timeouts of the calls to Slack, and the rates we keep to."""

    timeout_seconds: float = TIMEOUT_SECONDS  # of one call
    ping_seconds: float = 5.0  # between pings of a socket, and before it is reopened
    late_seconds: float = 20.0  # how long Slack may still apply an edit after we cancelled it
    edit_seconds: float = 3.0  # the minimum between two edits of one message
    posts_at_once: int = 4  # a channel takes about one post a second, and short bursts
    posts_a_second: float = 1.0


DEFAULT_LIMITS = SlackLimits()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A channel, a group or a direct message; it counts as private unless Slack says otherwise.

    `refusal` says why the bot cannot post there and what to do; it is empty if the bot can.
    """

    id: str
    is_private: bool = True
    is_shared: bool = False
    refusal: str = ""


@dataclass(slots=True)
class Workspace:
    """One workspace, our client and tasks for it, and a cache of its users and conversations.

    `scopes` is empty if Slack did not list them. An entry of the cache expires after five minutes.
    """

    client: RotatingClient
    team: str
    bot_user: str
    scopes: frozenset[str] = frozenset()
    limits: SlackLimits = DEFAULT_LIMITS
    bot_id: str = ""
    name: str = ""
    tasks: BackgroundTasks = field(default_factory=BackgroundTasks)
    history_limit: HistoryLimit = field(default_factory=HistoryLimit)
    looks: KeptLooks = field(default_factory=KeptLooks)
    edit_limiter: EditRateLimiter = field(default_factory=EditRateLimiter)
    _post_limiters: dict[str, PostRateLimiter] = field(default_factory=dict)  # by channel
    _dm_channels: dict[str, str] = field(default_factory=dict)  # by user
    _cache: dict[str, tuple[float, Any]] = field(default_factory=dict)

    def has_scope(self, scope: str) -> bool:
        """Return whether a scope was granted; True if the scopes are unknown."""
        return not self.scopes or scope in self.scopes

    def scope_for_threads(self, place: Place) -> str:
        """Return a missing scope without which guests or shared channels look like others."""
        needed = ["users:read", "channels:read"]
        if place.private and not place.channel.startswith("D"):
            needed.append("groups:read")
        return next((scope for scope in needed if not self.has_scope(scope)), "")

    def post_limiter(self, channel: str) -> PostRateLimiter:
        """Return the rate limiter for posts in a channel."""
        limits = self.limits
        return self._post_limiters.setdefault(
            channel, PostRateLimiter(limits.posts_at_once, limits.posts_a_second)
        )

    async def dm_channel(self, user: str) -> str:
        """Return the channel of a user's direct messages with the bot; open it if necessary."""
        if user not in self._dm_channels:
            reply = await call_api(lambda: self.client.conversations_open(users=user), 1.0)
            self._dm_channels[user] = str(reply["channel"]["id"])
        return self._dm_channels[user]

    async def asker(self, user: str, name: str = "") -> Asker:
        """Return a user; without the scope users:read, guests look like members.

        An admin is looked up every time: they may be none any more.
        """

        async def fetch() -> Asker:
            facts = await self._fetch(partial(self.client.users_info, user=user), "user")
            return _parse_asker(user, facts, self.team) if facts else Asker(user, name or user)

        found = await self._cached(f"user {user}", fetch)
        if found.is_admin:
            self.forget_asker(user)
        return found

    async def display_name(self, user: str) -> str:
        """Return a user's name; the id if Slack does not return one."""
        try:
            return (await self.asker(user)).name
        except CouncilError:
            return user

    async def conversation(self, channel: str) -> Conversation:
        """Return a conversation; direct messages are not looked up."""
        if not channel or channel.startswith("D"):
            return Conversation(channel)

        async def fetch() -> Conversation:
            call = partial(self.client.conversations_info, channel=channel)
            try:
                return _parse_conversation(channel, await self._fetch(call, "channel"))
            except RefusedError as error:
                if error.code == "channel_not_found":
                    return Conversation(channel, refusal=NOT_A_MEMBER)
                raise

        return await self._cached(f"channel {channel}", fetch)

    def forget_asker(self, user: str) -> None:
        """Remove a user from the cache, to learn what they may do now."""
        self._cache.pop(f"user {user}", None)

    def forget_channel(self, channel: str) -> None:
        """Remove a channel that may have changed from the cache; all channels for ""."""
        for name in [name for name in self._cache if name.startswith("channel ")]:
            if channel in {"", name.removeprefix("channel ")}:
                del self._cache[name]

    async def _cached(self, name: str, fetch: Callable[[], Awaitable[T]]) -> T:
        expiry, value = self._cache.get(name, (0.0, None))
        if value is None or expiry < time.monotonic():
            value = await fetch()
            self._cache[name] = (time.monotonic() + 300.0, value)
        fact: T = value
        return fact

    async def _fetch(self, call: Callable[[], Any], kind: str) -> Facts:
        """Return what Slack knows; an empty dict if the bot may not ask."""
        try:
            reply = await call_api(call, _FACT_WAIT_SECONDS)
        except DeliveryUnknownError as error:
            raise CouncilError(_BUSY) from error
        except RefusedError as error:
            if error.code == "ratelimited":
                raise CouncilError(_BUSY) from error
            if error.code not in _NO_PERMISSION:
                raise
            structlog.get_logger().debug("slack_fact_unknown", kind=kind, why=error.code)
            return {}
        facts: Facts = reply.get(kind) or {}
        return facts


def _parse_asker(user: str, facts: Facts, team: str) -> Asker:
    profile = facts.get("profile") or {}
    name = profile.get("display_name") or facts.get("real_name") or facts.get("name") or user
    is_restricted = facts.get("is_restricted") or facts.get("is_ultra_restricted")
    is_stranger = facts.get("is_stranger") or facts.get("team_id", team) != team
    is_guest = bool(is_restricted or is_stranger)
    is_admin = bool(facts.get("is_admin") or facts.get("is_owner")) and not is_guest
    others = (profile.get("real_name"), facts.get("real_name"), facts.get("name"))
    aliases = tuple(dict.fromkeys(str(one) for one in others if one and one != name))
    return Asker(user, str(name), is_guest=is_guest, is_admin=is_admin, aliases=aliases)


def _parse_conversation(channel: str, facts: Facts) -> Conversation:
    if not facts:
        return Conversation(channel)
    is_private = facts.get("is_private") or facts.get("is_im") or facts.get("is_mpim")
    is_shared = facts.get("is_ext_shared") or facts.get("is_pending_ext_shared")
    refusal = ARCHIVED if facts.get("is_archived") else ""
    if facts.get("is_member") is False and not facts.get("is_mpim"):
        refusal = refusal or NOT_A_MEMBER
    return Conversation(channel, bool(is_private), bool(is_shared), refusal)


async def redirect_to_channel(
    workspace: Workspace, message: IncomingMessage, name: str
) -> IncomingMessage:
    """Return the message as if it had been posted in another channel, given by name or id.

    Raise PostingForbiddenError unless the bot can post there and the asker can read it.
    """
    channel = await _find_channel(workspace, name)
    conversation = await postable_conversation(workspace, channel)
    # Members of the workspace can read every public channel, guests only those they are in.
    if conversation.is_private or message.asker.is_guest:
        members = _list(workspace.client.conversations_members, "members", channel=channel)
        if message.asker.id not in [member async for member in members]:
            raise PostingForbiddenError(_NO_COMMON_CHANNEL.format(name=name))
    place = Place(CHAT, workspace.team, channel, private=conversation.is_private)
    return replace(message, place=place, is_shared=conversation.is_shared, is_direct=False)


async def _find_channel(workspace: Workspace, name: str) -> str:
    types = "public_channel" + ",private_channel" * workspace.has_scope("groups:read")
    channels = _list(
        workspace.client.users_conversations, "channels", types=types, exclude_archived=True
    )
    async for channel in channels:
        if name.casefold() in {str(channel.get("name", "")).casefold(), channel["id"].casefold()}:
            return str(channel["id"])
    raise PostingForbiddenError(_NO_COMMON_CHANNEL.format(name=name))


async def postable_conversation(workspace: Workspace, channel: str) -> Conversation:
    """Return a conversation; PostingForbiddenError, which says what to do, if we cannot post."""
    conversation = await workspace.conversation(channel)
    if conversation.refusal:
        workspace.forget_channel(channel)  # somebody may invite us now
        raise PostingForbiddenError(conversation.refusal)
    return conversation


async def _list(method: Callable[..., Any], key: str, **params: object) -> AsyncIterator[Any]:
    try:
        async for item in list_items(method, key, 10.0, **params):
            yield item
    except DeliveryUnknownError as error:
        raise CouncilError(_BUSY) from error
    except RefusedError as error:
        raise PostingForbiddenError(f"I can't look up channels here. {error}") from None
