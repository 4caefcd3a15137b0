"""Stages of a round: answers, ballots, synthesis, audit; each skips what the round has."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from council.anonymize.scrub import MaskedText
from council.answers import Absence, Answer, Call, Prompt, Reply, Role
from council.ballots import AUDIT_ATTEMPT, Ballot, BallotExchange, SpoiledBallot, cast_ballot
from council.errors import ContextOverflowError, CouncilError, GatewayError, GatewayTimeoutError
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
from council.rounds import Artefact, Draw, Fallback, Round, Synthesis, winning_answer
from council.tally import Tally

MAX_ATTEMPTS = 2  # a spoiled ballot is retried once
BALLOT_REPLY_TOKENS = 600  # reserved in a judge's context for its reply
SYNTHESIS_REPLY_TOKENS = 1_000  # reserved in a chairman's context for its answer
TOO_LONG = "could not fit the answers in its context, even shortened"
WROTE_NOTHING = "wrote no answer"

Name = TypeVar("Name", bound=str)

_IDENTIFYING = re.compile(r"\w/\w|[A-Za-z]{2}.*\d")  # a route, or a name with a version


# --- The session that the stages work in


@dataclass(frozen=True, slots=True)
class RoundServices:
    """What a round needs from outside.

    `on_round` receives the round after each change, `on_text` the synthesis while it is written.
    `audit_grace_seconds` is how long a finished round waits for its audit ballot. `in_thread` calls
    a function that takes long on a long text, without blocking the event loop.
    """

    gateway: Gateway
    store: Store
    clock: Callable[[], float] = time.monotonic
    on_round: Callable[[Round], None] = lambda _: None
    on_text: Callable[[str], None] | None = None
    audit_grace_seconds: float = 2.0
    in_thread: Callable[..., Awaitable[Any]] = asyncio.to_thread


class RoundSession:
    """One running round; `round_` is replaced with each new artefact.

    `masked` are the answers for other models by member, each masked once.
    """

    def __init__(self, services: RoundServices, round_: Round) -> None:
        self.services = services
        self.round_ = round_
        self.masked: dict[str, MaskedText] = {}
        self.started = services.clock()

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
        if not deadline.seconds:
            return Absence(call.member.key, call.role, "was not asked: the round ran out of time")
        try:
            return await reply_in_time(self.services.gateway, call, deadline)
        except ContextOverflowError:
            raise
        except GatewayError as error:
            return Absence(call.member.key, call.role, str(error))


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


# --- Answers


async def collect_answers(session: RoundSession) -> None:
    """Ask every member that has neither answered nor been absent, concurrently."""
    round_ = session.round_
    brief = any(seat.demonstration for seat in round_.panel.members)
    prompt = answer_prompt(round_.question, brief=brief)
    deadline = session.deadline(round_.panel.terms.answer_seconds)
    answered = {answer.member for answer in round_.answers}
    await run_all(
        _answer(session, member, prompt, deadline)
        for member in round_.panel.members
        if member.key not in answered and not round_.absence(member.key, Role.ANSWER)
    )


async def _answer(
    session: RoundSession, member: Member, prompt: Prompt, deadline: Deadline
) -> None:
    terms = session.round_.panel.terms
    temperature = terms.answer_temperature if member.temperature is None else member.temperature
    try:
        reply = await session.ask(Call(member, prompt, temperature), deadline)
    except ContextOverflowError as error:
        reply = Absence(member.key, Role.ANSWER, str(error))
    if isinstance(reply, Absence):
        await session.save(reply)
        return
    await _despite_cancel(_store_answer(session, member, prompt, reply))


async def _store_answer(
    session: RoundSession, member: Member, prompt: Prompt, reply: Reply
) -> None:
    masked = await session.mask(member, reply.text)
    suspicions = await session.services.in_thread(find_suspicions, reply.text)
    await session.save(Answer(member.key, prompt, reply, masked.found, suspicions))


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
    deadline = session.deadline(session.round_.panel.terms.ballot_seconds)
    texts = await blind_answers(session, draw)
    seed = session.round_.seed
    requests = [
        BallotRequest(session.round_, slate, nonce_for(seed, slate.judge), texts)
        for slate in draw.slates
    ]
    finished = {ballot.judge for ballot in session.round_.ballots if ballot.counts}
    finished |= {
        absence.member for absence in session.round_.absences if absence.role is Role.BALLOT
    }
    await run_all(
        _vote(session, request, deadline)
        for request in requests
        if request.slate.judge not in finished
    )


async def _vote(session: RoundSession, request: BallotRequest, deadline: Deadline) -> None:
    spoiled = [s for s in session.round_.spoiled if s.judge == request.slate.judge]
    while len(spoiled) < MAX_ATTEMPTS:
        ballot = await _request_ballot(session, request, deadline, tuple(spoiled))
        await session.save(ballot)
        if not isinstance(ballot, SpoiledBallot):
            return
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
    for i, chairman in enumerate(() if is_demonstration else panel.chair_order):
        if session.round_.absence(chairman.key, Role.SYNTHESIS):
            continue
        written = await _request_synthesis(session, chairman, draw, tally)
        if isinstance(written, Synthesis):
            return written if i == 0 else replace(written, fallback=Fallback.CHAIRMAN)
        await session.save(written)
    answer = winning_answer(session.round_, draw, tally)
    label = draw.labels.label_of(answer.member)
    fallback = Fallback.DEMONSTRATION if is_demonstration else Fallback.ANSWER
    return Synthesis(answer.text, None, fallback, (label,) if label else ())


async def _request_synthesis(
    session: RoundSession, chairman: Member, draw: Draw, tally: Tally
) -> Synthesis | Absence:
    round_ = session.round_
    deadline = session.deadline(round_.panel.terms.synthesis_seconds)
    texts = await blind_answers(session, draw)
    frame = _chair_prompt(round_, chairman, dict.fromkeys(texts, ""), tally)
    context = session.services.gateway.context_tokens(chairman.key)
    budget = _text_budget(context, frame, SYNTHESIS_REPLY_TOKENS)
    for length in candidate_lengths(tuple(texts.values()), budget):
        prompt = _chair_prompt(round_, chairman, truncate_all(texts, length), tally)
        temperature = round_.panel.terms.synthesis_temperature
        call = Call(chairman, prompt, temperature, Role.SYNTHESIS, on_text=session.services.on_text)
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
