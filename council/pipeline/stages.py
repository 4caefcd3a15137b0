"""Stages of a round: answers, ballots, synthesis, audit; each skips what the round has."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from council.anonymize.scrub import MaskedText
from council.answers import Absence, Answer, Call, LateReply, Prompt, Reply, Role
from council.ballots import AUDIT_ATTEMPT, Ballot, BallotExchange, SpoiledBallot, cast_ballot
from council.errors import (
    ContextOverflowError,
    CouncilError,
    GatewayError,
    GatewayTimeoutError,
    UncoveredError,
)
from council.labels import Label, Slate
from council.panel import Member
from council.ports import Gateway, Store
from council.prompt_injection import find_suspicions
from council.prompts.answer import answer_prompt
from council.prompts.ballot import BallotPrompt, ballot_schema, judge_prompt
from council.prompts.shared import (
    CUT_MARK,
    MIN_TOKENS,
    SHORTENED_MARK,
    anonymize_answer,
    common_length,
    estimate_tokens,
    nonce_for,
    truncate,
)
from council.prompts.synthesis import (
    JudgesReport,
    anonymize_reasons,
    chair_prompt,
    parse_chair_reply,
)
from council.round_rules import OWN, Audit, ballot_version, due_audit
from council.rounds import Artefact, Draw, Fallback, Round, StandIn, Synthesis, winning_answer
from council.tally import Tally

MAX_ATTEMPTS = 2  # a spoiled ballot is retried once
BALLOT_REPLY_TOKENS = 600  # reserved in a judge's context for its reply
SYNTHESIS_REPLY_TOKENS = 1_000  # reserved in a chairman's context for its answer
TOO_LONG = "could not fit the answers in its context, even shortened"
WROTE_NOTHING = "wrote no answer"
CHAIRMAN_SECONDS = 20.0  # a chairman who has sent nothing by then gets a rival

Name = TypeVar("Name", bound=str)
Exchange = Answer | BallotExchange | Synthesis  # what holds a prompt and its reply

_IDENTIFYING = re.compile(r"\w/\w|[A-Za-z]{2}.*\d")  # a route, or a name with a version


# --- The session that the stages work in


@dataclass(frozen=True, slots=True)
class RoundServices:
    """What a round needs from outside.

    `on_round` receives the round after each change, `on_text` the synthesis while it is written.
    `audit_grace_seconds` is how long a finished round waits for its audit ballot. `in_thread` calls
    a function that takes long on a long text, without blocking the event loop. `patience` says for
    how many seconds a chairman, by key, may send nothing. `late` are calls that outlast the round.
    """

    gateway: Gateway
    store: Store
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

    async def wait(self) -> None:
        """Wait for all of them; a reply that cannot be stored, as its round is gone, is lost."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cancel(self) -> None:
        """Cancel all of them."""
        for task in self._tasks:
            task.cancel()


class RoundSession:
    """One running round; `round_` is replaced with each new artefact.

    `masked` are the answers for other models by member, each masked once.
    """

    def __init__(self, services: RoundServices, round_: Round) -> None:
        self.services = services
        self.round_ = round_
        self.masked: dict[str, MaskedText] = {}
        self.started = services.clock()
        self.drafting: ChairmanAsked | None = None  # whose draft people read
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

    async def save(self, artefact: Artefact) -> None:
        """Store the artefact, then add it to the round and report the change."""
        await self.services.store.save(self.round_.id, artefact)
        self.round_ = self.round_.with_(artefact)
        self.services.on_round(self.round_)

    async def mask(self, member: Member, text: str) -> MaskedText:
        """Return a member's answer for other models."""
        if member.key not in self.masked:
            own = identifying_names(member)
            self.masked[member.key] = await self.services.in_thread(anonymize_answer, text, own)
        return self.masked[member.key]

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

    async def seat_stand_in(self, member: Member) -> Member | None:
        """Give a member's seat to its fallback and return that; None without one."""
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

    def missed_message(self, role: Role) -> str:
        """Return what a seat failed to do in time, to follow its name."""
        failure = {
            Role.ANSWER: "did not answer",
            Role.BALLOT: "did not vote",
            Role.SYNTHESIS: "did not finish the council's answer",
            Role.GRADE: "did not grade",
        }
        return f"{failure[role]} in {round(self.seconds, 2):g} s"


async def reply_in_time(gateway: Gateway, call: Call, deadline: Deadline) -> Reply:
    """Return the member's reply; raise GatewayError, worded to follow its name, without one."""
    timeout = asyncio.timeout_at(deadline.at)
    try:
        async with timeout:
            return await gateway.complete(replace(call, deadline=deadline.at))
    except TimeoutError as error:
        if not timeout.expired():
            raise GatewayTimeoutError(
                "was given up on, because its provider took too long"
            ) from error
        # A gateway that is cancelled during a retry notes on the cancellation why it was waiting.
        notes = getattr(error.__cause__, "__notes__", ())
        raise GatewayTimeoutError(
            "; ".join((deadline.missed_message(call.role), *notes))
        ) from error


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


# --- Grace: nobody waits for the slowest


@dataclass(slots=True, eq=False)
class Asked:
    """A seat that was asked; its reply is in, or it is late: nobody waits for it any more."""

    member: Member
    role: Role
    is_in: bool = False
    is_late: bool = False

    async def receive(self, session: RoundSession, came: "Exchange | None") -> bool:
        """Return whether what came, if anything, is in time; if it is not, store it as late."""
        self.is_in = True
        if self.is_late and came and came.prompt and came.reply:
            late = LateReply(self.member.key, self.role, came.prompt, came.reply)
            await _despite_cancel(session.save(late))
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


# --- Answers


async def collect_answers(session: RoundSession) -> None:
    """Ask every member that has neither answered nor been absent, concurrently."""
    round_ = session.round_
    panel = round_.panel
    deadline = session.deadline(panel.terms.answer_seconds)
    answered = {answer.member for answer in round_.answers}
    asked = [
        Asked(member, Role.ANSWER)
        for member in panel.members
        if member.key not in answered and not round_.absence(member.key, Role.ANSWER)
    ]
    missing = missing_to_majority(len(panel.members), panel.terms.quorum, len(answered))
    calls = {seat: _answer(session, seat, deadline) for seat in asked}
    await run_with_grace(session, calls, missing)


async def _answer(session: RoundSession, asked: Asked, deadline: Deadline) -> None:
    call = _answer_call(session.round_, asked.member)
    try:
        reply = await session.reply(call, deadline)
    except GatewayError as error:
        await _despite_cancel(_miss_answer(session, asked, error, deadline))
        return
    answer = Answer(asked.member.key, call.prompt, reply)
    if await asked.receive(session, answer):
        await _despite_cancel(_store_answer(session, asked.member, answer))


def _answer_call(round_: Round, member: Member) -> Call:
    brief = any(seat.demonstration for seat in round_.panel.members)
    prompt = answer_prompt(round_.question, brief=brief, role=member.role)
    default = round_.panel.terms.answer_temperature
    return Call(member, prompt, default if member.temperature is None else member.temperature)


async def _miss_answer(
    session: RoundSession, asked: Asked, error: GatewayError, deadline: Deadline
) -> None:
    """Store the absence of a member; if it could not be reached, ask its fallback."""
    if asked.is_late:
        return
    absence = Absence(asked.member.key, Role.ANSWER, str(error))
    is_unreachable = not isinstance(error, UncoveredError | ContextOverflowError)
    has_time = asyncio.get_running_loop().time() < deadline.at
    stand_in = await session.seat_stand_in(asked.member) if is_unreachable and has_time else None
    asked.is_in = stand_in is None
    await session.save(absence)
    if stand_in:
        asked.member = stand_in
        await _answer(session, asked, deadline)


async def _store_answer(session: RoundSession, member: Member, answer: Answer) -> None:
    masked = await session.mask(member, answer.text)
    suspicions = await session.services.in_thread(find_suspicions, answer.text)
    await session.save(replace(answer, scrubbed=masked.found, suspicions=suspicions))


async def _despite_cancel(work: Coroutine[Any, Any, None]) -> None:
    """Finish the work even if the caller is cancelled: what was paid for is stored."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(asyncio.shield(task), return_exceptions=True)
        raise


def identifying_names(member: Member) -> tuple[str, ...]:
    """Return the ids and names of a member that no answer contains by chance."""
    bare_model_id = member.model_id.rpartition("/")[2]
    names = (member.key, member.model_id, member.display, bare_model_id)
    return tuple(name for name in names if _IDENTIFYING.search(name))


async def blind_answers(session: RoundSession, draw: Draw) -> dict[Label, str]:
    """Return each answer by label, with its author masked and prompt injections neutralised."""
    texts = {}
    for answer in session.round_.answers:
        label = draw.labels.label_of(answer.member)
        if label is not None:
            text = (await session.mask(session.round_.panel.seat(answer.member), answer.text)).text
            texts[label] = f"{text}\n{CUT_MARK}" if answer.reply.cut else text
    return texts


# --- Truncation to one length for all, so that no answer is at an advantage


def candidate_lengths(texts: Sequence[str], budget: int | None) -> tuple[int | None, ...]:
    """Return the common lengths, in tokens, to try one after the other; None is untruncated.

    First the length that should fit the budget (an unknown budget counts as sufficient), then half
    of it, since token estimates can be wrong. Lengths too short to judge are left out.
    """
    first = None if budget is None else common_length(texts, budget)
    if budget is not None and first is not None:
        first = common_length(texts, budget - len(texts) * estimate_tokens(f"\n{SHORTENED_MARK}"))
    longest = max(estimate_tokens(text) for text in texts)
    half = (longest if first is None else first) // 2
    return tuple(length for length in (first, half) if length is None or length >= MIN_TOKENS)


def truncate_all(texts: Mapping[Name, str], length: int | None) -> dict[Name, str]:
    """Return all texts truncated to one length and marked, or unchanged without a length."""
    if length is None:
        return dict(texts)
    return {name: f"{truncate(text, length)}\n{SHORTENED_MARK}" for name, text in texts.items()}


def _text_budget(context: int | None, frame: Prompt, reply_tokens: int) -> int | None:
    """Return the tokens a context leaves next to prompt and reply; None if unknown."""
    if context is None:
        return None
    return context - reply_tokens - estimate_tokens(frame.system + frame.user)


# --- Ballots


@dataclass(frozen=True, slots=True)
class BallotRequest:
    """What a judge is asked to rank; `authors` are shown in an audit of names only."""

    round_: Round
    slate: Slate
    nonce: str
    texts: Mapping[Label, str]
    authors: Mapping[Label, str] = field(default_factory=dict)

    @property
    def judge(self) -> Member:
        """The seat that votes."""
        return self.round_.panel.seat(self.slate.judge)

    def call(self, length: int | None, fault: str | None) -> Call:
        """Return the call with answers of this length; `fault` is what spoiled the last reply."""
        prompt = self._prompt(truncate_all(self._by_letter(self.texts), length), fault)
        schema = ballot_schema(self.slate.letters, self.nonce)
        temperature = self.round_.panel.terms.ballot_temperature
        return Call(self.judge, prompt, temperature, Role.BALLOT, schema)

    def lengths(self, context: int | None, fault: str | None) -> tuple[int | None, ...]:
        """Return the lengths of answers to try in a context of so many tokens."""
        frame = self._prompt(dict.fromkeys(self.slate.letters, ""), fault)
        budget = _text_budget(context, frame, BALLOT_REPLY_TOKENS)
        return candidate_lengths(tuple(self._by_letter(self.texts).values()), budget)

    def _prompt(self, texts: Mapping[str, str], fault: str | None) -> Prompt:
        authors = self._by_letter(self.authors) if self.authors else {}
        sheet = BallotPrompt(texts, self.nonce, fault, authors)
        return judge_prompt(self.round_.question, self.round_.panel.rubric, sheet)

    def _by_letter(self, by_label: Mapping[Label, str]) -> dict[str, str]:
        pairs = zip(self.slate.letters, self.slate.shown, strict=True)
        return {letter: by_label[label] for letter, label in pairs}


async def collect_ballots(session: RoundSession, draw: Draw) -> None:
    """Ask every judge without a ballot, two spoiled ballots or an absence, concurrently."""
    terms = session.round_.panel.terms
    deadline = session.deadline(terms.ballot_seconds)
    texts = await blind_answers(session, draw)
    seed = session.round_.seed
    requests = [
        BallotRequest(session.round_, slate, nonce_for(seed, slate.judge), texts)
        for slate in draw.slates
    ]
    voted = {ballot.judge for ballot in session.round_.ballots if ballot.counts}
    absent = {absence.member for absence in session.round_.absences if absence.role is Role.BALLOT}
    calls = {}
    for request in requests:
        if request.slate.judge not in voted | absent:
            asked = Asked(request.judge, Role.BALLOT)
            calls[asked] = _vote(session, asked, request, deadline)
    await run_with_grace(
        session, calls, missing_to_majority(len(requests), terms.quorum, len(voted))
    )


async def _vote(
    session: RoundSession, asked: Asked, request: BallotRequest, deadline: Deadline
) -> None:
    spoiled = [s for s in session.round_.spoiled if s.judge == request.slate.judge]
    while len(spoiled) < MAX_ATTEMPTS:
        ballot = await _request_ballot(session, request, deadline, tuple(spoiled))
        paper = None if isinstance(ballot, Absence) else ballot.paper
        if not await asked.receive(session, paper):
            return
        await session.save(ballot)
        if not isinstance(ballot, SpoiledBallot):
            return
        asked.is_in = False
        spoiled.append(ballot)


async def _request_ballot(
    session: RoundSession,
    request: BallotRequest,
    deadline: Deadline,
    spoiled: tuple[SpoiledBallot, ...],
) -> Ballot | SpoiledBallot | Absence:
    fault = spoiled[-1].fault if spoiled else None
    context = session.services.gateway.context_tokens(request.judge.key)
    for length in request.lengths(context, fault):
        call = request.call(length, fault)
        try:
            reply = await session.ask(call, deadline)
        except ContextOverflowError:
            continue
        if isinstance(reply, Absence):
            return reply
        paper = BallotExchange(request.nonce, call.prompt, reply, len(spoiled) + 1, length)
        version = ballot_version(session.round_)
        return cast_ballot(request.slate, request.nonce, paper, version=version)
    return Absence(request.judge.key, Role.BALLOT, TOO_LONG)


# --- Synthesis


async def synthesize(session: RoundSession, draw: Draw, tally: Tally) -> Synthesis:
    """Return the synthesis of the first chairman that writes one, else the winning answer.

    Demonstration models are not asked: what they write from answers is worse than the answers.
    """
    panel = session.round_.panel
    is_demonstration = any(seat.demonstration for seat in panel.members)
    written = None if is_demonstration else await _ask_chairmen(session, draw, tally)
    if written:
        is_first = written.chairman == panel.chair_order[0].key
        return written if is_first else replace(written, fallback=Fallback.CHAIRMAN)
    answer = winning_answer(session.round_, draw, tally)
    label = draw.labels.label_of(answer.member)
    fallback = Fallback.DEMONSTRATION if is_demonstration else Fallback.ANSWER
    return Synthesis(answer.text, None, fallback, (label,) if label else ())


@dataclass(slots=True, eq=False)
class ChairmanAsked(Asked):
    """A chairman who was asked; `is_heard` once a first word of the answer is in."""

    is_heard: bool = False
    written: Synthesis | None = None

    def on_text(self, session: RoundSession, text: str) -> None:
        """Show the draft, unless another chairman is ahead."""
        self.is_heard = self.is_heard or bool(text)
        if session.services.on_text and not self.is_late and session.drafting in {None, self}:
            session.drafting = self
            session.services.on_text(text)


async def _ask_chairmen(session: RoundSession, draw: Draw, tally: Tally) -> Synthesis | None:
    """Return the first complete synthesis; None if no chairman wrote one.

    The next chairman is asked when the last one failed, or has sent nothing for too long.
    """
    waiting = [
        chairman
        for chairman in session.round_.panel.chair_order
        if not session.round_.absence(chairman.key, Role.SYNTHESIS)
    ]
    tasks: dict[asyncio.Task[None], ChairmanAsked] = {}
    try:
        while waiting or tasks:
            if waiting and not any(asked.is_heard for asked in tasks.values()):
                asked = ChairmanAsked(waiting.pop(0), Role.SYNTHESIS)
                call = _ask_chairman(session, asked, draw, tally)
                tasks[asyncio.create_task(call)] = asked
            last = [*tasks.values()][-1].member.key
            patience = session.services.patience(last) if waiting else None
            done, _ = await asyncio.wait(
                tasks, timeout=patience, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
            for task in done:
                if written := tasks.pop(task).written:
                    await _overtake(session, tasks, written)
                    return written
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    return None


async def _ask_chairman(
    session: RoundSession, asked: ChairmanAsked, draw: Draw, tally: Tally
) -> None:
    written = await _request_synthesis(session, asked, draw, tally)
    if isinstance(written, Synthesis):
        asked.written = written if await asked.receive(session, written) else None
        return
    if session.drafting is asked:
        session.drafting = None
    if await asked.receive(session, None):
        await session.save(written)


async def _overtake(
    session: RoundSession,
    tasks: Mapping[asyncio.Task[None], ChairmanAsked],
    written: Synthesis,
) -> None:
    """Go on without the other chairmen, who are late."""
    session.services.late.add(tasks)
    others = [
        asked
        for asked in tasks.values()
        if not session.round_.absence(asked.member.key, Role.SYNTHESIS)
    ]
    for asked in others:
        asked.is_late = True
    winner = session.round_.panel.seat(written.chairman or "").display
    for asked in others:
        reason = f"was still writing when {winner} had finished"
        await session.save(Absence(asked.member.key, Role.SYNTHESIS, reason))
        await asked.receive(session, asked.written)  # both finished at once


async def _request_synthesis(
    session: RoundSession, asked: ChairmanAsked, draw: Draw, tally: Tally
) -> Synthesis | Absence:
    round_, chairman = session.round_, asked.member

    def on_text(text: str) -> None:
        asked.on_text(session, text)

    deadline = session.deadline(round_.panel.terms.synthesis_seconds)
    texts = await blind_answers(session, draw)
    frame = _chair_prompt(round_, chairman, dict.fromkeys(texts, ""), tally)
    context = session.services.gateway.context_tokens(chairman.key)
    budget = _text_budget(context, frame, SYNTHESIS_REPLY_TOKENS)
    for length in candidate_lengths(tuple(texts.values()), budget):
        prompt = _chair_prompt(round_, chairman, truncate_all(texts, length), tally)
        temperature = round_.panel.terms.synthesis_temperature
        call = Call(chairman, prompt, temperature, Role.SYNTHESIS, on_text=on_text)
        try:
            reply = await session.ask(call, deadline)
        except ContextOverflowError:
            continue
        if isinstance(reply, Absence):
            return reply
        parsed = parse_chair_reply(reply.text, draw.labels.labels)
        if not parsed.text:
            return Absence(chairman.key, Role.SYNTHESIS, WROTE_NOTHING)
        return Synthesis(
            text=parsed.text,
            chairman=chairman.key,
            drawn_on=parsed.drawn_on,
            departs=parsed.departs,
            why=parsed.why,
            prompt=prompt,
            reply=reply,
        )
    return Absence(chairman.key, Role.SYNTHESIS, TOO_LONG)


def _chair_prompt(
    round_: Round, chairman: Member, texts: Mapping[Label, str], tally: Tally
) -> Prompt:
    counted = [ballot for ballot in round_.ballots if ballot.counts]
    reasons = anonymize_reasons(counted, [seat.family for seat in round_.panel.judges])
    # Labels are drawn at random, so their alphabetical order reveals nothing about the authors.
    in_order = {label: texts[label] for label in sorted(texts)}
    return chair_prompt(
        round_.question,
        in_order,
        JudgesReport(tally.standings, reasons),
        nonce_for(round_.seed, "chairman"),
        round_.panel.terms.synthesis_tokens,
    )


# --- Audit ballot, cast while the synthesis is written


async def write_and_audit(session: RoundSession, draw: Draw, tally: Tally) -> None:
    """Save the synthesis and, concurrently, cast the audit ballot if one is due.

    Once the answer is written, the ballot has the services' grace period left. A ballot that
    fails, is late or does not fit is dropped; a spoiled one is saved and not retried.
    """
    was_cast = any(not ballot.counts for ballot in session.round_.ballots)
    was_spoiled = any(spoiled.is_audit for spoiled in session.round_.spoiled)
    audit = None if was_cast or was_spoiled else due_audit(session.round_, draw)
    if audit is None:
        await _write(session, draw, tally)
        return
    with unwrap_first_error():
        async with asyncio.TaskGroup() as group:
            # In this order, so that a gateway with a queue serves the answer first.
            answer = group.create_task(_write(session, draw, tally))
            ballot = group.create_task(_request_audit_ballot(session, draw, audit))
            await asyncio.wait({answer, ballot}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({ballot}, timeout=session.services.audit_grace_seconds)
            if not ballot.done():
                ballot.cancel()
            elif audited := ballot.result():
                await session.save(audited)


async def _write(session: RoundSession, draw: Draw, tally: Tally) -> None:
    await session.save(await synthesize(session, draw, tally))


async def _request_audit_ballot(
    session: RoundSession, draw: Draw, audit: Audit
) -> Ballot | SpoiledBallot | None:
    """Ask the judge once more, exactly as for its counted ballot except for the audit."""
    round_ = session.round_
    texts = await blind_answers(session, draw)
    request = BallotRequest(round_, audit.slate, audit.nonce, texts, audit.authors)
    faults = [spoiled.fault for spoiled in round_.spoiled if spoiled.judge == request.judge.key]
    fault = faults[-1] if faults else None
    length = audit.first.paper.cut_to if audit.first.paper else None
    if audit.kind == OWN and length is None:
        # The additional answer may need shorter ones.
        context = session.services.gateway.context_tokens(request.judge.key)
        lengths = request.lengths(context, fault)
        if not lengths:
            return None
        length = lengths[0]
    call = request.call(length, fault)
    deadline = session.deadline(round_.panel.terms.ballot_seconds)
    try:
        reply = await session.ask(call, deadline)
    except ContextOverflowError:
        return None
    if isinstance(reply, Absence):
        return None
    return audit.cast(BallotExchange(audit.nonce, call.prompt, reply, AUDIT_ATTEMPT, length))
