"""People of a thread: models know them as Person 1, Person 2; who they are stays here."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in a thread: the number that models know, the id in the chat, the name."""

    number: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ThreadReading:
    """How much of a thread a question was asked with, and the people in it.

    `left_out` older messages did not fit; the chat showed no text of the `hidden` ones. `unread`
    says why nothing of the thread was read: "shared", "guest", "unreadable", "consent", "limited"
    or "busy". `part` says which messages the chat showed: "first", "since" (the last answer),
    "first since", or "" for all.
    """

    messages: int = 0
    left_out: int = 0
    hidden: int = 0
    unread: str = ""
    people: tuple[Person, ...] = ()
    part: str = ""
