"""Posts, made of parts that know no platform.

Each chat dresses them in what it has, within its own limits; model text is always data, never
markup of the platform.
"""

from dataclasses import dataclass
from enum import StrEnum


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
