"""Stages of a round: answers and ballots; each skips what the round has."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from council.answers import Absence, Answer, Call, Prompt, Role
from council.ballots import Ballot, BallotExchange, SpoiledBallot
from council.errors import ContextOverflowError, GatewayError, UncoveredError
from council.files import QuestionFile
from council.filters import find_all_suspicions
from council.labels import Label, Slate
from council.methods import Method, method_of
from council.panel import Member, Panel
from council.pipeline.session import (
    Asked,
    Deadline,
    RoundSession,
    finish_despite_cancel,
    missing_to_majority,
    run_all,
    run_with_grace,
)
from council.prompts.answer import ANY_READER, Reader, answer_prompt, missed_files
from council.prompts.ballot import BallotPrompt
from council.prompts.shared import (
    CUT_MARK,
    MIN_TOKENS,
    SHORTENED_MARK,
    common_length,
    estimate_tokens,
    nonce_for,
    truncate,
)
from council.rounds import AnswerFindings, Draw, Round, ballot_version

MAX_ATTEMPTS = 2  # a spoiled ballot is retried once
BALLOT_REPLY_TOKENS = 600  # reserved in a judge's context for its reply
NO_NOTES: Mapping[str, tuple[str, ...]] = {}
TOO_LONG_WHOLE = "could not fit the answers in its context"  # where they are never shortened
TOO_LONG = f"{TOO_LONG_WHOLE}, even shortened"

Name = TypeVar("Name", bound=str)


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
    # Those that were stored just before an earlier run was cut.
    left = [answer for answer in session.round_.answers if answer.scrubbed is None]
    await run_all(_examine(session, answer) for answer in left)


async def _answer(session: RoundSession, asked: Asked, deadline: Deadline) -> None:
    reader = await session.reader(asked.member)
    call = _answer_call(session.round_, asked.member, reader)
    try:
        reply = await session.reply(call, deadline)
    except GatewayError as error:
        await finish_despite_cancel(_miss_answer(session, asked, error, deadline))
        return
    missed = missed_files(session.round_.question, reader)
    answer = Answer(
        asked.member.key,
        call.prompt,
        reply,
        scrubbed=None,
        missed=missed,
        model=reply.reported_model,
    )
    if await asked.receive(session, answer):
        await finish_despite_cancel(session.save(answer, reported=False))
        await _examine(session, answer)


def _answer_call(round_: Round, member: Member, reader: Reader) -> Call:
    prompt = member_prompt(round_, member, reader)
    temperature = answer_temperature(round_.panel, member)
    return Call(member, prompt, temperature, images=images_for(round_, reader))


def member_prompt(round_: Round, member: Member, reader: Reader = ANY_READER) -> Prompt:
    """Return the prompt by which a member is asked for its answer."""
    brief = any(seat.demonstration for seat in round_.panel.members)
    return answer_prompt(round_.question, brief=brief, role=member.role, reader=reader)


def answer_temperature(panel: Panel, member: Member) -> float | None:
    """Return the temperature at which a member answers; None is the provider's own."""
    default = panel.terms.answer_temperature
    return default if member.temperature is None else member.temperature


def images_for(round_: Round, reader: Reader) -> tuple[QuestionFile, ...]:
    """Return the images of the question that a reader sees."""
    return round_.question.images if reader.sees_images else ()


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


async def _examine(session: RoundSession, answer: Answer) -> None:
    """Store what is found in a stored answer: names of its author, and attempts to steer."""
    masked = await session.mask(answer)
    suspicions = await session.services.in_thread(find_all_suspicions, session.round_, answer.text)
    await session.save(AnswerFindings(answer.member, masked.found, suspicions))


async def blind_answers(
    session: RoundSession, draw: Draw, answers: Sequence[Answer] | None = None
) -> dict[Label, str]:
    """Return answers by label, authors masked, injections neutralised; by default the revised."""
    texts = {}
    for answer in session.round_.revised if answers is None else answers:
        label = draw.labels.label_of(answer.member)
        if label is not None:
            text = (await session.mask(answer)).text
            texts[label] = f"{text}\n{CUT_MARK}" if answer.reply.cut else text
    return texts


# --- Truncation to one length for all, so that no answer is at an advantage


def candidate_lengths(texts: Sequence[str], budget: int | None) -> tuple[int | None, ...]:
    """Return the common lengths, in tokens, to try one after the other; None is untruncated.

    First the length that should fit the budget (an unknown budget counts as sufficient), then half
    of it, since token estimates can be wrong. Lengths too short to judge are left out.
    """
    first = None
    if budget is not None and common_length(texts, budget) is not None:
        first = common_length(texts, budget - len(texts) * estimate_tokens(f"\n{SHORTENED_MARK}"))
    longest = max(estimate_tokens(text) for text in texts)
    half = (longest if first is None else first) // 2
    return tuple(length for length in (first, half) if length is None or length >= MIN_TOKENS)


def truncate_all(texts: Mapping[Name, str], length: int | None) -> dict[Name, str]:
    """Return all texts truncated to one length and marked, or unchanged without a length."""
    if length is None:
        return dict(texts)
    return {name: f"{truncate(text, length)}\n{SHORTENED_MARK}" for name, text in texts.items()}


def text_budget(context: int | None, frame: Prompt, reply_tokens: int) -> int | None:
    """Return the tokens a context leaves next to prompt and reply; None if unknown."""
    if context is None:
        return None
    return context - reply_tokens - estimate_tokens(frame.system + frame.user)


# --- Ballots


@dataclass(frozen=True, slots=True)
class BallotRequest:
    """What a judge ranks; `authors` are for an audit of names only, `notes` are the method's."""

    round_: Round
    slate: Slate
    nonce: str
    texts: Mapping[Label, str]
    authors: Mapping[Label, str] = field(default_factory=dict)
    reader: Reader = ANY_READER
    notes: tuple[str, ...] = ()

    @property
    def method(self) -> Method:
        """The round's method."""
        return method_of(self.round_)

    @property
    def judge(self) -> Member:
        """The seat that votes."""
        return self.round_.panel.seat(self.slate.judge)

    def call(self, length: int | None, fault: str | None) -> Call:
        """Return the call with answers of this length; `fault` is what spoiled the last reply."""
        prompt = self._prompt(truncate_all(self._by_letter(self.texts), length), fault)
        schema = self.method.schema(self.slate.letters, self.nonce, self.round_.panel.rubric)
        temperature = self.round_.panel.terms.ballot_temperature
        return Call(
            member=self.judge,
            prompt=prompt,
            temperature=temperature,
            role=Role.BALLOT,
            schema=schema,
            images=images_for(self.round_, self.reader),
            top_logprobs=self.method.top_logprobs,
        )

    def lengths(self, fault: str | None) -> tuple[int | None, ...]:
        """Return the lengths of answers to try in the reader's context."""
        frame = self._prompt(dict.fromkeys(self.slate.letters, ""), fault)
        budget = text_budget(self.reader.context_tokens, frame, BALLOT_REPLY_TOKENS)
        lengths = candidate_lengths(tuple(self._by_letter(self.texts).values()), budget)
        if not self.round_.panel.terms.equal_length:
            return lengths
        shortest = max(MIN_TOKENS, min(map(estimate_tokens, self.texts.values())))
        return tuple(dict.fromkeys(min(shortest, length or shortest) for length in lengths))

    def _prompt(self, texts: Mapping[str, str], fault: str | None) -> Prompt:
        authors = self._by_letter(self.authors) if self.authors else {}
        sheet = BallotPrompt(
            texts=texts,
            nonce=self.nonce,
            fault=fault,
            authors=authors,
            reader=self.reader,
            notes=self.notes,
            wording=self.slate.wording,
        )
        return self.method.prompt(self.round_.question, self.round_.panel.rubric, sheet)

    def _by_letter(self, by_label: Mapping[Label, str]) -> dict[str, str]:
        pairs = zip(self.slate.letters, self.slate.shown, strict=True)
        return {letter: by_label[label] for letter, label in pairs}


async def collect_ballots(
    session: RoundSession,
    draw: Draw,
    slates: Sequence[Slate] | None = None,
    notes: Mapping[str, tuple[str, ...]] = NO_NOTES,
) -> None:
    """Ask every judge without a ballot, two spoiled ballots or an absence, concurrently.

    Without `slates`, all of the draw's; `notes` are added to prompts, by the slate's voter.
    """
    slates = draw.slates if slates is None else slates
    terms = session.round_.panel.terms
    deadline = session.deadline(terms.ballot_seconds)
    texts = await blind_answers(session, draw)
    seed = session.round_.seed
    requests = [
        BallotRequest(
            round_=session.round_,
            slate=slate,
            nonce=nonce_for(seed, slate.voter),
            texts=texts,
            notes=notes.get(slate.voter, ()),
        )
        for slate in slates
    ]
    shown = {slate.voter for slate in slates}
    voted = {b.voter for b in session.round_.ballots if b.counts} & shown
    absent = {absence.member for absence in session.round_.absences if absence.role is Role.BALLOT}
    calls = {}
    for request in requests:
        if request.slate.voter not in voted and request.slate.judge not in absent:
            number = request.slate.pass_number
            asked = Asked(request.judge, Role.BALLOT, pass_number=number)
            calls[asked] = _vote(session, asked, request, deadline)
    await run_with_grace(
        session, calls, missing_to_majority(len(requests), terms.quorum, len(voted))
    )


async def _vote(
    session: RoundSession, asked: Asked, request: BallotRequest, deadline: Deadline
) -> None:
    spoiled = [s for s in session.round_.spoiled if s.voter == request.slate.voter]
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
    request = replace(request, reader=await session.reader(request.judge))
    for length in request.lengths(fault):
        call = request.call(length, fault)
        try:
            reply = await session.ask(call, deadline)
        except ContextOverflowError:
            continue
        if isinstance(reply, Absence):
            return reply
        paper = BallotExchange(request.nonce, call.prompt, reply, len(spoiled) + 1, length)
        version = ballot_version(session.round_)
        return request.method.cast(request.slate, request.nonce, paper, version=version)
    return Absence(request.judge.key, Role.BALLOT, TOO_LONG)
