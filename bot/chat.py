"""The chat interface: messages, the parts of posts, the adapter protocol, errors and retries.

Each chat renders the parts within its own limits. Model text is always data, never markup.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from itertools import chain, repeat
from math import inf
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

from council.confusables import remove_invisible
from council.errors import CouncilError, QuestionError
from council.files import QuestionFile
from council.people import ThreadReading
from council.places import Place

# --- Incoming messages

MAX_QUESTION_CHARACTERS = 20_000  # of a question with its context
MAX_RAW_CHARACTERS = 2 * MAX_QUESTION_CHARACTERS  # as it was sent: cleaning halves CRLF line ends

# The categories Cc and Cs, without tabs and line feeds.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Asker:
    """A person who writes to the bot.

    A guest belongs to another organisation or has limited rights. An admin administers the
    workspace or server, by the chat's own word; `manages_channel` is about the place of a message
    alone. `roles` are ids; None in chats without roles. `aliases` are their other names there.
    """

    id: str
    name: str
    is_guest: bool = False
    roles: tuple[str, ...] | None = None
    is_admin: bool = False
    manages_channel: bool = False
    aliases: tuple[str, ...] = ()


TERMINAL, TERMINAL_USER = Place("terminal"), Asker("terminal", "you")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file sent with a message; `read` fetches it and raises CouncilError if it cannot."""

    name: str
    size: int
    read: Callable[[], Awaitable[bytes]] = field(compare=False)

    @classmethod
    def of(cls, name: str, content: bytes) -> "Attachment":
        """Return a file that is here already."""

        async def read() -> bytes:
            return content

        return cls(name, len(content), read)


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message to the bot; `key` is the platform's event id, the same for every redelivery.

    `context` is what the question refers to, such as a thread or an attached file. In a shared
    place people of other organisations can read along; a direct message is private.
    `quotes` are the rounds that text, context and attached files may repeat.
    `files` are read only by commands that want them; `attached` were read before. `is_visible`:
    its words can be read where the answer is posted, as those of a command cannot. `reading` is how
    much of its thread the context has. `instructions` bind who answers; an answer with an
    `answer_schema` must be JSON that fits it.
    """

    text: str
    asker: Asker
    place: Place
    key: str
    context: str = ""
    is_shared: bool = False
    is_direct: bool = False
    files: tuple[Attachment, ...] = ()
    attached: tuple[QuestionFile, ...] = ()
    quotes: tuple[str, ...] = ()
    is_visible: bool = False
    reading: ThreadReading | None = None
    instructions: str = ""
    answer_schema: str = ""
    max_characters: int = MAX_QUESTION_CHARACTERS


def event_key(chat: str, *event: str) -> str:
    """Return the round's id for a platform event, the same for every redelivery."""
    # 12 hex digits: 48 bits are enough for many years of events.
    return sha256("\n".join((chat, *event)).encode()).hexdigest()[:12]


def check_length(*texts: str, limit: int = MAX_QUESTION_CHARACTERS) -> None:
    """Raise QuestionError if a question and its context have more characters than the limit."""
    length = sum(map(len, texts))
    if length > limit:
        limit = MAX_QUESTION_CHARACTERS if limit == MAX_RAW_CHARACTERS else limit
        raise QuestionError(
            f"The question has {length:,} characters; the limit is {limit:,}. "
            "Shorten it, or ask about one part."
        )


def clean_text(text: str) -> str:
    """Return the text as it reads: LF line ends, no invisible characters, stripped."""
    plain = remove_invisible(text.replace("\r\n", "\n").replace("\r", "\n").replace("\uffff", ""))
    return _CONTROL.sub("", plain).strip()


# --- Posts and their parts


@dataclass(frozen=True, slots=True)
class Heading:
    """A short plain title."""

    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown of any length, written by people or models: untrusted."""

    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Plain text quoted from someone: untrusted."""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text, with `code` and **strong** words; everything else in it is plain."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Small print, with `code` and **strong** words; everything else in it is plain."""

    text: str


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning, shown first, about what is missing or weaker than it looks; like a line."""

    text: str


PLACE = "#"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; `numeric` are the indexes of right-aligned columns.

    A first column that is called PLACE, or not at all, holds the places of the second one's names.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()

    @property
    def has_places(self) -> bool:
        """Return whether the first column numbers the rows."""
        return self.columns[0] in {"", PLACE}


class StepState(StrEnum):
    """The state of one step of a round."""

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
    """Progress, replaced while a round runs."""

    title: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Button:
    """A button with an opaque value; every press is authorised again."""

    action: str
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Buttons:
    """A row of buttons; `more` are less common ones, which a chat shows in a menu."""

    buttons: tuple[Button, ...]
    more: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True)
class File:
    """An attached file; for a binary one, `data` is its content and `text` describes it."""

    name: str
    text: str
    data: bytes = b""

    @property
    def content(self) -> bytes:
        """Return the file's bytes."""
        return self.data or self.text.encode()

    @property
    def is_picture(self) -> bool:
        """Return whether chats can show it inline."""
        return bool(self.data) and self.name.endswith(".png")


@dataclass(frozen=True, slots=True)
class Mentions:
    """People to notify, by their ids in the chat; no other part notifies anyone."""

    ids: tuple[str, ...]


Part = Heading | Prose | Quote | Line | Note | Caution | Table | Steps | Buttons | File | Mentions


@dataclass(frozen=True, slots=True)
class Post:
    """One message; `summary` is its plain text for notifications and titles."""

    parts: tuple[Part, ...]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Thread:
    """A post and the replies under it."""

    root: Post
    replies: tuple[Post, ...] = ()


# --- The adapter, its errors, and retries

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


@runtime_checkable
class EndsWaiting(Protocol):
    """A sender of private replies that shows that the bot is at work until one comes."""

    async def end_waiting(self) -> None:
        """Remove that, if no reply has come."""
        ...


class Chat(Protocol):
    """The connection to one chat platform.

    `is_room`: others read along, so posts say what was asked. `tick_seconds`: how often
    progress is refreshed if nothing changes. `accepts_files`: files can be posted.
    `shows_progress`: progress of long tasks is shown. `is_bound`: no other process of a cluster can
    post in the place. `replies_privately`: what is sent to the asker unasked reaches only them.
    `shows_all`: where nobody else reads along, rankings and answers follow the council's answer.
    `shows_buttons`: a post has its buttons.
    """

    is_room: ClassVar[bool] = False
    tick_seconds: ClassVar[float] = 1.0
    accepts_files: bool = False
    shows_progress: ClassVar[bool] = True
    shows_buttons: ClassVar[bool] = True
    is_bound: ClassVar[bool] = False
    replies_privately: bool = False
    shows_all: bool = False

    def has_own_thread(self, place: Place, round_id: str) -> bool:
        """Return whether a round that is posted in a place has a thread of its own there."""
        return place.thread is None

    def is_direct(self, place: Place) -> bool:
        """Return whether a place is a direct message with the bot, outside of a thread."""
        return False

    def pages(self, post: Post) -> tuple[Post, ...]:
        """Split a post into posts that each fit in one message; nothing is dropped."""
        return (post,)

    async def replies_line(self, place: Place) -> str:
        """Return the sentence that says which replies to a round there are read; "" for none."""
        return ""

    async def display_name(self, asker_id: str) -> str:
        """Return the display name of a person; "" where readers already know it."""
        return ""

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Post a message; `place` names the thread of a reply, `key` is stored with the message.

        Raise DeliveryUnknownError if it may have arrived, PostingForbiddenError if it cannot.
        """
        ...

    async def find(
        self, place: Place, key: str, age_seconds: float | None = None
    ) -> SentMessage | None:
        """Return the message that was posted with this key, at most so long ago, or None.

        Raise DeliveryUnknownError if that cannot be found out now.
        """
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

    async def delete(self, sent: SentMessage) -> None:
        """Delete a message or file of ours; do nothing if it is gone already."""
        return

    async def end_waiting(self) -> None:
        """Remove what tells the asker that the bot is at work, now that a message shows it."""
        return

    async def rename_thread(self, root: SentMessage, name: str) -> None:
        """Rename the thread under a message of ours, where threads have names."""
        return

    def private_place(self, asker_id: str, place: Place) -> Place:
        """Return a place that only this person reads, for what `place` must not contain."""
        return place

    async def redirect_to_channel(self, message: IncomingMessage, channel: str) -> IncomingMessage:
        """Return the message as if it were sent in another channel, given by name or id.

        Raise PostingForbiddenError unless the bot can post there and the author can read it.
        """
        raise PostingForbiddenError(f"There are no channels here, so leave #{channel} out.")

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


def backoff_seconds() -> Iterator[float]:
    """Return the seconds to wait before each retry; the iterator never ends."""
    return chain((1.0, 2.0, 5.0, 10.0, 20.0, 30.0), repeat(60.0))


async def retry_until_sent(send: Callable[[], Awaitable[T]], timeout_seconds: float = inf) -> T:
    """Return the result of an idempotent action, retried while delivery is unknown.

    Raise the last DeliveryUnknownError once the next retry would exceed the timeout.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_seconds
    pauses = backoff_seconds()
    while True:
        try:
            return await send()
        except DeliveryUnknownError:
            seconds = next(pauses)
            if loop.time() + seconds > deadline:
                raise
        await asyncio.sleep(seconds)


async def send_note(chat: Chat, message: IncomingMessage, line: str) -> None:
    """Reply to a message privately with one line."""
    await chat.send_ephemeral(message, Post((Note(line),), line))


async def send_first_possible(
    actions: Iterable[Callable[[], Awaitable[object]]], timeout_seconds: float
) -> None:
    """Try each action in order, with retries, until one succeeds; raise the last error."""
    last_error = CouncilError()
    for action in actions:
        try:
            await retry_until_sent(action, timeout_seconds)
        except CouncilError as error:
            last_error = error
        else:
            return
    raise last_error


FindChat = Callable[[Place], Chat | None]  # None while a place is not connected
