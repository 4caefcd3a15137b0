"""Outbox: send every message of a round exactly once and in order, even across crashes.

Each message is claimed, sent, and marked as sent. A claim without a mark may or may not have been
sent: look the message up by its key (unless the wait is short), wait until no other process can
still be sending it, look again, and only then send it. The same applies after a connection is lost
during a send.

The wait depends on who else may be sending. If other processes may serve the chat, it is longer
than any chat client's timeout. If this process is alone, it only has to cover requests that a
dead predecessor made just before.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from weakref import WeakValueDictionary

from bot.chat import (
    Chat,
    ChatUnreachableError,
    DeliveryUnknownError,
    Post,
    PostingForbiddenError,
    SentMessage,
    backoff_seconds,
)
from council.places import Place
from council.ports import Claim, OutboxStore, SentPart

GRACE_SECONDS = 45.0  # longer than any chat's own timeout for sending
SETTLE_SECONDS = 3.0  # for a chat to process a dead process's last request

ROOTS = ROOT, ROOT_AGAIN = "0", "0 again"  # the parts that contain a round's answer

Sleep = Callable[[float], Awaitable[object]]


class Outbox:
    """Sends messages under keys, one at a time for each round.

    `alone` asserts that no other process sends to the same chats from now on.
    """

    def __init__(
        self,
        rows: OutboxStore,
        now: Callable[[], datetime],
        sleep: Sleep = asyncio.sleep,
        *,
        alone: bool = False,
    ) -> None:
        self._rows = rows
        self._now = now
        self._sleep = sleep
        self._alone = alone
        self._failed_at = now()  # when a send last ended without a mark
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def send(
        self, chat: Chat, round_id: str, part: int | str, post: Post, place: Place
    ) -> SentMessage:
        """Return the message for this part of a round's thread, sending it unless it was sent."""
        key = _key(place, round_id, part)
        async with self._locks.setdefault(round_id, asyncio.Lock()):
            claim = await self._rows.claim(key, round_id, self._now())
            while not claim.message and not claim.is_new:
                claim = await self._take_over(chat, claim, round_id, place)
            if claim.message:
                return SentMessage(place, claim.message)
            try:
                sent = await self._send_surely(chat, place, post, key)
                await self._rows.mark(key, sent.message)
            except PostingForbiddenError:  # nothing was sent, so the next try need not wait
                await self._rows.remove(key)
                raise
            except BaseException:
                self._failed_at = self._now()
                raise
            return sent

    async def root_of(self, sent: SentMessage) -> str | None:
        """Return the id of the round or bake-off whose first message this is, else None."""
        prefix = _prefix(sent.place)
        key = await self._rows.find_key(prefix, sent.message) or prefix
        round_id, _, part = key.removeprefix(prefix).rpartition("/")
        return round_id if part in ROOTS else None

    async def root(self, round_id: str, place: Place) -> SentMessage | None:
        """Return the message with a round's answer, None if none was sent in this place."""
        for part in (ROOT_AGAIN, ROOT):
            if message := await self._rows.find_message(_key(place, round_id, part)):
                return SentMessage(place, message)
        return None

    async def list_forgotten(self) -> list["PostedPart"]:
        """Return the messages of forgotten rounds that may still be there, replies first."""
        return [PostedPart.of(one) for one in await self._rows.list_forgotten(self._now())]

    async def remove(self, posted: "PostedPart") -> None:
        """Stop counting a message as ours; it is deleted or blanked."""
        await self._rows.remove(posted.key)

    async def count_unmarked(self) -> int:
        """Return how many messages were claimed over a minute ago and never marked as sent."""
        return await self._rows.count_unmarked(60, self._now())

    async def _send_surely(self, chat: Chat, place: Place, post: Post, key: str) -> SentMessage:
        """Send a message; if its arrival is unknown, look it up and send it again if missing."""
        started = self._now()
        for seconds in backoff_seconds():
            try:
                return await chat.send(place, post, key)
            except ChatUnreachableError:
                await self._sleep(seconds)
            except DeliveryUnknownError:
                if found := await self._find_until_arrived(chat, place, key, started):
                    return found
        raise AssertionError("the pauses never end")

    async def _find_until_arrived(
        self, chat: Chat, place: Place, key: str, started: datetime
    ) -> SentMessage | None:
        for seconds in (1.0, 2.0, 5.0):
            await self._sleep(seconds)
            if found := await self._find_patiently(chat, place, key, started):
                return found
        return None

    async def _take_over(self, chat: Chat, claim: Claim, round_id: str, place: Place) -> Claim:
        """Return the claim once it is ours or marked, or another process's newer claim."""
        found_at = self._now()
        claimed = found_at - timedelta(seconds=claim.age_seconds)
        # A short wait is cheaper than a look, which a chat may allow once a minute.
        is_long = self._wait_seconds(claim, found_at) > SETTLE_SECONDS
        if is_long and (found := await self._find_patiently(chat, place, claim.key, claimed)):
            await self._rows.mark(claim.key, found.message)
            return Claim(claim.key, claim.claimed_at, found.message)
        await self._sleep(self._wait_seconds(claim, found_at))
        now = self._now()
        if not await self._rows.reclaim(claim, now):
            return await self._rows.claim(claim.key, round_id, now)
        if found := await self._find_patiently(chat, place, claim.key, claimed):
            await self._rows.mark(claim.key, found.message)
            return Claim(claim.key, now, found.message)
        return Claim(claim.key, now, is_new=True)

    def _wait_seconds(self, claim: Claim, found_at: datetime) -> float:
        """Return the seconds until no process can still be sending a claimed message."""
        # The store measures a claim's age, because the clocks of processes may differ.
        if self._alone:
            grace, age = SETTLE_SECONDS, (self._now() - self._failed_at).total_seconds()
        else:
            since_then = (self._now() - found_at).total_seconds()
            grace, age = GRACE_SECONDS, claim.age_seconds + since_then
        # A clock that was set back must not make the wait longer than the grace period.
        return min(grace, max(0.0, grace - age))

    async def _find_patiently(
        self, chat: Chat, place: Place, key: str, claimed: datetime
    ) -> SentMessage | None:
        for seconds in backoff_seconds():
            try:
                age = (self._now() - claimed).total_seconds()
                return await chat.find(place, key, age)
            except DeliveryUnknownError:
                await self._sleep(seconds)
        raise AssertionError("the pauses never end")


@dataclass(frozen=True, slots=True)
class PostedPart:
    """A message of a round; its place has no thread, and its id is "" if it may not be there."""

    key: str
    round_id: str
    part: str
    sent: SentMessage

    @classmethod
    def of(cls, row: SentPart) -> "PostedPart":
        """Parse a row of the outbox."""
        chat, workspace, channel, rest = row.key.split("/", 3)
        part = rest.removeprefix(f"{row.round_id}/")
        return cls(
            row.key,
            row.round_id,
            part,
            SentMessage(Place(chat, workspace, channel), row.message or ""),
        )


def _key(place: Place, round_id: str, part: int | str) -> str:
    return f"{_prefix(place)}{round_id}/{part}"


def _prefix(place: Place) -> str:
    return f"{place.chat}/{place.workspace}/{place.channel}/"
