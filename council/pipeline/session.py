"""A running round: what its stages share, deadlines, and grace for the slowest."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from council.anonymize.scrub import MaskedText, mask_names
from council.answers import Absence, Answer, Call, LateReply, Reply, Role
from council.ballots import BallotExchange
from council.errors import (
    ContextOverflowError,
    CouncilError,
    GatewayError,
    UncoveredError,
)
from council.methods import shown_method
from council.panel import Member
from council.ports import Gateway, RunningRoundStore
from council.prompts.answer import Reader
from council.prompts.shared import anonymize_answer
from council.rounds import Artefact, Round, StandIn, Synthesis

CHAIRMAN_SECONDS = 20.0  # a chairman who has sent nothing by then gets a rival

Delivery = Answer | BallotExchange | Synthesis  # what holds a prompt and its reply

_IDENTIFYING = re.compile(r"\w/\w|[A-Za-z]{2}.*\d")  # a route, or a name with a version


@dataclass(frozen=True, slots=True)
class RoundServices:
    """What a round needs from outside.

    `on_round` receives the round after each change, `on_text` the synthesis while it is written.
    `audit_grace_seconds` is how long a finished round waits for its audit ballot. `in_thread` calls
    a function that takes long on a long text, without blocking the event loop. `patience` says for
    how many seconds a chairman, by key, may send nothing. `late` are calls that outlast the round.
    """

    gateway: Gateway
    store: RunningRoundStore
    clock: Callable[[], float] = time.monotonic
    on_round: Callable[[Round], None] = lambda _: None
    on_text: Callable[[str], None] | None = None
    audit_grace_seconds: float = 2.0
    in_thread: Callable[..., Awaitable[Any]] = asyncio.to_thread
    patience: Callable[[str], float] = lambda _: CHAIRMAN_SECONDS
    late: "LateCalls" = field(default_factory=lambda: LateCalls())


class LateCalls:
    """Calls for whose replies a round no longer waits; they end by their own deadlines."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        """Take over these calls."""
        self._tasks.update(tasks)

    @property
    def has_any(self) -> bool:
        """Whether there are any, running or ended."""
        return bool(self._tasks)

    async def wait(self) -> None:
        """Wait for all of them, also if a wait is cancelled; what cannot be stored is lost."""
        if self.has_any:
            await asyncio.shield(asyncio.gather(*self._tasks, return_exceptions=True))

    def cancel(self) -> None:
        """Cancel all of them."""
        for task in self._tasks:
            task.cancel()


class RoundSession:
    """One running round; `round_` is replaced with each new artefact."""

    def __init__(self, services: RoundServices, round_: Round) -> None:
        self.services = services
        self.round_ = round_
        self.masked: dict[tuple[str, str], MaskedText] = {}  # answers, by member and text
        self.started = services.clock()
        self.drafting: Asked | None = None  # whose draft people read
        self._seating = asyncio.Lock()

    @property
    def seconds(self) -> float:
        """How long the session has lasted."""
        return self.services.clock() - self.started

    def deadline(self, seconds: float) -> "Deadline":
        """Return the deadline of a stage that starts now, limited by that of the round."""
        round_seconds = self.round_.panel.terms.round_seconds
        left = seconds if round_seconds is None else max(0.0, round_seconds - self.seconds)
        return Deadline.after(min(seconds, left))

    async def save(self, *artefacts: Artefact, reported: bool = True) -> None:
        """Store artefacts, then add them to the round and, if `reported`, report the change."""
        await self.services.store.save(self.round_.id, *artefacts)
        self.add(*artefacts, reported=reported)

    def add(self, *artefacts: Artefact, reported: bool = True) -> None:
        """Add stored artefacts to the round and, if `reported`, report the change."""
        for artefact in artefacts:
            self.round_ = self.round_.with_(artefact)
        if reported:
            self.report()

    def report(self) -> None:
        """Report the round as it is now."""
        self.services.on_round(self.round_)

    async def mask(self, answer: Answer) -> MaskedText:
        """Return an answer for other models."""
        key = answer.member, answer.text
        if key not in self.masked:
            self.masked[key] = await self.services.in_thread(mask_answer, self.round_, answer)
        return self.masked[key]

    async def ask(self, call: Call, deadline: "Deadline") -> Reply | Absence:
        """Return the reply, or the absence with its reason; raise ContextOverflowError."""
        try:
            return await self.reply(call, deadline)
        except ContextOverflowError:
            raise
        except GatewayError as error:
            return Absence(call.member.key, call.role, str(error))

    async def reply(self, call: Call, deadline: "Deadline") -> Reply:
        """Return the reply; raise GatewayError, worded to follow the member's name."""
        if not deadline.seconds:
            raise UncoveredError("was not asked: the round ran out of time")
        return await reply_in_time(self.services.gateway, call, deadline)

    async def reader(self, member: Member) -> Reader:
        """Return what a member's model can take in of the question."""
        gateway = self.services.gateway
        sees = not self.round_.question.images or await gateway.sees_images(member)
        return Reader(sees, gateway.context_tokens(member.key), is_small=member.demonstration)

    async def seat_stand_in(self, member: Member) -> Member | None:
        """Seat a member's fallback in its place and return it; None without one."""
        if member.fallback:
            async with self._seating:
                await self.save(StandIn(self.round_.panel.with_stand_in(member)))
        return member.fallback


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of a stage on the event loop's clock, and the seconds the stage was given."""

    at: float
    seconds: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """Return the deadline so many seconds from now."""
        return cls(asyncio.get_running_loop().time() + seconds, seconds)


_MISSED = {  # to follow the name of a seat
    Role.ANSWER: "did not answer",
    Role.BALLOT: "did not vote",
    Role.SYNTHESIS: "did not finish the council's answer",
    Role.STEP: "did not finish its part",
    Role.GRADE: "did not grade",
    Role.FILTER: "did not check the answers",
}


async def reply_in_time(gateway: Gateway, call: Call, deadline: Deadline) -> Reply:
    """Return the member's reply; raise GatewayError, worded to follow its name, without one."""
    timeout = asyncio.timeout_at(deadline.at)
    try:
        async with timeout:
            return await gateway.complete(replace(call, deadline=deadline.at))
    except TimeoutError as error:
        if not timeout.expired():
            raise GatewayError("was given up on, because its provider took too long") from error
        # A gateway that is cancelled during a retry notes on the cancellation why it was waiting.
        notes = getattr(error.__cause__, "__notes__", ())
        missed = f"{_MISSED[call.role]} in {round(deadline.seconds, 2):g} s"
        raise GatewayError("; ".join((missed, *notes))) from error


async def run_all(tasks: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all tasks concurrently; the first error cancels the others and is raised as itself."""
    with unwrap_first_error():
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(task)


@contextmanager
def unwrap_first_error() -> Iterator[None]:
    """Raise the first error of the task group inside, if it is a CouncilError, as itself."""
    try:
        yield
    except ExceptionGroup as errors:
        first = errors.exceptions[0]
        raise first if isinstance(first, CouncilError) else errors from None


def mask_answer(round_: Round, answer: Answer) -> MaskedText:
    """Return an answer for other models, without its author's names.

    An author who read the others under their names may name any of them, so all are masked.
    """
    panel, is_blind = round_.panel, shown_method(round_).is_blind
    seats = (panel.seat(answer.member),) if is_blind else panel.members
    names = tuple(
        name
        for seat in seats
        for name in (*identifying_names(seat), *([seat.role] if seat.role else []))
    )
    families = sorted({seat.family for seat in panel.judges})
    masked = anonymize_answer(answer.text, names, answer.reply.sources, families)
    if is_blind:
        return masked
    others = mask_names(masked.text, families)
    return MaskedText(others.text, (*masked.found, *others.found))


def identifying_names(member: Member) -> tuple[str, ...]:
    """Return the ids and names of a member that no answer contains by chance."""
    bare_model_id = member.model_id.rpartition("/")[2]
    names = (member.key, member.model_id, member.display, bare_model_id)
    return tuple(name for name in names if _IDENTIFYING.search(name))


async def finish_despite_cancel(work: Coroutine[Any, Any, None]) -> None:
    """Finish the work even if the caller is cancelled: what was paid for is stored."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(asyncio.shield(task), return_exceptions=True)
        raise


# --- Grace: nobody waits for the slowest


@dataclass(slots=True, eq=False)
class Asked:
    """A seat that was asked; its reply is in, or it is late: nobody waits for it any more."""

    member: Member
    role: Role
    is_in: bool = False
    is_late: bool = False
    pass_number: int = 1

    async def receive(self, session: RoundSession, came: "Delivery | None") -> bool:
        """Return whether what came, if anything, is in time; if it is not, store it as late."""
        self.is_in = True
        if self.is_late and came and came.prompt and came.reply:
            late = LateReply(
                member=self.member.key,
                role=self.role,
                prompt=came.prompt,
                reply=came.reply,
                pass_number=self.pass_number,
            )
            await finish_despite_cancel(session.save(late))
        return not self.is_late


async def run_with_grace(
    session: RoundSession, calls: Mapping[Asked, Coroutine[Any, Any, None]], missing: int
) -> None:
    """Run all calls concurrently until all are done or the panel's grace period is over.

    It begins when `missing` more seats have delivered. Then who has sent nothing is absent, and its
    call goes on among the late ones. The first error cancels all others and is raised.
    """
    grace = session.round_.panel.terms.grace_seconds
    loop, end = asyncio.get_running_loop(), None
    tasks = {asyncio.create_task(call): asked for asked, call in calls.items()}
    target = _delivered(session.round_) + missing
    running = {*tasks}
    try:
        while running:
            if end is None and grace is not None and _delivered(session.round_) >= target:
                end = loop.time() + grace
            timeout = None if end is None else max(0.0, end - loop.time())
            done, running = await asyncio.wait(
                running, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
            if grace and end is not None and loop.time() >= end:
                late = {task for task in running if not tasks[task].is_in}
                await _leave_behind(session, {task: tasks[task] for task in late}, grace)
                running -= late
                end, grace = None, None
    except BaseException:
        for task in running:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _delivered(round_: Round) -> int:
    return len(round_.answers) + sum(ballot.counts for ballot in round_.ballots)


async def _leave_behind(
    session: RoundSession, late: Mapping[asyncio.Task[None], Asked], grace: float
) -> None:
    for asked in late.values():
        asked.is_late = True
    session.services.late.add(late)
    for asked in late.values():
        reason = f"took over {grace:g} s longer than most, so the round went on without it"
        await session.save(Absence(asked.member.key, asked.role, reason))


def missing_to_majority(seats: int, quorum: int, delivered: int) -> int:
    """Return how many more seats make a majority, and no fewer than the quorum."""
    return min(seats, max(seats // 2 + 1, quorum)) - delivered
