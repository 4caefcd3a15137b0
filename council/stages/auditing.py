"""The audit ballot, cast beside the writing of the answer and never waited for long."""

import asyncio
from collections.abc import Coroutine

from council.answers import Absence, Role
from council.audits import OWN, Audit, due_audit
from council.ballots import AUDIT_ATTEMPT, Ballot, Paper, SpoiledBallot
from council.errors import ContextOverflowError
from council.rounds import Draw, Round
from council.sitting import Sitting, first_error
from council.stages.booths import Booth
from council.stages.candidates import candidates

Writing = Coroutine[None, None, None]


async def with_audit(sitting: Sitting, draw: Draw, writing: Writing) -> None:
    """Have the answer written, and beside it the audit ballot cast that the round is due, if any.

    Once the answer is there the ballot has the council's grace left, then it is given up. A ballot
    that fails, is late or does not fit leaves no trace; a spoiled one is kept and not asked again.
    """
    audit = _to_cast(sitting.round_, draw)
    if audit is None:
        await writing
        return
    with first_error():
        async with asyncio.TaskGroup() as group:
            # In this order, so that a gateway that takes turns serves the answer first.
            answer = group.create_task(writing)
            ballot = group.create_task(_cast(sitting, draw, audit))
            await asyncio.wait({answer, ballot}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({ballot}, timeout=sitting.council.audit_grace_seconds)
            await _settle(sitting, ballot)


def _to_cast(round_: Round, draw: Draw) -> Audit | None:
    held = any(not ballot.counts for ballot in round_.ballots)
    if held or any(spoiled.is_audit for spoiled in round_.spoiled):
        return None
    return due_audit(round_, draw)


async def _settle(sitting: Sitting, ballot: asyncio.Task[Ballot | SpoiledBallot | None]) -> None:
    """Save what was voted; who has not voted by now is given up."""
    if not ballot.done():
        ballot.cancel()
    elif voted := ballot.result():
        await sitting.save(voted)


async def _cast(sitting: Sitting, draw: Draw, audit: Audit) -> Ballot | SpoiledBallot | None:
    """Ask the judge once more, exactly as when its first ballot counted but for the audit."""
    round_ = sitting.round_
    booth = Booth(round_, audit.slate, audit.nonce, candidates(round_, draw), audit.authors)
    faults = [spoiled.fault for spoiled in round_.spoiled if spoiled.judge == booth.judge.key]
    fault = faults[-1] if faults else None
    lengths = _lengths(sitting, audit, booth, fault)
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
    return audit.cast(Paper(audit.nonce, call.prompt, reply, AUDIT_ATTEMPT, lengths[0]))


def _lengths(
    sitting: Sitting, audit: Audit, booth: Booth, fault: str | None
) -> tuple[int | None, ...]:
    """Give the length the first ballot was cast at; one answer more may need a shorter, or none."""
    length = audit.first.paper.cut_to if audit.first.paper else None
    if audit.kind != OWN or length is not None:
        return (length,)
    return booth.lengths(sitting.council.gateway.context_tokens(booth.judge.key), fault)
