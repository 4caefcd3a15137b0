"""The stage in which a chairman writes the council's one answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from council.answers import Absence, Role
from council.calls import Call, Prompt, Reply
from council.errors import ContextOverflowError
from council.labels import Label
from council.panel import Member
from council.prompts.chairing import Heard, blind_reasons, chair_prompt, read_chair_reply
from council.prompts.fences import nonce_for
from council.prompts.lengths import estimated_tokens
from council.rounds import Draw, Fallback, Round, Synthesis
from council.sitting import Sitting
from council.stages.candidates import at_length, candidates, lengths_to_try
from council.tally import Tally
from council.winners import winning_answer

SYNTHESIS_TOKENS = 1_000  # what stays free in a chairman's context for its answer
TOO_LONG = "could not take the answers in its context, even shortened"
EMPTY = "wrote no answer"


async def synthesize(sitting: Sitting, draw: Draw, tally: Tally) -> Synthesis:
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
    sitting: Sitting, chairman: Member, draw: Draw, tally: Tally
) -> Synthesis | Absence:
    round_ = sitting.round_
    deadline = sitting.deadline(round_.panel.terms.synthesis_seconds)
    texts = candidates(round_, draw)
    context = sitting.council.gateway.context_tokens(chairman.key)
    frame = _prompt(round_, chairman, dict.fromkeys(texts, ""), tally)
    for length in _lengths(texts, frame, context):
        prompt = _prompt(round_, chairman, at_length(texts, length), tally)
        temperature = round_.panel.terms.synthesis_temperature
        call = Call(chairman, prompt, temperature, on_text=sitting.council.on_text)
        try:
            reply = await sitting.ask(call, Role.SYNTHESIS, deadline)
        except ContextOverflowError:
            continue
        if isinstance(reply, Absence):
            return reply
        return _synthesis(chairman, prompt, reply, draw.labels.labels)
    return Absence(chairman.key, Role.SYNTHESIS, TOO_LONG)


def _prompt(round_: Round, chairman: Member, texts: Mapping[Label, str], tally: Tally) -> Prompt:
    counted = [ballot for ballot in round_.ballots if ballot.counts]
    reasons = blind_reasons(counted, [seat.family for seat in round_.panel.judges])
    # Labels are drawn at random, so their alphabetical order says nothing of who is who.
    in_order = {label: texts[label] for label in sorted(texts)}
    return chair_prompt(
        round_.question,
        in_order,
        Heard(tally.standings, reasons),
        nonce_for(round_.seed, "chairman"),
        plain=chairman.demonstration,
    )


def _lengths(
    texts: Mapping[Label, str], frame: Prompt, context: int | None
) -> tuple[int | None, ...]:
    taken = SYNTHESIS_TOKENS + estimated_tokens(frame.system + frame.user)
    return lengths_to_try(tuple(texts.values()), None if context is None else context - taken)


def _synthesis(
    chairman: Member, prompt: Prompt, reply: Reply, labels: Sequence[Label]
) -> Synthesis | Absence:
    read = read_chair_reply(reply.text, labels)
    if not read.text:
        return Absence(chairman.key, Role.SYNTHESIS, EMPTY)
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
