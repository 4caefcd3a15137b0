"""A council while it sits: the round so far, and the two acts every stage is made of.

A stage asks seats under a common deadline, and saves each artefact the moment it exists.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from council.answers import Absence, Call, Reply, Role
from council.errors import ContextOverflowError, CouncilError, GatewayError, GatewayTimeoutError
from council.ports import Gateway, Store
from council.rounds import Artefact, Round


def _ignore(_: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class RoundServices:
    """The world a round is convened in.

    `on_round` is told the round after each change, `on_text` the synthesis while it is written.
    `audit_grace_seconds` is how long a round whose answer is written waits for its audit ballot.
    """

    gateway: Gateway
    store: Store
    clock: Callable[[], float] = time.monotonic
    on_round: Callable[[Round], None] = _ignore
    on_text: Callable[[str], None] | None = None
    audit_grace_seconds: float = 2.0


@dataclass(slots=True)
class RoundSession:
    """One round under way; its round is replaced as it grows."""

    council: RoundServices
    round_: Round
    started: float = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self.started = self.council.clock()

    @property
    def seconds(self) -> float:
        """How long the sitting has lasted."""
        return self.council.clock() - self.started

    def deadline(self, seconds: float) -> "Deadline":
        """Give the deadline of a stage that begins now and may take so many seconds."""
        whole = self.round_.panel.terms.round_seconds
        left = seconds if whole is None else max(0.0, whole - self.seconds)
        return Deadline.after(min(seconds, left))

    async def save(self, artefact: Artefact) -> None:
        """Store the artefact, then let the round hold it and say so."""
        await self.council.store.save(self.round_.id, artefact)
        self.round_ = self.round_.with_(artefact)
        self.council.on_round(self.round_)

    async def ask(self, call: Call, role: Role, deadline: "Deadline") -> Reply | Absence:
        """Give the member's reply, or its absence with the reason."""
        if not deadline.seconds:
            return Absence(call.member.key, role, "was not asked: the round's time was up")
        try:
            return await reply_in_time(self.council.gateway, call, role, deadline)
        except ContextOverflowError:
            raise
        except GatewayError as error:
            return Absence(call.member.key, role, str(error))


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a stage closes, on the event loop's clock, and how long it was open."""

    at: float
    seconds: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Give the deadline so many seconds from now."""
        return cls(asyncio.get_running_loop().time() + seconds, seconds)

    def missed_message(self, role: Role) -> str:
        """Say what a seat did not do in time."""
        done = {
            Role.ANSWER: "did not answer",
            Role.BALLOT: "did not vote",
            Role.SYNTHESIS: "did not finish the synthesis",
            Role.GRADE: "did not grade",
        }
        return f"{done[role]} in {round(self.seconds, 2):g} s"


async def reply_in_time(gateway: Gateway, call: Call, role: Role, deadline: Deadline) -> Reply:
    """Give the member's reply; GatewayError, which reads on after its name, where there is none."""
    stage = asyncio.timeout_at(deadline.at)
    try:
        async with stage:
            return await gateway.complete(call)
    except TimeoutError as error:
        if not stage.expired():
            raise GatewayTimeoutError("was given up on: its provider took too long") from error
        # A gateway that was waiting to try again says on the cancellation what it waited for.
        why = getattr(error.__cause__, "__notes__", ())
        raise GatewayTimeoutError("; ".join((deadline.missed_message(role), *why))) from error


async def together(acts: Iterable[Awaitable[None]]) -> None:
    """Do all acts at once; the first error stops the others and is raised as itself."""
    with unwrap_first_error():
        async with asyncio.TaskGroup() as group:
            for act in acts:
                group.create_task(_run(act))


@contextmanager
def unwrap_first_error() -> Iterator[None]:
    """Raise the first error of a task group inside as itself, where it is one of the council's."""
    try:
        yield
    except ExceptionGroup as errors:
        first = errors.exceptions[0]
        raise first if isinstance(first, CouncilError) else errors from None


async def _run(act: Awaitable[None]) -> None:
    await act
