"""Audit ballots: which rounds carry one, who casts it, and what that judge is shown.

An audit ballot is cast only to measure bias and never counted. All of this follows from the seed,
the panel, the draw and the audit policy the round was opened under, so that convening and
verifying cannot disagree.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from council.ballots import Ballot, Paper, SpoiledBallot, cast
from council.draws import fraction, shuffled
from council.labels import Label
from council.prompts.fences import nonce_for
from council.rounds import Draw, Round
from council.slates import Slate

ORDER, OWN, NAMED = "order", "own", "named"
# A round keeps the policy it was opened under: whatever is added later, its choice stays its own.
POLICY = "2"
POLICIES: Mapping[str, tuple[str, ...]] = {"1": (ORDER,), "2": (OWN, ORDER, NAMED)}


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit ballot that a round is due: `first` is the counted ballot it is compared with.

    `authors` are the names that are shown beside the answers, in an audit of names alone.
    """

    kind: str
    first: Ballot
    slate: Slate
    nonce: str
    authors: Mapping[Label, str]

    def cast(self, paper: Paper) -> Ballot | SpoiledBallot:
        """Give the ballot the paper's reply holds, or a spoiled one; neither is ever counted."""
        return cast(self.slate, self.nonce, paper, self.kind)


def kinds_of(round_: Round) -> tuple[str, ...]:
    """Give the kinds a round chooses from: of a round that names no policy, the first one's."""
    return POLICIES.get(dict(round_.versions).get("audits", "1"), POLICIES[POLICY])


def due_audit(round_: Round, draw: Draw) -> Audit | None:
    """Give the audit ballot a voted round is due, whether it was cast yet or not.

    None for the rounds the seed leaves out, which at a share of 0 are all. None too where the
    judge drawn has no ballot that counts, or should see an answer of its own and gave none: no
    other takes its place, or the choice would hang on who voted well.
    """
    if fraction(round_.seed, "audit") >= round_.panel.terms.audit_share or not draw.slates:
        return None
    kind = shuffled(kinds_of(round_), round_.seed, "audit kind")[0]
    slates = {slate.judge: slate for slate in draw.slates}
    judge = shuffled(slates, round_.seed, "audit judge")[0]
    slate = _SHOWN[kind](slates[judge], draw, round_.seed)
    counted = [ballot for ballot in round_.ballots if ballot.judge == judge and ballot.counts]
    if slate is None or not counted:
        return None
    nonce, names = nonce_for(round_.seed, judge, kind), _authors(round_, draw)
    return Audit(kind, counted[0], slate, nonce, names if kind == NAMED else {})


def _authors(round_: Round, draw: Draw) -> dict[Label, str]:
    return {label: round_.panel.seat(author).display for author, label in draw.labels.pairs}


def _reversed(slate: Slate, _: Draw, __: str) -> Slate:
    return Slate(slate.judge, slate.shown[::-1])


def _as_before(slate: Slate, _: Draw, __: str) -> Slate:
    return slate


def _with_own(slate: Slate, draw: Draw, seed: str) -> Slate | None:
    """Put the judge's own answer at a place drawn from the seed; None where there is none."""
    own = draw.labels.label_of(slate.judge)
    if own is None:
        return None
    at = int(fraction(seed, "audit own slot") * (len(slate.shown) + 1))
    return Slate(slate.judge, (*slate.shown[:at], own, *slate.shown[at:]))


# Each kind by what it makes of the slate its judge was shown first.
_SHOWN: Mapping[str, Callable[[Slate, Draw, str], Slate | None]] = {
    ORDER: _reversed,
    OWN: _with_own,
    NAMED: _as_before,
}
