"""What a chat is to the rest of the bot: places, posts and the few acts on them.

A post is made of parts that know no platform. Each chat dresses them in what it has, within its
own limits; model text is always data, never markup of the platform.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from itertools import chain, repeat
from math import inf
from typing import ClassVar, Protocol, TypeVar

from council.errors import CouncilError
from council.places import Place

Done = TypeVar("Done")

KEY_LENGTH = 12  # of a round's id: 48 bits tell the events of many years apart


def key_of(chat: str, *event: str) -> str:
    """Give the round's id for a platform's event: the same whenever it is delivered again."""
    return sha256("\n".join((chat, *event)).encode()).hexdigest()[:KEY_LENGTH]


class UnsureError(CouncilError):
    """A message was sent, and whether it arrived is not known."""


class UnreachableError(UnsureError):
    """The chat was not reached, so nothing arrived."""


def pauses() -> Iterator[float]:
    """Give the seconds to wait before each new try of what must be done at last; they never end."""
    return chain((1.0, 2.0, 5.0, 10.0, 20.0, 30.0), repeat(60.0))


async def insisted(act: Callable[[], Awaitable[Done]], patience_seconds: float = inf) -> Done:
    """Give what an act comes to that may be done twice, through lost connections."""
    loop = asyncio.get_running_loop()
    until = loop.time() + patience_seconds
    for seconds in pauses():
        try:
            return await act()
        except UnsureError:
            if loop.time() + seconds > until:
                raise
        await asyncio.sleep(seconds)
    raise AssertionError("the pauses never end")


async def insisted_on_one(
    ways: Iterable[Callable[[], Awaitable[object]]], patience_seconds: float
) -> None:
    """Go the first of several ways that is open, patiently; raise what the last one failed with."""
    last = CouncilError()
    for way in ways:
        try:
            await insisted(way, patience_seconds)
        except CouncilError as error:
            last = error
        else:
            return
    raise last


class GoneError(CouncilError):
    """A message that should be edited is not there any more."""


class UnwelcomeError(CouncilError):
    """The bot may not post in a place: it is no member of it, or nobody may; says what to do."""


class NoThreadError(UnwelcomeError):
    """Nothing can be posted under a message, which itself stands; says why, or what to do."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who says something: an id that stays, and a name to show.

    A guest is of another organisation, or of limited rights in this one. Roles are ids; None where
    the chat knows no roles.
    """

    id: str
    name: str
    is_guest: bool = False
    roles: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Attached:
    """A file that came with what was said; `read` fetches it, and raises CouncilError."""

    name: str
    size: int
    read: Callable[[], Awaitable[bytes]] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Said:
    """What reached the bot; `key` is the platform event's own id, the same when it is sent again.

    `context` is what the question refers to: a thread so far, an attached file. In a place that is
    shared, people of other organisations read along; a direct message is seen by nobody else.
    `files` came along, and are read by commands that want them.
    """

    text: str
    asker: Asker
    place: Place
    key: str
    context: str = ""
    is_shared: bool = False
    is_direct: bool = False
    files: tuple[Attached, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A short plain title."""

    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown of any length, by people or models: untrusted."""

    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Plain words of somebody, shown as theirs: untrusted."""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One plain line of what the post is about."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Small print, plain."""

    text: str


@dataclass(frozen=True, slots=True)
class Caution:
    """What is missing or weaker than it looks, said before anything else; plain."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; `numeric` are the columns that stand to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()


class StepState(StrEnum):
    """How far one step of a round is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Step:
    """One line of progress."""

    title: str
    state: StepState
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Steps:
    """Progress; what is replaced while a round runs."""

    title: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Button:
    """Something to press; it carries an opaque id, and every press is authorised again."""

    action: str
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Buttons:
    """A row of buttons."""

    buttons: tuple[Button, ...]


@dataclass(frozen=True, slots=True)
class File:
    """A file to keep.

    Of one that is no text, `data` is what it holds, and `text` says what it shows.
    """

    name: str
    text: str
    data: bytes = b""

    @property
    def content(self) -> bytes:
        """Give what the file holds."""
        return self.data or self.text.encode()

    @property
    def is_picture(self) -> bool:
        """Say whether chats can show it, not only hand it on."""
        return bool(self.data) and self.name.endswith(".png")


@dataclass(frozen=True, slots=True)
class Mentions:
    """People who are called, by the ids they have in the chat; no other part calls anybody."""

    ids: tuple[str, ...]


Part = Heading | Prose | Quote | Line | Note | Caution | Table | Steps | Buttons | File | Mentions


@dataclass(frozen=True, slots=True)
class Post:
    """One message; `summary` stands for it where only plain words fit (a notification, a title)."""

    parts: tuple[Part, ...]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Thread:
    """A post and the replies under it."""

    root: Post
    replies: tuple[Post, ...] = ()


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
