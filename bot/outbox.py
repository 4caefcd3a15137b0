"""The outbox: every message of a round is sent once, in order, whatever dies in between.

Claim, send, mark. Whoever finds a claim without a mark cannot know whether it was sent: it waits
until the one who claimed it must have failed, looks the message up by its key, and only then sends.
So does whoever lost the connection while sending.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from bot.chat import Chat, Post, Sent, UnsureError
from council.outgoing import Claim
from council.places import Place
from council.ports import Outgoing

GRACE_SECONDS = 45.0  # longer than any chat's own timeout for sending
UNSURE_SECONDS = (1.0, 2.0, 5.0, 15.0, 30.0)  # before looking again where a connection was lost

ROOTS = ROOT, ROOT_AGAIN = "0", "0 again"  # the parts that hold a round's answer

Sleep = Callable[[float], Awaitable[object]]


class Outbox:
    """Sends messages under keys, one after another in each channel."""

    def __init__(
        self, rows: Outgoing, now: Callable[[], datetime], sleep: Sleep = asyncio.sleep
    ) -> None:
        self._rows = rows
        self._now = now
        self._sleep = sleep
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def send(
        self, chat: Chat, round_id: str, part: int | str, post: Post, place: Place
    ) -> Sent:
        """Give the one message for this part of a round's thread in this place, sent if need be."""
        key = _key(place, round_id, part)
        async with self._turns[_start(place)]:
            claim = await self._rows.claim(key, round_id, self._now())
            while not claim.message and not claim.is_new:
                claim = await self._taken_over(chat, claim, round_id, place)
            if claim.message:
                return Sent(place, claim.message)
            sent = await self._surely_sent(chat, place, post, key)
            await self._rows.mark(key, sent.message)
            return sent

    async def root_of(self, sent: Sent) -> str | None:
        """Give the round whose first message this is, None if it is none."""
        start = _start(sent.place)
        key = await self._rows.key_of(start, sent.message) or start
        round_id, _, part = key.removeprefix(start).rpartition("/")
        return round_id if part in ROOTS else None

    async def root(self, round_id: str, place: Place) -> Sent | None:
        """Give the message that holds a round's answer, None if none was sent in this place."""
        for part in (ROOT_AGAIN, ROOT):
            if message := await self._rows.message_of(_key(place, round_id, part)):
                return Sent(place, message)
        return None

    async def _surely_sent(self, chat: Chat, place: Place, post: Post, key: str) -> Sent:
        """Send; where it is not known whether that arrived, look, and send again if it did not."""
        for seconds in UNSURE_SECONDS:
            try:
                return await chat.send(place, post, key)
            except UnsureError:
                await self._sleep(seconds)
                if found := await self._found(chat, place, key):
                    return found
        return await chat.send(place, post, key)

    async def _taken_over(self, chat: Chat, claim: Claim, round_id: str, place: Place) -> Claim:
        """Give the claim once it is ours, or marked, or still another's after the wait."""
        age = (self._now() - claim.claimed_at) / timedelta(seconds=1)
        # A clock that was set back must not make us wait for longer than the grace itself.
        await self._sleep(min(GRACE_SECONDS, max(0.0, GRACE_SECONDS - age)))
        now = self._now()
        if not await self._rows.take_over(claim, now):
            return await self._rows.claim(claim.key, round_id, now)
        if found := await self._found(chat, place, claim.key):
            await self._rows.mark(claim.key, found.message)
            return Claim(claim.key, now, found.message)
        return Claim(claim.key, now, is_new=True)

    async def _found(self, chat: Chat, place: Place, key: str) -> Sent | None:
        """Look a message up, and again as long as the chat cannot be reached."""
        for seconds in UNSURE_SECONDS:
            try:
                return await chat.find(place, key)
            except UnsureError:
                await self._sleep(seconds)
        return await chat.find(place, key)


def _key(place: Place, round_id: str, part: int | str) -> str:
    return f"{_start(place)}{round_id}/{part}"


def _start(place: Place) -> str:
    """Give what the keys of all messages in a channel begin with."""
    return f"{place.chat}/{place.workspace}/{place.channel}/"
