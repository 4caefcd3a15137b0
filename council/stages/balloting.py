"""The stage in which every judge ranks its slate, blind."""

from collections.abc import Mapping
from dataclasses import dataclass

from council.answers import Absence, Role
from council.ballots import Ballot, Paper, SpoiledBallot, cast
from council.calls import Call, Prompt
from council.errors import ContextOverflowError
from council.labels import Label
from council.prompts.fences import nonce_for
from council.prompts.judging import ballot_schema, judge_prompt
from council.prompts.lengths import estimated_tokens
from council.rounds import Draw, Round
from council.sitting import Deadline, Sitting, together
from council.slates import Slate
from council.stages.candidates import at_length, candidates, lengths_to_try

ATTEMPTS = 2  # a spoiled ballot is asked again once
BALLOT_TOKENS = 600  # what stays free in a judge's context for its reply
TOO_LONG = "could not take the answers in its context, even shortened"


async def gather_ballots(sitting: Sitting, draw: Draw) -> None:
    """Ask every judge that has not voted, spoiled twice or been found absent; all at once."""
    deadline = Deadline.after(sitting.round_.panel.terms.ballot_seconds)
    texts = candidates(sitting.round_, draw)
    booths = [_Booth(sitting.round_, slate, texts) for slate in draw.slates]
    await together(
        _vote(sitting, booth, deadline)
        for booth in booths
        if not _settled(sitting.round_, booth.slate.judge)
    )


def _settled(round_: Round, judge: str) -> bool:
    voted = any(ballot.judge == judge for ballot in round_.ballots)
    return voted or round_.absence(judge, Role.BALLOT) is not None


@dataclass(frozen=True, slots=True)
class _Booth:
    """A judge's slate with what may be read in it."""

    round_: Round
    slate: Slate
    texts: Mapping[Label, str]

    @property
    def nonce(self) -> str:
        return nonce_for(self.round_.seed, self.slate.judge)

    @property
    def by_letter(self) -> dict[str, str]:
        pairs = zip(self.slate.letters, self.slate.shown, strict=True)
        return {letter: self.texts[label] for letter, label in pairs}

    def prompt(self, texts: Mapping[str, str], fault: str | None) -> Prompt:
        return judge_prompt(
            self.round_.question, self.round_.panel.rubric, texts, self.nonce, fault
        )

    def lengths(self, context: int | None, fault: str | None) -> tuple[int | None, ...]:
        """Give the lengths to show the answers at, in a context of so many tokens."""
        frame = self.prompt(dict.fromkeys(self.by_letter, ""), fault)
        taken = BALLOT_TOKENS + estimated_tokens(frame.system + frame.user)
        budget = None if context is None else context - taken
        return lengths_to_try(tuple(self.by_letter.values()), budget)


async def _vote(sitting: Sitting, booth: _Booth, deadline: Deadline) -> None:
    spoiled = [s for s in sitting.round_.spoiled if s.judge == booth.slate.judge]
    while len(spoiled) < ATTEMPTS:
        voted = await _cast(sitting, booth, deadline, tuple(spoiled))
        await sitting.save(voted)
        if not isinstance(voted, SpoiledBallot):
            return
        spoiled.append(voted)


async def _cast(
    sitting: Sitting, booth: _Booth, deadline: Deadline, before: tuple[SpoiledBallot, ...]
) -> Ballot | SpoiledBallot | Absence:
    judge = booth.round_.panel.seat(booth.slate.judge)
    fault = before[-1].fault if before else None
    schema = ballot_schema(booth.slate.letters, booth.nonce)
    context = sitting.council.gateway.context_tokens(judge.key)
    for length in booth.lengths(context, fault):
        prompt = booth.prompt(at_length(booth.by_letter, length), fault)
        call = Call(judge, prompt, booth.round_.panel.terms.ballot_temperature, schema)
        try:
            reply = await sitting.ask(call, Role.BALLOT, deadline)
        except ContextOverflowError:
            continue
        if isinstance(reply, Absence):
            return reply
        paper = Paper(booth.nonce, prompt, reply, len(before) + 1, length)
        return cast(booth.slate, booth.nonce, paper)
    return Absence(judge.key, Role.BALLOT, TOO_LONG)
