"""Last stage of a round: the chairman's answer, and the audit ballot beside it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module

from council.answers import Absence, Answer, Call, LateReply, Prompt, Reply, Role
from council.ballots import AUDIT_ATTEMPT, Ballot, BallotExchange, SpoiledBallot
from council.errors import ContextOverflowError
from council.labels import Label
from council.methods import method_of
from council.pipeline.session import (
    Asked,
    Deadline,
    RoundServices,
    RoundSession,
    unwrap_first_error,
)
from council.pipeline.stages import (
    TOO_LONG,
    BallotRequest,
    blind_answers,
    candidate_lengths,
    images_for,
    text_budget,
    truncate_all,
)
from council.prompts.answer import Reader
from council.prompts.shared import nonce_for
from council.prompts.synthesis import (
    JudgesReport,
    anonymize_reasons,
    chair_prompt,
    corrected_prompt,
    decided_prompt,
    parse_chair_reply,
)
from council.round_rules import OWN, Audit, due_audit
from council.rounds import Choice, Closing, Draw, Fallback, Round, Synthesis, winning_answer
from council.tally import Tally

SYNTHESIS_REPLY_TOKENS = 1_000  # reserved in a chairman's context for its answer
WROTE_NOTHING = "wrote no answer"
DOES_NOT_FIT = "wrote twice what does not fit the schema: {fault}"


@dataclass(frozen=True, slots=True)
class Brief:
    """What a chairman writes from; `choices` are what a person decided, if anybody did."""

    draw: Draw
    tally: Tally
    choices: tuple[Choice, ...] = ()


async def synthesize(session: RoundSession, draw: Draw, tally: Tally) -> Synthesis:
    """Return the synthesis of the first chairman that writes one, else the winning answer."""
    panel = session.round_.panel
    # What demo models write from answers is worse than the answers; only a schema needs it.
    is_demonstration = any(seat.demonstration for seat in panel.members)
    is_demonstration &= not session.round_.question.answer_schema
    written = None if is_demonstration else await _ask_chairmen(session, Brief(draw, tally))
    if written:
        return written
    answer = winning_answer(session.round_, draw, tally)
    if is_demonstration:
        answer = _answer_of_largest(session.round_, draw, tally) or answer
    label = draw.labels.label_of(answer.member)
    fallback = Fallback.DEMONSTRATION if is_demonstration else Fallback.ANSWER
    return Synthesis(answer.text, None, fallback, (label,) if label else ())


async def synthesize_decided(
    round_: Round, choices: tuple[Choice, ...], services: RoundServices
) -> Synthesis | None:
    """Return the answer to a closed round with these choices as given; None if nobody writes it.

    The chairmen are asked in their order, also those that failed when the round ran.
    """
    if round_.draw is None or round_.tally is None:
        return None
    session = RoundSession(services, replace(round_, absences=()))
    return await _ask_chairmen(session, Brief(round_.draw, round_.tally, choices))


def _answer_of_largest(round_: Round, draw: Draw, tally: Tally) -> Answer | None:
    """Return the answer of the chairman, the largest demo model, unless another alone is first."""
    first = {draw.labels.author_of(line.label) for line in tally.standings if line.place == 1}
    chairman = round_.panel.chair_order[0].key
    answers = (answer for answer in round_.revised if answer.member == chairman)
    return next(answers, None) if chairman in first or not first else None


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


async def _ask_chairmen(session: RoundSession, brief: Brief) -> Synthesis | None:
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
                call = _ask_chairman(session, asked, brief)
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
                    is_first = written.chairman == session.round_.panel.chair_order[0].key
                    return written if is_first else replace(written, fallback=Fallback.CHAIRMAN)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    return None


async def _ask_chairman(session: RoundSession, asked: ChairmanAsked, brief: Brief) -> None:
    written = await _request_synthesis(session, asked, brief)
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
    session: RoundSession, asked: ChairmanAsked, brief: Brief
) -> Synthesis | Absence:
    round_, chairman = session.round_, asked.member

    def on_text(text: str) -> None:
        asked.on_text(session, text)

    deadline = session.deadline(round_.panel.terms.synthesis_seconds)
    texts = await blind_answers(session, brief.draw)
    reader = await session.reader(chairman)
    frame = _chair_prompt(round_, reader, dict.fromkeys(texts, ""), brief)
    budget = text_budget(reader.context_tokens, frame, SYNTHESIS_REPLY_TOKENS)
    for length in candidate_lengths(tuple(texts.values()), budget):
        prompt = _chair_prompt(round_, reader, truncate_all(texts, length), brief)
        temperature = round_.panel.terms.synthesis_temperature
        images = images_for(round_, reader)
        call = Call(chairman, prompt, temperature, Role.SYNTHESIS, on_text=on_text, images=images)
        try:
            return await _call_chairman(session, call, deadline, brief.draw.labels.labels)
        except ContextOverflowError:
            continue
    return Absence(chairman.key, Role.SYNTHESIS, TOO_LONG)


async def _call_chairman(
    session: RoundSession, call: Call, deadline: Deadline, labels: Sequence[Label]
) -> Synthesis | Absence:
    """Return what a chairman wrote; one whose answer fits no schema that was set is asked twice."""
    chairman = call.member.key
    earlier: Reply | None = None
    while True:
        reply = await session.ask(call, deadline)
        if isinstance(reply, Absence):
            return reply
        parsed = parse_chair_reply(reply.text, labels)
        if not parsed.text:
            return Absence(chairman, Role.SYNTHESIS, WROTE_NOTHING)
        parsed, fault = await _check_form(session, parsed)
        reply = reply.after(earlier) if earlier else reply
        if not fault:
            return replace(parsed, chairman=chairman, prompt=call.prompt, reply=reply)
        if earlier:  # it was paid for, so it is kept
            await session.save(LateReply(chairman, Role.SYNTHESIS, call.prompt, reply))
            return Absence(chairman, Role.SYNTHESIS, DOES_NOT_FIT.format(fault=fault))
        earlier, call = reply, replace(call, prompt=corrected_prompt(call.prompt, fault))


async def _check_form(session: RoundSession, written: Synthesis) -> tuple[Synthesis, str]:
    """Return an answer as the bare JSON that was asked for, with why it does not fit, if so."""
    schema = session.round_.question.answer_schema
    if not schema:
        return written, ""
    forms = import_module("council.structured_output")  # takes a moment, and few need it
    fault = await session.services.in_thread(forms.find_answer_fault, written.text, schema)
    return replace(written, text=forms.unfenced(written.text)), fault


def _chair_prompt(
    round_: Round, reader: Reader, texts: Mapping[Label, str], brief: Brief
) -> Prompt:
    counted = [ballot for ballot in round_.ballots if ballot.counts]
    reasons = anonymize_reasons(counted, [seat.family for seat in round_.panel.judges])
    # Labels are drawn at random, so their alphabetical order reveals nothing about the authors.
    in_order = {label: texts[label] for label in sorted(texts)}
    prompt = chair_prompt(
        round_.question,
        in_order,
        JudgesReport(brief.tally.standings, reasons, method_of(round_).is_blind),
        nonce_for(round_.seed, "chairman"),
        reader,
        round_.panel.terms.synthesis_tokens,
    )
    return decided_prompt(prompt, brief.choices) if brief.choices else prompt


# --- Audit ballot, cast while the synthesis is written


async def write_and_audit(
    session: RoundSession, draw: Draw, tally: Tally, *, is_last: bool = False
) -> None:
    """Save the synthesis and, concurrently, cast the audit ballot if one is due.

    If that `is_last` and no ballot is due, save the closing of the round with it, unreported.

    Once the answer is written, the ballot has the services' grace period left. A ballot that
    fails, is late or does not fit is dropped; a spoiled one is saved and not retried.
    """
    was_cast = any(not ballot.counts for ballot in session.round_.ballots)
    was_spoiled = any(spoiled.is_audit for spoiled in session.round_.spoiled)
    audit = None if was_cast or was_spoiled else due_audit(session.round_, draw)
    if audit is None:
        await _write(session, draw, tally, is_last=is_last)
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


async def _write(session: RoundSession, draw: Draw, tally: Tally, *, is_last: bool = False) -> None:
    synthesis = await synthesize(session, draw, tally)
    closing = [Closing(session.seconds, None)] if is_last else []
    # Who hears of the closing may rely on the round being over, so `run_round` reports it.
    await session.save(synthesis, *closing, reported=not is_last)


async def _request_audit_ballot(
    session: RoundSession, draw: Draw, audit: Audit
) -> Ballot | SpoiledBallot | None:
    """Ask the judge once more, exactly as for its counted ballot except for the audit."""
    round_ = session.round_
    texts = await blind_answers(session, draw)
    judge = round_.panel.seat(audit.slate.judge)
    reader = await session.reader(judge)
    request = BallotRequest(round_, audit.slate, audit.nonce, texts, audit.authors, reader)
    faults = [spoiled.fault for spoiled in round_.spoiled if spoiled.judge == request.judge.key]
    fault = faults[-1] if faults else None
    length = audit.first.paper.cut_to if audit.first.paper else None
    if audit.kind == OWN and length is None:
        # The additional answer may need shorter ones.
        lengths = request.lengths(fault)
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
