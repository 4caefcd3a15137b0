"""What follows from a round's seed, panel, absences and ballots."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from council.anonymize.scrub import mask_names
from council.answers import Role
from council.ballots import Ballot, BallotExchange, SpoiledBallot, cast
from council.labels import Label, Slate, draw_labels, draw_slates
from council.panel import Panel
from council.prompt_injection import find_suspicions
from council.prompts.shared import nonce_for
from council.randomness import random_fraction, shuffled
from council.rounds import Draw, Round
from council.tally import Tally, count_ballots

# --- What follows from a round's seed, panel, absences and ballots.


def drawn(round_: Round) -> Draw:
    """Give the labels and slates the seed leads to, once it is known who has not answered."""
    authors = [
        seat.key for seat in round_.panel.members if not round_.absence(seat.key, Role.ANSWER)
    ]
    onlookers = [seat.key for seat in round_.panel.judges if seat.key not in authors]
    labels = draw_labels(authors, round_.seed)
    return Draw(labels, draw_slates(labels, onlookers, round_.seed))


def counted(round_: Round, draw: Draw) -> Tally:
    """Give the tally of the round's ballots; N_eff, which rests on other rounds, is left out."""
    tally = count_ballots(draw.labels.labels, round_.ballots, round_.seed)
    return replace(tally, verdict=replace(tally.verdict, flags=_flags(round_, draw)))


def _flags(round_: Round, draw: Draw) -> tuple[str, ...]:
    """Name what weakens the verdict; a flag about a seat begins with the seat's key."""
    voted = {ballot.judge for ballot in round_.ballots if ballot.counts}
    return (
        *_family_majority(round_.panel),
        *(f"{a.member} did not answer" for a in round_.absences if a.role is Role.ANSWER),
        *(
            f"{slate.judge} has no ballot that counts"
            for slate in draw.slates
            if slate.judge not in voted
        ),
        *_reason_flags(round_.ballots, round_.panel),
    )


def _family_majority(panel: Panel) -> tuple[str, ...]:
    families = [seat.family for seat in panel.judges]
    most = max(families, key=families.count)
    seats = families.count(most)
    if 2 * seats <= len(families):
        return ()
    name = most.removeprefix("unknown:")  # then it is named by who serves it
    return (f"{seats} of {len(families)} seats are of the {name} family",)


def _reason_flags(ballots: Sequence[Ballot], panel: Panel) -> tuple[str, ...]:
    families = [seat.family for seat in panel.judges]
    found = []
    for ballot in (ballot for ballot in ballots if ballot.counts):
        if names := mask_names(ballot.reason, families).found:
            found.append(f"{ballot.judge} named {names[0]} in its reason")
        if "begs for a place" in find_suspicions(ballot.reason):
            found.append(f"{ballot.judge} may have followed an instruction in an answer")
    return tuple(found)


# --- Audit ballots: which rounds carry one, who casts it, and what that judge is shown.

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

    def cast(self, paper: BallotExchange) -> Ballot | SpoiledBallot:
        """Give the ballot the paper's reply holds, or a spoiled one; neither is ever counted."""
        return cast(self.slate, self.nonce, paper, self.kind)


def audit_kinds(round_: Round) -> tuple[str, ...]:
    """Give the kinds a round chooses from: of a round that names no policy, the first one's."""
    return POLICIES.get(dict(round_.versions).get("audits", "1"), POLICIES[POLICY])


def due_audit(round_: Round, draw: Draw) -> Audit | None:
    """Give the audit ballot a voted round is due, whether it was cast yet or not.

    None for the rounds the seed leaves out, which at a share of 0 are all. None too where the
    judge drawn has no ballot that counts, or should see an answer of its own and gave none: no
    other takes its place, or the choice would hang on who voted well.
    """
    if random_fraction(round_.seed, "audit") >= round_.panel.terms.audit_share or not draw.slates:
        return None
    kind = shuffled(audit_kinds(round_), round_.seed, "audit kind")[0]
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
    at = int(random_fraction(seed, "audit own slot") * (len(slate.shown) + 1))
    return Slate(slate.judge, (*slate.shown[:at], own, *slate.shown[at:]))


# Each kind by what it makes of the slate its judge was shown first.
_SHOWN: Mapping[str, Callable[[Slate, Draw, str], Slate | None]] = {
    ORDER: _reversed,
    OWN: _with_own,
    NAMED: _as_before,
}
