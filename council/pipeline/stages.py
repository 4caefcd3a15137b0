"""Candidates: the answers under their labels, as judges and chairmen see them."""

import asyncio
import re
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from council.anonymize.scrub import scrub
from council.answers import Absence, Answer, Call, Prompt, Reply, Role
from council.ballots import AUDIT_ATTEMPT, Ballot, BallotExchange, SpoiledBallot, cast
from council.errors import ContextOverflowError
from council.labels import Label, Slate
from council.panel import Member
from council.pipeline.session import Deadline, RoundSession, together, unwrap_first_error
from council.prompt_injection import find_suspicions
from council.prompts.answer import answer_prompt
from council.prompts.ballot import BallotPrompt, ballot_schema, judge_prompt
from council.prompts.shared import (
    CUT_MARK,
    MIN_TOKENS,
    SHORTENED_MARK,
    blind,
    common_length,
    estimated_tokens,
    nonce_for,
    truncate,
)
from council.prompts.synthesis import (
    JudgesReport,
    anonymize_reasons,
    chair_prompt,
    parse_chair_reply,
)
from council.round_rules import OWN, Audit, due_audit
from council.rounds import Draw, Fallback, Round, Synthesis, winning_answer
from council.tally import Tally

# --- Candidates: the answers under their labels, as judges and chairmen see them.

Name = TypeVar("Name", bound=str)

_TELLING = re.compile(r"\w/\w|[A-Za-z]{2}.*\d")  # a route, or a name with a version


def own_names(member: Member) -> tuple[str, ...]:
    """Give the ids and names that would give a member away wherever they stand.

    Only what no answer says by chance: a seat called "a" or "warm" is also a word.
    """
    bare = member.model_id.rpartition("/")[2]
    names = (member.key, member.model_id, member.display, bare)
    return tuple(name for name in names if _TELLING.search(name))


def blind_answers(round_: Round, draw: Draw) -> dict[Label, str]:
    """Give each answer under its label: traces of its author masked, imitations defused."""
    texts = {}
    for answer in round_.answers:
        text = blind(answer.text, own_names(round_.panel.seat(answer.member)))
        label = draw.labels.label_of(answer.member)
        if label is not None:
            texts[label] = f"{text}\n{CUT_MARK}" if answer.reply.cut else text
    return texts


def candidate_lengths(texts: Sequence[str], budget: int | None) -> tuple[int | None, ...]:
    """Give the common lengths, in tokens, at which a reader may be shown the texts.

    First what should fit the budget (None: whole; an unknown budget is trusted), then half of it,
    since an estimate can be wrong. Lengths at which nothing can be judged are left out.
    """
    first = None if budget is None else common_length(texts, budget)
    if budget is not None and first is not None:
        first = common_length(texts, budget - len(texts) * estimated_tokens(f"\n{SHORTENED_MARK}"))
    longest = max(estimated_tokens(text) for text in texts)
    half = (longest if first is None else first) // 2
    return tuple(length for length in (first, half) if length is None or length >= MIN_TOKENS)


def truncate_all(texts: Mapping[Name, str], length: int | None) -> dict[Name, str]:
    """Give all texts cut to one length and marked, or whole where there is none."""
    if length is None:
        return dict(texts)
    return {name: f"{truncate(text, length)}\n{SHORTENED_MARK}" for name, text in texts.items()}


# --- The stage in which every member answers.


async def collect_answers(sitting: RoundSession) -> None:
    """Ask every member that has neither answered nor been found absent; all at once."""
    round_ = sitting.round_
    brief = any(seat.demonstration for seat in round_.panel.members)
    prompt = answer_prompt(round_.question, brief=brief)
    deadline = sitting.deadline(round_.panel.terms.answer_seconds)
    done = {given.member for given in round_.answers}
    await together(
        _answer(sitting, member, prompt, deadline)
        for member in round_.panel.members
        if member.key not in done and not round_.absence(member.key, Role.ANSWER)
    )


async def _answer(
    sitting: RoundSession, member: Member, prompt: Prompt, deadline: Deadline
) -> None:
    terms = sitting.round_.panel.terms
    temperature = terms.answer_temperature if member.temperature is None else member.temperature
    try:
        reply = await sitting.ask(Call(member, prompt, temperature), Role.ANSWER, deadline)
    except ContextOverflowError as error:
        reply = Absence(member.key, Role.ANSWER, str(error))
    if isinstance(reply, Absence):
        await sitting.save(reply)
        return
    traces = scrub(reply.text, own_names(member)).found
    await sitting.save(Answer(member.key, prompt, reply, traces, find_suspicions(reply.text)))


# --- A booth: a judge's slate with what may be read in it, and the call that asks for the ballot.

BALLOT_REPLY_TOKENS = 600  # what stays free in a judge's context for its reply


@dataclass(frozen=True, slots=True)
class BallotRequest:
    """Where one judge votes; `texts` are the blind answers by public label.

    `authors`, by public label too, are named beside them in an audit of names alone.
    """

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
        """Give the call that shows the answers at a length and names what spoiled a first reply."""
        prompt = self._prompt(truncate_all(self._by_letter, length), fault)
        schema = ballot_schema(self.slate.letters, self.nonce)
        return Call(self.judge, prompt, self.round_.panel.terms.ballot_temperature, schema)

    def lengths(self, context: int | None, fault: str | None) -> tuple[int | None, ...]:
        """Give the lengths to show the answers at, in a context of so many tokens."""
        frame = self._prompt(dict.fromkeys(self._by_letter, ""), fault)
        taken = BALLOT_REPLY_TOKENS + estimated_tokens(frame.system + frame.user)
        budget = None if context is None else context - taken
        return candidate_lengths(tuple(self._by_letter.values()), budget)

    @property
    def _by_letter(self) -> dict[str, str]:
        return self._lettered(self.texts)

    def _lettered(self, named: Mapping[Label, str]) -> dict[str, str]:
        pairs = zip(self.slate.letters, self.slate.shown, strict=True)
        return {letter: named[label] for letter, label in pairs}

    def _prompt(self, texts: Mapping[str, str], fault: str | None) -> Prompt:
        authors = self._lettered(self.authors) if self.authors else {}
        sheet = BallotPrompt(texts, self.nonce, fault, authors)
        return judge_prompt(self.round_.question, self.round_.panel.rubric, sheet)


# --- The stage in which every judge ranks its slate, blind.

MAX_ATTEMPTS = 2  # a spoiled ballot is asked again once
TOO_LONG = "could not take the answers in its context, even shortened"


async def collect_ballots(sitting: RoundSession, draw: Draw) -> None:
    """Ask every judge that has not voted, spoiled twice or been found absent; all at once."""
    deadline = sitting.deadline(sitting.round_.panel.terms.ballot_seconds)
    texts = blind_answers(sitting.round_, draw)
    seed = sitting.round_.seed
    booths = [
        BallotRequest(sitting.round_, slate, nonce_for(seed, slate.judge), texts)
        for slate in draw.slates
    ]
    await together(
        _vote(sitting, booth, deadline)
        for booth in booths
        if not _settled(sitting.round_, booth.slate.judge)
    )


def _settled(round_: Round, judge: str) -> bool:
    voted = any(ballot.judge == judge and ballot.counts for ballot in round_.ballots)
    return voted or round_.absence(judge, Role.BALLOT) is not None


async def _vote(sitting: RoundSession, booth: BallotRequest, deadline: Deadline) -> None:
    spoiled = [s for s in sitting.round_.spoiled if s.judge == booth.slate.judge]
    while len(spoiled) < MAX_ATTEMPTS:
        voted = await _cast(sitting, booth, deadline, tuple(spoiled))
        await sitting.save(voted)
        if not isinstance(voted, SpoiledBallot):
            return
        spoiled.append(voted)


async def _cast(
    sitting: RoundSession,
    booth: BallotRequest,
    deadline: Deadline,
    before: tuple[SpoiledBallot, ...],
) -> Ballot | SpoiledBallot | Absence:
    fault = before[-1].fault if before else None
    context = sitting.council.gateway.context_tokens(booth.judge.key)
    for length in booth.lengths(context, fault):
        call = booth.call(length, fault)
        try:
            reply = await sitting.ask(call, Role.BALLOT, deadline)
        except ContextOverflowError:
            continue
        if isinstance(reply, Absence):
            return reply
        paper = BallotExchange(booth.nonce, call.prompt, reply, len(before) + 1, length)
        return cast(booth.slate, booth.nonce, paper)
    return Absence(booth.judge.key, Role.BALLOT, TOO_LONG)


# --- The stage in which a chairman writes the council's one answer.

SYNTHESIS_REPLY_TOKENS = 1_000  # what stays free in a chairman's context for its answer
TOO_LONG_FOR_CHAIRMAN = "could not take the answers in its context, even shortened"
WROTE_NOTHING = "wrote no answer"


async def synthesize(sitting: RoundSession, draw: Draw, tally: Tally) -> Synthesis:
    """Give the synthesis of the first chairman that writes one, else the winning answer itself.

    Each chairman has a deadline of its own; one that fails is an absence of the round.
    """
    for i, chairman in enumerate(sitting.round_.panel.chair_order):
        if sitting.round_.absence(chairman.key, Role.SYNTHESIS):
            continue
        written = await _write(sitting, chairman, draw, tally)
        if isinstance(written, Synthesis):
            return written if i == 0 else replace(written, fallback=Fallback.CHAIRMAN)
        await sitting.save(written)
    return _winning_answer(sitting.round_, draw, tally)


async def _write(
    sitting: RoundSession, chairman: Member, draw: Draw, tally: Tally
) -> Synthesis | Absence:
    round_ = sitting.round_
    deadline = sitting.deadline(round_.panel.terms.synthesis_seconds)
    texts = blind_answers(round_, draw)
    context = sitting.council.gateway.context_tokens(chairman.key)
    frame = _prompt(round_, chairman, dict.fromkeys(texts, ""), tally)
    for length in _lengths(texts, frame, context):
        prompt = _prompt(round_, chairman, truncate_all(texts, length), tally)
        temperature = round_.panel.terms.synthesis_temperature
        call = Call(chairman, prompt, temperature, on_text=sitting.council.on_text)
        try:
            reply = await sitting.ask(call, Role.SYNTHESIS, deadline)
        except ContextOverflowError:
            continue
        if isinstance(reply, Absence):
            return reply
        return _synthesis(chairman, prompt, reply, draw.labels.labels)
    return Absence(chairman.key, Role.SYNTHESIS, TOO_LONG_FOR_CHAIRMAN)


def _prompt(round_: Round, chairman: Member, texts: Mapping[Label, str], tally: Tally) -> Prompt:
    counted = [ballot for ballot in round_.ballots if ballot.counts]
    reasons = anonymize_reasons(counted, [seat.family for seat in round_.panel.judges])
    # Labels are drawn at random, so their alphabetical order says nothing of who is who.
    in_order = {label: texts[label] for label in sorted(texts)}
    return chair_prompt(
        round_.question,
        in_order,
        JudgesReport(tally.standings, reasons),
        nonce_for(round_.seed, "chairman"),
        plain=chairman.demonstration,
    )


def _lengths(
    texts: Mapping[Label, str], frame: Prompt, context: int | None
) -> tuple[int | None, ...]:
    taken = SYNTHESIS_REPLY_TOKENS + estimated_tokens(frame.system + frame.user)
    return candidate_lengths(tuple(texts.values()), None if context is None else context - taken)


def _synthesis(
    chairman: Member, prompt: Prompt, reply: Reply, labels: Sequence[Label]
) -> Synthesis | Absence:
    read = parse_chair_reply(reply.text, labels)
    if not read.text:
        return Absence(chairman.key, Role.SYNTHESIS, WROTE_NOTHING)
    return Synthesis(
        text=read.text,
        chairman=chairman.key,
        drawn_on=read.drawn_on,
        departs=read.departs,
        why=read.why,
        prompt=prompt,
        reply=reply,
    )


def _winning_answer(round_: Round, draw: Draw, tally: Tally) -> Synthesis:
    """Give the winning answer as it stands; without standings, the cheapest and quickest."""
    answer = winning_answer(round_, draw, tally)
    label = draw.labels.label_of(answer.member)
    return Synthesis(answer.text, None, Fallback.ANSWER, (label,) if label else ())


# --- The audit ballot, cast beside the writing of the answer and never waited for long.

Writing = Coroutine[None, None, None]


async def write_and_audit(sitting: RoundSession, draw: Draw, writing: Writing) -> None:
    """Have the answer written, and beside it the audit ballot cast that the round is due, if any.

    Once the answer is there the ballot has the council's grace left, then it is given up. A ballot
    that fails, is late or does not fit leaves no trace; a spoiled one is kept and not asked again.
    """
    audit = _to_cast(sitting.round_, draw)
    if audit is None:
        await writing
        return
    with unwrap_first_error():
        async with asyncio.TaskGroup() as group:
            # In this order, so that a gateway that takes turns serves the answer first.
            answer = group.create_task(writing)
            ballot = group.create_task(_cast_audit(sitting, draw, audit))
            await asyncio.wait({answer, ballot}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({ballot}, timeout=sitting.council.audit_grace_seconds)
            await _settle(sitting, ballot)


def _to_cast(round_: Round, draw: Draw) -> Audit | None:
    held = any(not ballot.counts for ballot in round_.ballots)
    if held or any(spoiled.is_audit for spoiled in round_.spoiled):
        return None
    return due_audit(round_, draw)


async def _settle(
    sitting: RoundSession, ballot: asyncio.Task[Ballot | SpoiledBallot | None]
) -> None:
    """Save what was voted; who has not voted by now is given up."""
    if not ballot.done():
        ballot.cancel()
    elif voted := ballot.result():
        await sitting.save(voted)


async def _cast_audit(
    sitting: RoundSession, draw: Draw, audit: Audit
) -> Ballot | SpoiledBallot | None:
    """Ask the judge once more, exactly as when its first ballot counted but for the audit."""
    round_ = sitting.round_
    booth = BallotRequest(
        round_, audit.slate, audit.nonce, blind_answers(round_, draw), audit.authors
    )
    faults = [spoiled.fault for spoiled in round_.spoiled if spoiled.judge == booth.judge.key]
    fault = faults[-1] if faults else None
    lengths = _audit_lengths(sitting, audit, booth, fault)
    if not lengths:
        return None
    call = booth.call(lengths[0], fault)
    deadline = sitting.deadline(round_.panel.terms.ballot_seconds)
    try:
        reply = await sitting.ask(call, Role.BALLOT, deadline)
    except ContextOverflowError:
        return None
    if isinstance(reply, Absence):
        return None
    return audit.cast(BallotExchange(audit.nonce, call.prompt, reply, AUDIT_ATTEMPT, lengths[0]))


def _audit_lengths(
    sitting: RoundSession, audit: Audit, booth: BallotRequest, fault: str | None
) -> tuple[int | None, ...]:
    """Give the length the first ballot was cast at; one answer more may need a shorter, or none."""
    length = audit.first.paper.cut_to if audit.first.paper else None
    if audit.kind != OWN or length is not None:
        return (length,)
    return booth.lengths(sitting.council.gateway.context_tokens(booth.judge.key), fault)
