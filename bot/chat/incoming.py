"""Incoming messages: who wrote what and where, and how their text is cleaned."""

import unicodedata
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import sha256

from council.confusables import remove_invisible
from council.places import Place

KEY_LENGTH = 12  # hex digits: 48 bits are enough for many years of events
MAX_QUESTION_CHARACTERS = 20_000  # of a question with its context
_ALLOWED_CONTROLS = "\n\t"


@dataclass(frozen=True, slots=True)
class Asker:
    """A person who writes to the bot.

    A guest belongs to another organisation or has limited rights. `roles` are ids; None in chats
    without roles.
    """

    id: str
    name: str
    is_guest: bool = False
    roles: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file sent with a message; `read` fetches it and raises CouncilError if it cannot."""

    name: str
    size: int
    read: Callable[[], Awaitable[bytes]] = field(compare=False)


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """A message to the bot; `key` is the platform's event id, the same for every redelivery.

    `context` is what the question refers to, such as a thread or an attached file. In a shared
    place people of other organisations can read along; a direct message is seen by nobody else.
    `files` are read only by commands that want them.
    """

    text: str
    asker: Asker
    place: Place
    key: str
    context: str = ""
    is_shared: bool = False
    is_direct: bool = False
    files: tuple[Attachment, ...] = ()


def event_key(chat: str, *event: str) -> str:
    """Return the round's id for a platform event, the same for every redelivery."""
    return sha256("\n".join((chat, *event)).encode()).hexdigest()[:KEY_LENGTH]


def clean_text(text: str) -> str:
    """Return the text as it reads: LF line ends, no invisible characters, stripped."""
    plain = remove_invisible(text.replace("\r\n", "\n").replace("\r", "\n").replace("\uffff", ""))
    return "".join(
        c for c in plain if c in _ALLOWED_CONTROLS or unicodedata.category(c) not in {"Cc", "Cs"}
    ).strip()
