"""Session of a running round: calls seats under a deadline and saves each artefact at once."""

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
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class RoundServices:
    """What a round needs from outside.

    `on_round` receives the round after each change, `on_text` the synthesis while it is written.
    `audit_grace_seconds` is how long a finished round waits for its audit ballot.
    """

    gateway: Gateway
    store: Store
    clock: Callable[[], float] = time.monotonic
    on_round: Callable[[Round], None] = _ignore
    on_text: Callable[[str], None] | None = None
    audit_grace_seconds: float = 2.0


@dataclass(slots=True)
class RoundSession:
    """One running round; `round_` is replaced with each new artefact."""

    services: RoundServices
    round_: Round
    started: float = field(init=False)

    def __post_init__(self) -> None:
        """Start the clock."""
        self.started = self.services.clock()

    @property
    def seconds(self) -> float:
        """How long the session has lasted."""
        return self.services.clock() - self.started

    def deadline(self, seconds: float) -> "Deadline":
        """Return the deadline of a stage that starts now, limited by that of the round."""
        round_seconds = self.round_.panel.terms.round_seconds
        left = seconds if round_seconds is None else max(0.0, round_seconds - self.seconds)
        return Deadline.after(min(seconds, left))

    async def save(self, artefact: Artefact) -> None:
        """Store the artefact, then add it to the round and report the change."""
        await self.services.store.save(self.round_.id, artefact)
        self.round_ = self.round_.with_(artefact)
        self.services.on_round(self.round_)

    async def ask(self, call: Call, role: Role, deadline: "Deadline") -> Reply | Absence:
        """Return the member's reply, or its absence with the reason.

        Raise ContextOverflowError if the prompt is too long, so that the caller can shorten it.
        """
        if not deadline.seconds:
            return Absence(call.member.key, role, "was not asked: the round's time was up")
        try:
            return await reply_in_time(self.services.gateway, call, role, deadline)
        except ContextOverflowError:
            raise
        except GatewayError as error:
            return Absence(call.member.key, role, str(error))


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of a stage on the event loop's clock, and the seconds the stage was given."""

    at: float
    seconds: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Return the deadline so many seconds from now."""
        return cls(asyncio.get_running_loop().time() + seconds, seconds)

    def missed_message(self, role: Role) -> str:
        """Return what a seat failed to do in time, to follow its name."""
        failure = {
            Role.ANSWER: "did not answer",
            Role.BALLOT: "did not vote",
            Role.SYNTHESIS: "did not finish the synthesis",
            Role.GRADE: "did not grade",
        }
        return f"{failure[role]} in {round(self.seconds, 2):g} s"


async def reply_in_time(gateway: Gateway, call: Call, role: Role, deadline: Deadline) -> Reply:
    """Return the member's reply; raise GatewayError, worded to follow its name, without one."""
    timeout = asyncio.timeout_at(deadline.at)
    try:
        async with timeout:
            return await gateway.complete(call)
    except TimeoutError as error:
        if not timeout.expired():
            raise GatewayTimeoutError("was given up on: its provider took too long") from error
        # A gateway that is cancelled during a retry notes on the cancellation why it was waiting.
        notes = getattr(error.__cause__, "__notes__", ())
        raise GatewayTimeoutError("; ".join((deadline.missed_message(role), *notes))) from error


async def run_all(tasks: Iterable[Awaitable[None]]) -> None:
    """Run all tasks concurrently; the first error cancels the others and is raised as itself."""
    with unwrap_first_error():
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(_run(task))


@contextmanager
def unwrap_first_error() -> Iterator[None]:
    """Raise the first error of the task group inside, if it is a CouncilError, as itself."""
    try:
        yield
    except ExceptionGroup as errors:
        first = errors.exceptions[0]
        raise first if isinstance(first, CouncilError) else errors from None


async def _run(task: Awaitable[None]) -> None:
    await task
