"""What can go wrong between the bot and a platform."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain, repeat
from math import inf
from typing import ClassVar, Protocol, TypeVar

from bot.chat.incoming import IncomingMessage
from bot.chat.messages import Post
from council.errors import CouncilError
from council.places import Place

# --- What can go wrong between the bot and a platform.


class DeliveryUnknownError(CouncilError):
    """A message was sent, and whether it arrived is not known."""


class ChatUnreachableError(DeliveryUnknownError):
    """The chat was not reached, so nothing arrived."""


class MessageGoneError(CouncilError):
    """A message that should be edited is not there any more."""


class PostingForbiddenError(CouncilError):
    """The bot may not post in a place: it is no member of it, or nobody may; says what to do."""


class NoThreadError(PostingForbiddenError):
    """Nothing can be posted under a message, which itself stands; says why, or what to do."""


# --- The way to people on one platform.


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that has been sent, so that it can be edited or replied to."""

    place: Place
    message: str


SendEphemeral = Callable[
    [IncomingMessage, Post], Awaitable[None]
]  # the way to tell only the one who spoke


class Chat(Protocol):
    """The way to people on one platform.

    A room holds people who did not hear the question, so what is posted there says it. Progress is
    shown again after `tick_seconds`, if nothing changes before; `keeps_files` says whether a file
    can be posted, `follows` whether what takes long is shown here as it goes.
    """

    is_room: ClassVar[bool] = False
    tick_seconds: ClassVar[float] = 1.0
    keeps_files: bool = False
    follows: ClassVar[bool] = True

    def pages(self, post: Post) -> tuple[Post, ...]:
        """Give the post as so many that each fits in a message; nothing is dropped."""
        return (post,)

    async def named(self, asker_id: str) -> str:
        """Give the name to show for somebody who asked; "" where everybody knows."""
        return ""

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Post a message; the place names the thread for a reply, the key is kept with it.

        Raise DeliveryUnknownError if it may have arrived, PostingForbiddenError if it cannot.
        """
        ...

    async def find(self, place: Place, key: str) -> SentMessage | None:
        """Give the message that was posted with this key; None if there is none to be found."""
        ...

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Replace a message; of several edits in a row only the last need arrive.

        Raise MessageGoneError if it was deleted, PostingForbiddenError if none may be posted.
        """
        ...

    async def turn(self, sent: SentMessage) -> None:
        """Wait until the platform bears another sight of progress in a message."""
        return

    async def show_progress(self, sent: SentMessage, post: Post) -> None:
        """Replace a message for the time being; what fails here is not told."""
        await self.edit(sent, post)

    async def settle(self, sent: SentMessage, post: Post) -> None:
        """Have a message stay as it is now, whatever sight of progress may still be on its way."""
        return

    def private_place(self, asker_id: str, place: Place) -> Place:
        """Give the place where somebody reads and nobody else, for what the place cannot hold."""
        return place

    async def in_channel(self, said: IncomingMessage, channel: str) -> IncomingMessage:
        """Give what was said as if it were said in another channel, which is named or has this id.

        Raise PostingForbiddenError if there is none the bot can post in and the speaker can read.
        """
        raise PostingForbiddenError(f"There are no channels here: leave #{channel} out.")

    async def check_postable(self, place: Place) -> None:
        """Raise PostingForbiddenError with the reason if nothing can be posted there."""
        return

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        """Tell only the one who spoke."""
        ...


# --- Acts that are tried again through lost connections.

T = TypeVar("T")


def backoff_seconds() -> Iterator[float]:
    """Give the seconds to wait before each new try of what must be done at last; they never end."""
    return chain((1.0, 2.0, 5.0, 10.0, 20.0, 30.0), repeat(60.0))


async def retry_until_sent(act: Callable[[], Awaitable[T]], patience_seconds: float = inf) -> T:
    """Give what an act comes to that may be done twice, through lost connections."""
    loop = asyncio.get_running_loop()
    until = loop.time() + patience_seconds
    for seconds in backoff_seconds():
        try:
            return await act()
        except DeliveryUnknownError:
            if loop.time() + seconds > until:
                raise
        await asyncio.sleep(seconds)
    raise AssertionError("the pauses never end")


async def send_first_possible(
    ways: Iterable[Callable[[], Awaitable[object]]], patience_seconds: float
) -> None:
    """Go the first of several ways that is open, patiently; raise what the last one failed with."""
    last = CouncilError()
    for way in ways:
        try:
            await retry_until_sent(way, patience_seconds)
        except CouncilError as error:
            last = error
        else:
            return
    raise last


# --- A message kept up to date while something goes on, without getting in the way of its end.

FINAL_EDIT_SECONDS = 1.0  # what an edit under way is given before the result replaces it


class ProgressUpdates:
    """Sights of progress in one chat, one after another."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._is_editing = False

    async def show(self, sent: SentMessage, post: Post) -> None:
        """Replace the message for the time being."""
        self._is_editing = True
        await self._chat.show_progress(sent, post)
        self._is_editing = False

    @asynccontextmanager
    async def kept_up(self, showing: Coroutine[None, None, None]) -> AsyncIterator[None]:
        """Have progress shown as long as the block lasts, and no longer."""
        keeping_up = asyncio.create_task(showing)
        try:
            yield
        except asyncio.CancelledError:  # another may show the result already
            keeping_up.cancel()
            raise
        finally:
            if self._is_editing:  # an edit on its way must not arrive after the result
                await asyncio.wait([keeping_up], timeout=FINAL_EDIT_SECONDS)
            keeping_up.cancel()
            await asyncio.gather(keeping_up, return_exceptions=True)
