"""Messages as platform-neutral parts, which each chat renders within its own limits.

Model text is always data, never markup of a platform.
"""

from dataclasses import dataclass
from enum import StrEnum


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
    """One plain line of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Small print; plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Caution:
    """A plain warning, shown first, about what is missing or weaker than it looks."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; `numeric` are the indexes of right-aligned columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()


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
    """A row of buttons."""

    buttons: tuple[Button, ...]


@dataclass(frozen=True, slots=True)
class File:
    """An attached file.

    For a binary file, `data` is its content and `text` describes it.
    """

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
