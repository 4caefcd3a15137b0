"""What the parts of the bot need of each other: a runner, and what it lets be seen."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from council.errors import CouncilError
from council.rounds import Round


class RoundStoppedError(CouncilError):
    """A round was stopped before its end."""


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """A round as it stands now; `draft` is the synthesis as far as it is written."""

    round_: Round
    draft: str = ""
    seconds: float = 0.0


Sights = AsyncIterator[Sight]


class Runner(Protocol):
    """Who carries rounds on, whoever watches and whether anybody does."""

    async def resume(self, chats: Sequence[str]) -> None:
        """Go on with every unfinished round that these chats asked for, and nobody stopped.

        Raises CouncilError where another process serves one of these chats.
        """
        ...

    def start(self, round_: Round) -> None:
        """Carry a stored round to its end; one that is being carried already is left alone."""
        ...

    def seen(self, round_id: str) -> Sight | None:
        """Give the newest sight of a round that is being carried on now, None of any other."""
        ...

    async def stop(self, round_id: str) -> None:
        """Stop spending on a round; what there is stays, and it can be started again."""
        ...

    def watching(self, round_id: str) -> AbstractAsyncContextManager[Sights]:
        """Give every sight of a round that is being carried, from the newest one to its end.

        The sights end with the closed round. They raise RoundStoppedError when the round is
        stopped, and what stopped it where that was an error.
        """
        ...


class Claims(Protocol):
    """Who carries what, among the processes of one machine."""

    def take(self, name: str) -> bool:
        """Take what nobody else has; give False if another process has it."""
        ...

    def free(self, name: str) -> None:
        """Let go of it."""
        ...
