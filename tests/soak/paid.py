"""A scripted model server that remembers when each call was asked and when it was answered."""

import asyncio
import re
import time
from dataclasses import dataclass, field

from tests.wire.models import ModelServer, Request, fences
from tests.wire.models.http import Connection

_NUMBER = re.compile(r"\[round (\d+)\]")


@dataclass(slots=True)
class Asked:
    """One call; times are seconds since the epoch, `answered` is None while it is not."""

    at: float
    answered: float | None = None


@dataclass(slots=True)
class Bill:
    """Every call by what it was for: the round's number, the role, the model."""

    calls: dict[tuple[str, str, str], list[Asked]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many calls were made."""
        return sum(map(len, self.calls.values()))

    def again(self, kills: list[float]) -> list[float]:
        """Give, for each call made again, how long before the kill it was answered; 0 if not."""
        ages = []
        for asked in self.calls.values():
            for before in asked[:-1]:
                kill = min((k for k in kills if k >= before.at), default=0.0)
                ages.append(max(0.0, kill - (before.answered or kill)))
        return ages


class PaidServer(ModelServer):
    """A model server with a bill."""

    def __init__(self, latency: float) -> None:
        super().__init__(latency=latency)
        self.bill = Bill()
        self.called = asyncio.Event()

    async def _complete(self, request: Request, wire: Connection) -> None:
        call = Asked(time.time())
        self.called.set()
        self.bill.calls.setdefault(_purpose(request), []).append(call)
        await super()._complete(request, wire)
        call.answered = time.time()


def _purpose(request: Request) -> tuple[str, str, str]:
    number = _NUMBER.search(request.user)
    role = "answer"
    if fences(request.user):
        role = "ballot" if re.search(r"^Nonce:", request.user, re.MULTILINE) else "synthesis"
    return (number[1] if number else "", role, request.model)
