"""The way to people on one platform."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from bot.chat.errors import UnwelcomeError
from bot.chat.posts import Post
from bot.chat.said import Said
from council.places import Place


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that has been sent, so that it can be edited or replied to."""

    place: Place
    message: str


Whisper = Callable[[Said, Post], Awaitable[None]]  # the way to tell only the one who spoke


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

    async def send(self, place: Place, post: Post, key: str) -> Sent:
        """Post a message; the place names the thread for a reply, the key is kept with it.

        Raises UnsureError where it may have arrived and may not, UnwelcomeError where it cannot.
        """
        ...

    async def find(self, place: Place, key: str) -> Sent | None:
        """Give the message that was posted with this key; None if there is none to be found."""
        ...

    async def edit(self, sent: Sent, post: Post) -> None:
        """Replace a message; of several edits in a row only the last need arrive.

        Raises GoneError for a message that is not there any more, UnwelcomeError where none may be.
        """
        ...

    async def turn(self, sent: Sent) -> None:
        """Wait until the platform bears another sight of progress in a message."""
        return

    async def show_progress(self, sent: Sent, post: Post) -> None:
        """Replace a message for the time being; what fails here is not told."""
        await self.edit(sent, post)

    async def settle(self, sent: Sent, post: Post) -> None:
        """Have a message stay as it is now, whatever sight of progress may still be on its way."""
        return

    def alone_with(self, asker_id: str, place: Place) -> Place:
        """Give the place where somebody reads and nobody else, for what the place cannot hold."""
        return place

    async def elsewhere(self, said: Said, channel: str) -> Said:
        """Give what was said as if it were said in another channel, which is named or has this id.

        Raises UnwelcomeError where there is none that the bot may post in and the speaker may see.
        """
        raise UnwelcomeError(f"There are no channels here: leave #{channel} out.")

    async def check_postable(self, place: Place) -> None:
        """Raise UnwelcomeError, which says why, where it is known that nothing can be posted."""
        return

    async def whisper(self, said: Said, post: Post) -> None:
        """Tell only the one who spoke."""
        ...
