"""Chat adapter: the protocol that each platform implements, and its delivery errors."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

from bot.chat.incoming import IncomingMessage
from bot.chat.messages import Post
from council.errors import CouncilError
from council.places import Place

T = TypeVar("T")
FINAL_EDIT_SECONDS = 1.0  # how long the result waits for an edit under way


class DeliveryUnknownError(CouncilError):
    """A message was sent, but it is unknown whether it arrived."""


class ChatUnreachableError(DeliveryUnknownError):
    """The chat could not be reached, so nothing arrived."""


class MessageGoneError(CouncilError):
    """The message to edit no longer exists."""


class PostingForbiddenError(CouncilError):
    """The bot may not post in a place; the text says what to do."""


class NoThreadError(PostingForbiddenError):
    """No reply can be posted under a message; the text says why, or what to do."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that has been sent and can be edited or replied to."""

    place: Place
    message: str


# Sends a reply that only the author of the message sees.
SendEphemeral = Callable[[IncomingMessage, Post], Awaitable[None]]


class Chat(Protocol):
    """The connection to one chat platform.

    `is_room`: readers did not see the question, so posts repeat it. `tick_seconds`: how often
    progress is refreshed if nothing changes. `accepts_files`: files can be posted.
    `shows_progress`: progress of long tasks is shown.
    """

    is_room: ClassVar[bool] = False
    tick_seconds: ClassVar[float] = 1.0
    accepts_files: bool = False
    shows_progress: ClassVar[bool] = True

    def pages(self, post: Post) -> tuple[Post, ...]:
        """Split a post into posts that each fit in one message; nothing is dropped."""
        return (post,)

    async def display_name(self, asker_id: str) -> str:
        """Return the display name of a person; "" where readers already know it."""
        return ""

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Post a message; `place` names the thread of a reply, `key` is stored with the message.

        Raise DeliveryUnknownError if it may have arrived, PostingForbiddenError if it cannot.
        """
        ...

    async def find(self, place: Place, key: str) -> SentMessage | None:
        """Return the message that was posted with this key, or None."""
        ...

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Replace a message; of several edits in a row only the last need arrive.

        Raise MessageGoneError if it was deleted, PostingForbiddenError if the bot may not post.
        """
        ...

    async def wait_for_edit_slot(self, sent: SentMessage) -> None:
        """Wait until the platform accepts another progress edit of a message."""
        return

    async def show_progress(self, sent: SentMessage, post: Post) -> None:
        """Replace a message temporarily; failures are ignored."""
        await self.edit(sent, post)

    async def finalize(self, sent: SentMessage, post: Post) -> None:
        """Make the message final: discard progress edits that are still on their way."""
        return

    def private_place(self, asker_id: str, place: Place) -> Place:
        """Return a place that only this person reads, for what `place` must not contain."""
        return place

    async def redirect_to_channel(self, message: IncomingMessage, channel: str) -> IncomingMessage:
        """Return the message as if it were sent in another channel, given by name or id.

        Raise PostingForbiddenError unless the bot can post there and the author can read it.
        """
        raise PostingForbiddenError(f"There are no channels here: leave #{channel} out.")

    async def check_postable(self, place: Place) -> None:
        """Raise PostingForbiddenError with the reason if the bot cannot post there."""
        return

    async def send_ephemeral(self, message: IncomingMessage, post: Post) -> None:
        """Reply so that only the author of the message sees it."""
        ...


class ProgressUpdates:
    """Progress edits of one message, which never arrive after its result."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._is_editing = False

    async def show(self, sent: SentMessage, post: Post) -> None:
        """Show progress in the message."""
        self._is_editing = True
        try:
            await self._chat.show_progress(sent, post)
        finally:
            self._is_editing = False

    @asynccontextmanager
    async def keep_updating(self, updates: Coroutine[None, None, None]) -> AsyncIterator[None]:
        """Run the updates in the background for the duration of the block."""
        task = asyncio.create_task(updates)
        try:
            yield
        except asyncio.CancelledError:  # another process may have posted the result
            task.cancel()
            raise
        finally:
            if self._is_editing:  # the edit must not arrive after the result
                await asyncio.wait([task], timeout=FINAL_EDIT_SECONDS)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
