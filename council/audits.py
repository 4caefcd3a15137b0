"""Audit ballots: which rounds carry one, who casts it, and what that judge is shown.

An audit ballot is cast only to measure bias and never counted. All of this follows from the seed,
the panel and the draw, so that convening and verifying cannot disagree.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from council.ballots import Ballot, Paper, SpoiledBallot, cast
from council.draws import fraction, shuffled
from council.prompts.fences import nonce_for
from council.rounds import Draw, Round
from council.slates import Slate


def _reversed(slate: Slate) -> Slate:
    return Slate(slate.judge, slate.shown[::-1])


# Each kind by what it makes of the slate its judge was shown first.
KINDS: Mapping[str, Callable[[Slate], Slate]] = {"order": _reversed}


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit ballot that a round is due: `first` is the counted ballot it is compared with."""

    kind: str
    first: Ballot
    slate: Slate
    nonce: str

    def cast(self, paper: Paper) -> Ballot | SpoiledBallot:
        """Give the ballot the paper's reply holds, or a spoiled one; neither is ever counted."""
        return cast(self.slate, self.nonce, paper, self.kind)


def due_audit(round_: Round, draw: Draw) -> Audit | None:
    """Give the audit ballot a voted round is due, whether it was cast yet or not.

    None for the rounds the seed leaves out, which at a share of 0 are all. None too where the
    judge drawn has no ballot that counts: no other takes its place, or the choice would hang on
    who voted well.
    """
    if fraction(round_.seed, "audit") >= round_.panel.terms.audit_share or not draw.slates:
        return None
    kind = shuffled(KINDS, round_.seed, "audit kind")[0]
    slates = {slate.judge: slate for slate in draw.slates}
    judge = shuffled(slates, round_.seed, "audit judge")[0]
    counted = [ballot for ballot in round_.ballots if ballot.judge == judge and ballot.counts]
    if not counted:
        return None
    return Audit(kind, counted[0], KINDS[kind](slates[judge]), nonce_for(round_.seed, judge, kind))
