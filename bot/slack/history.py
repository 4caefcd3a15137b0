"""Slack history: pages of messages, also for apps that Slack allows one look a minute.

Since 2025 an app that is distributed outside Slack's Marketplace may call conversations.history and
conversations.replies once a minute, and gets 15 messages at most. Internal apps are exempt.
"""

import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from math import inf
from typing import Any

from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.client import MAX_PAGES, PAGE_SIZE, RateLimitedError, call_api
from council.ports import KeyValueStore

LIMIT = "slack history limit"  # the kind of memo
LIMITED_PAGE = 15  # messages that a limited app gets
_LIMITED_SECONDS = 30.0  # only the limit of one look a minute makes a caller wait longer
_MAX_WAIT_SECONDS = 2.0  # somebody waits for a sign that their question arrived
_KEPT = timedelta(days=1)  # an app may be approved

_MAX_LOOKS, _LOOK_SECONDS = 100, 600.0  # that are kept, and how long

Method = Callable[..., Awaitable[AsyncSlackResponse]]
Body = dict[str, Any]


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class HistoryLimit:
    """Whether Slack limits the app in one workspace: remembered for a day, by all processes."""

    team: str = ""
    key_values: KeyValueStore | None = None
    now: Callable[[], datetime] = _utc_now

    async def is_known(self) -> bool:
        """Return whether Slack has limited the app within a day."""
        text = await self.key_values.read(LIMIT, self.team) if self.key_values else None
        return text is not None and self.now() < datetime.fromisoformat(text) + _KEPT

    async def remember(self) -> None:
        """Store that Slack limits the app."""
        if self.key_values:
            await self.key_values.put(LIMIT, self.team, self.now().isoformat())

    async def forget(self) -> None:
        """Store that Slack does not limit the app."""
        if self.key_values and await self.is_known():
            await self.key_values.pop(LIMIT, self.team)


@dataclass(frozen=True, slots=True)
class Look:
    """What Slack showed of a thread: the messages, oldest first; see `part` of a ThreadReading."""

    messages: list[Body]
    part: str = ""


class KeptLooks:
    """Looks of a limited app that an asker decides about, in memory only, for ten minutes.

    A press within the minute needs no other look.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[float, Look]] = OrderedDict()

    def keep(self, name: str, look: Look) -> None:
        """Keep a look under a name; the oldest go."""
        self._kept[name] = (time.monotonic(), look)
        if len(self._kept) > _MAX_LOOKS:
            self._kept.popitem(last=False)

    def find(self, name: str) -> Look | None:
        """Return a look, or None."""
        at, look = self._kept.get(name, (-inf, None))
        return look if time.monotonic() - at < _LOOK_SECONDS else None


async def read_pages(
    limit: HistoryLimit, method: Method, **params: object
) -> AsyncIterator[list[Body]]:
    """Yield the pages that a method shows; for a limited app, one.

    Raise RateLimitedError, without a wait, if Slack refuses to show a page now or the app is
    limited and there are more pages; otherwise what `call_api` raises.
    """
    for _ in range(MAX_PAGES):
        call = partial(method, limit=PAGE_SIZE, **params)
        try:
            reply = await call_api(call, _MAX_WAIT_SECONDS)
        except RateLimitedError as error:
            if error.seconds >= _LIMITED_SECONDS:
                await limit.remember()
            raise
        page = list(reply.get("messages") or ())
        yield page
        cursor = (reply.get("response_metadata") or {}).get("next_cursor")
        if len(page) > LIMITED_PAGE + 1:  # with the thread's first message
            await limit.forget()
        elif cursor:
            await limit.remember()
        if not cursor:
            return
        if await limit.is_known():
            raise RateLimitedError("ratelimited", seconds=60.0)
        params["cursor"] = cursor
