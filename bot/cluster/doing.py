"""What a process is doing for its cluster: pieces of work, and the queues it does them of."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from procrastinate.worker import Worker

from bot.ports import Do, Unfinished, Work

Ended = Callable[[str], Awaitable[None]]
Fault = dict[str, str]


async def nobody(_: str) -> None:
    """Tell nobody."""


@dataclass(slots=True, eq=False)
class Doing:
    """A piece of work under way here, since a moment of the clock; `tries` were made before.

    It is ours no more where another process may be doing it.
    """

    work: Work
    task: asyncio.Task[Any] | None
    since: float
    tries: int = 0
    is_ours: bool = True
    is_ending: bool = False
    fault: Fault = field(default_factory=dict)

    def let_go(self) -> None:
        """Do no more of it."""
        self.is_ours = False
        if self.task:
            self.task.cancel()


@dataclass(slots=True, eq=False)
class Served:
    """A queue that is served here; `ended` hears of each piece of work that was done or left."""

    do: Do
    unfinished: Unfinished
    ended: Ended
    worker: Worker
    is_left: bool = False

    def leave(self) -> None:
        """Take no more of it."""
        self.is_left = True
        stop: Callable[[], None] = self.worker.stop
        stop()


def lock_of(work: Work) -> str:
    """Give what keeps a piece of work from being done twice at once."""
    return f"{work.queue} {work.name}"
