"""The stage in which every judge ranks its slate, blind."""

from council.answers import Absence, Role
from council.ballots import Ballot, Paper, SpoiledBallot, cast
from council.errors import ContextOverflowError
from council.prompts.fences import nonce_for
from council.rounds import Draw, Round
from council.sitting import Deadline, Sitting, together
from council.stages.booths import Booth
from council.stages.candidates import candidates

ATTEMPTS = 2  # a spoiled ballot is asked again once
TOO_LONG = "could not take the answers in its context, even shortened"


async def gather_ballots(sitting: Sitting, draw: Draw) -> None:
    """Ask every judge that has not voted, spoiled twice or been found absent; all at once."""
    deadline = sitting.deadline(sitting.round_.panel.terms.ballot_seconds)
    texts = candidates(sitting.round_, draw)
    seed = sitting.round_.seed
    booths = [
        Booth(sitting.round_, slate, nonce_for(seed, slate.judge), texts) for slate in draw.slates
    ]
    await together(
        _vote(sitting, booth, deadline)
        for booth in booths
        if not _settled(sitting.round_, booth.slate.judge)
    )


def _settled(round_: Round, judge: str) -> bool:
    voted = any(ballot.judge == judge and ballot.counts for ballot in round_.ballots)
    return voted or round_.absence(judge, Role.BALLOT) is not None


async def _vote(sitting: Sitting, booth: Booth, deadline: Deadline) -> None:
    spoiled = [s for s in sitting.round_.spoiled if s.judge == booth.slate.judge]
    while len(spoiled) < ATTEMPTS:
        voted = await _cast(sitting, booth, deadline, tuple(spoiled))
        await sitting.save(voted)
        if not isinstance(voted, SpoiledBallot):
            return
        spoiled.append(voted)


async def _cast(
    sitting: Sitting, booth: Booth, deadline: Deadline, before: tuple[SpoiledBallot, ...]
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
        paper = Paper(booth.nonce, call.prompt, reply, len(before) + 1, length)
        return cast(booth.slate, booth.nonce, paper)
    return Absence(booth.judge.key, Role.BALLOT, TOO_LONG)
