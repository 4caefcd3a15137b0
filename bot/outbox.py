"""The outbox: every message of a round is sent once, in order, whatever dies in between.

Claim, send, mark. Whoever finds a claim without a mark cannot know whether it was sent: it looks
the message up by its key, waits until nobody can be sending it any more, looks again, and only
then sends. So does whoever lost the connection while sending. It is tried until it is known.

How long the wait is depends on who may be sending. Where another process may live, it is longer
than a chat's client holds on to a call. Where we alone serve the chat, no process that is dead can
send any more, and only what it asked of the chat just before may still be carried out.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import datetime

from bot.chat import (
    Chat,
    ChatUnreachableError,
    DeliveryUnknownError,
    Post,
    SentMessage,
    backoff_seconds,
)
from council.budget_caps import Claim
from council.places import Place
from council.ports import OutboxStore

GRACE_SECONDS = 45.0  # longer than any chat's own timeout for sending
SETTLE_SECONDS = 3.0  # what a chat is given for what was asked of it last
UNMARKED_SECONDS = 60.0  # by then a claim without a mark is one that somebody let lie
LOOKS_SECONDS = (1.0, 2.0, 5.0)  # before each look for a message whose connection was lost

ROOTS = ROOT, ROOT_AGAIN = "0", "0 again"  # the parts that hold a round's answer

Sleep = Callable[[float], Awaitable[object]]


class Outbox:
    """Sends messages under keys, one after another in each channel.

    `alone` says that no other process sends to the same chats, from now on.
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
        self._left_at = now()  # when a message was last left without a mark
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def send(
        self, chat: Chat, round_id: str, part: int | str, post: Post, place: Place
    ) -> SentMessage:
        """Give the one message for this part of a round's thread in this place, sent if need be."""
        key = _key(place, round_id, part)
        async with self._turns[_start(place)]:
            claim = await self._rows.claim(key, round_id, self._now())
            while not claim.message and not claim.is_new:
                claim = await self._taken_over(chat, claim, round_id, place)
            if claim.message:
                return SentMessage(place, claim.message)
            try:
                sent = await self._surely_sent(chat, place, post, key)
                await self._rows.mark(key, sent.message)
            except BaseException:
                self._left_at = self._now()
                raise
            return sent

    async def root_of(self, sent: SentMessage) -> str | None:
        """Give the round whose first message this is, None if it is none."""
        start = _start(sent.place)
        key = await self._rows.key_of(start, sent.message) or start
        round_id, _, part = key.removeprefix(start).rpartition("/")
        return round_id if part in ROOTS else None

    async def root(self, round_id: str, place: Place) -> SentMessage | None:
        """Give the message that holds a round's answer, None if none was sent in this place."""
        for part in (ROOT_AGAIN, ROOT):
            if message := await self._rows.message_of(_key(place, round_id, part)):
                return SentMessage(place, message)
        return None

    async def unmarked(self) -> int:
        """Count the messages claimed over a minute ago of which nobody knows whether they went."""
        return await self._rows.unmarked(UNMARKED_SECONDS, self._now())

    async def _surely_sent(self, chat: Chat, place: Place, post: Post, key: str) -> SentMessage:
        """Send; where it is not known whether that arrived, look, and send again if it did not."""
        for seconds in backoff_seconds():
            try:
                return await chat.send(place, post, key)
            except ChatUnreachableError:
                await self._sleep(seconds)
            except DeliveryUnknownError:
                if found := await self._arrived(chat, place, key):
                    return found
        raise AssertionError("the pauses never end")

    async def _arrived(self, chat: Chat, place: Place, key: str) -> SentMessage | None:
        """Look for a message until it would have arrived."""
        for seconds in LOOKS_SECONDS:
            await self._sleep(seconds)
            if found := await self._found(chat, place, key):
                return found
        return None

    async def _taken_over(self, chat: Chat, claim: Claim, round_id: str, place: Place) -> Claim:
        """Give the claim once it is ours, or marked, or still another's after the wait."""
        came = self._now()
        if found := await self._found(chat, place, claim.key):
            await self._rows.mark(claim.key, found.message)
            return Claim(claim.key, claim.claimed_at, found.message)
        await self._sleep(self._wait(claim, came))
        now = self._now()
        if not await self._rows.take_over(claim, now):
            return await self._rows.claim(claim.key, round_id, now)
        if found := await self._found(chat, place, claim.key):
            await self._rows.mark(claim.key, found.message)
            return Claim(claim.key, now, found.message)
        return Claim(claim.key, now, is_new=True)

    def _wait(self, claim: Claim, came: datetime) -> float:
        """Give the seconds until nobody can be sending a claimed message any more.

        Its age is told by whoever keeps the claims: another process' clock may differ from ours.
        """
        if self._alone:
            grace, age = SETTLE_SECONDS, (self._now() - self._left_at).total_seconds()
        else:
            since_then = (self._now() - came).total_seconds()
            grace, age = GRACE_SECONDS, claim.age_seconds + since_then
        # A clock that was set back must not make us wait for longer than the grace itself.
        return min(grace, max(0.0, grace - age))

    async def _found(self, chat: Chat, place: Place, key: str) -> SentMessage | None:
        """Look a message up, and again as long as the chat cannot be reached."""
        for seconds in backoff_seconds():
            try:
                return await chat.find(place, key)
            except DeliveryUnknownError:
                await self._sleep(seconds)
        raise AssertionError("the pauses never end")


def _key(place: Place, round_id: str, part: int | str) -> str:
    return f"{_start(place)}{round_id}/{part}"


def _start(place: Place) -> str:
    """Give what the keys of all messages in a channel begin with."""
    return f"{place.chat}/{place.workspace}/{place.channel}/"
