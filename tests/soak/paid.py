"""A scripted model server that remembers when each call was asked and when it was answered."""

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.wire.models import ModelServer, Request, fences
from tests.wire.models.http import Connection

_NUMBER = re.compile(r"\[round (\d+)\]")

Purpose = tuple[str, str, str]
Owner = Callable[[asyncio.BaseTransport], int | None]


@dataclass(slots=True)
class Asked:
    """One call; times are seconds since the epoch, `answered` is None while it is not.

    `by` is the process that asked, where that is told.
    """

    at: float
    answered: float | None = None
    by: int | None = None


@dataclass(slots=True)
class Bill:
    """Every call by what it was for: the round's number, the role, the model."""

    calls: dict[Purpose, list[Asked]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many calls were made."""
        return sum(map(len, self.calls.values()))

    def again(self, kills: list[float]) -> list[float]:
        """Return for each repeated call how long before the kill it was answered; 0 if never."""
        ages = []
        for asked in self.calls.values():
            for before in asked[:-1]:
                # A request that was sent before a kill may be read after it.
                kill = min((k for k in kills if k >= before.at - READ_SECONDS), default=0.0)
                ages.append(max(0.0, kill - (before.answered or kill)))
        return ages


READ_SECONDS = 0.5  # a busy server's delay; a restart takes longer


class PaidServer(ModelServer):
    """A model server with a bill; `owner` tells whose connection one is.

    `votes_once` says that a judge votes once, so that another nonce is the same vote again.
    """

    def __init__(
        self, latency: float, owner: Owner = lambda _: None, *, votes_once: bool = False
    ) -> None:
        super().__init__(latency=latency)
        self.bill = Bill()
        self.called = asyncio.Event()
        self._owner = owner
        self._votes_once = votes_once

    async def _complete(self, request: Request, wire: Connection) -> None:
        call = Asked(time.time(), by=self._owner(wire.transport))
        self.called.set()
        purpose = _purpose(request)
        if self._votes_once:
            purpose = (purpose[0], purpose[1].partition(",")[0], purpose[2])
        self.bill.calls.setdefault(purpose, []).append(call)
        await super()._complete(request, wire)
        call.answered = time.time()


def number_in(text: str) -> str:
    """Return the number of the round that a text is of, or nothing."""
    found = _NUMBER.search(text)
    return found[1] if found else ""


def _purpose(request: Request) -> Purpose:
    role = "answer"
    if fences(request.user):
        # A judge may vote several times, each time with another nonce.
        nonce = re.search(r"^Nonce:.*", request.user, re.MULTILINE)
        # A fence's nonce is that of the synthesis, or of one of the calls of a method.
        fence = re.search(r'nonce="\w+"', request.user)
        role = f"ballot, {nonce[0]}" if nonce else f"reading, {fence and fence[0]}"
    return (number_in(request.user), role, request.model)
