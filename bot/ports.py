"""What the parts of the bot need of each other: a runner, and what it lets be seen."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from council.rounds import Round


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """A round as it stands now; `draft` is the synthesis as far as it is written."""

    round_: Round
    draft: str = ""
    seconds: float = 0.0


Sights = AsyncIterator[Sight]


class Runner(Protocol):
    """Who carries rounds on, whoever watches and whether anybody does."""

    def start(self, round_: Round) -> None:
        """Carry a stored round to its end; one that is being carried already is left alone."""
        ...

    def carries(self, round_id: str) -> bool:
        """Say whether the round is being carried on now."""
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
