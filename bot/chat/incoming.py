"""What reached the bot, from whom and where."""

import unicodedata
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import sha256

from council.places import Place
from council.prompt_injection import visible

# --- What reached the bot, from whom and where.

KEY_LENGTH = 12  # of a round's id: 48 bits tell the events of many years apart


def key_of(chat: str, *event: str) -> str:
    """Give the round's id for a platform's event: the same whenever it is delivered again."""
    return sha256("\n".join((chat, *event)).encode()).hexdigest()[:KEY_LENGTH]


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
class Attachment:
    """A file that came with what was said; `read` fetches it, and raises CouncilError."""

    name: str
    size: int
    read: Callable[[], Awaitable[bytes]] = field(compare=False)


@dataclass(frozen=True, slots=True)
class IncomingMessage:
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
    files: tuple[Attachment, ...] = ()


# --- What people write, as it reads, and how much of it is taken.

MOST_CHARACTERS = 20_000  # of a question, with what it refers to
_ALLOWED_CONTROLS = "\n\t"


def cleaned(text: str) -> str:
    """Give the text as it reads: plain line ends, nothing invisible, no white space around."""
    plain = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(
        c for c in plain if c in _ALLOWED_CONTROLS or unicodedata.category(c) not in {"Cc", "Cs"}
    ).strip()
