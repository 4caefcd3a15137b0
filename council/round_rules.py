"""Rules that derive a round's draw, tally and audit ballot from its seed, panel and ballots."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from council.anonymize.scrub import mask_names
from council.answers import Role
from council.ballots import (
    CANARY_NOT_LAST,
    Ballot,
    BallotExchange,
    SpoiledBallot,
    cast_ballot,
)
from council.errors import PanelError
from council.filters import find_filters
from council.labels import Label, Slate, draw_labels, reverse_slates
from council.methods import BLIND_RANKING, method_of
from council.panel import Panel
from council.prompt_injection import follows_instruction
from council.prompts.shared import nonce_for
from council.randomness import random_fraction, shuffle
from council.rounds import Draw, Round, ballot_version
from council.tally import Flag, FlagKind, Standing, Tally, standings
from council.tally.borda import counted_ballots
from council.tally.chance_rule import ChanceRule

# Kinds of audit: reversed order, the judge's own answer included, authors named.
ORDER, OWN, NAMED = "order", "own", "named"
BAKEOFF_AUDIT_SHARE = 0.2  # of a bake-off's rounds, unless the panel says otherwise
# A round keeps the policy under which it was opened, so a new policy changes no stored round.
AUDIT_POLICY = "2"
POLICIES: Mapping[str, tuple[str, ...]] = {"1": (ORDER,), "2": (OWN, ORDER, NAMED)}


def compute_draw(round_: Round) -> Draw:
    """Return the labels and slates that follow from the seed and the absences."""
    authors = [
        seat.key for seat in round_.panel.members if not round_.absence(seat.key, Role.ANSWER)
    ]
    labels = draw_labels(authors, round_.seed)
    method = method_of(round_)
    judges = dict.fromkeys(seat.key for seat in method.judges(round_.panel))
    onlookers = [judge for judge in judges if judge not in authors]
    slates = method.draw_slates(labels, onlookers, round_.seed)
    if ChanceRule.of(dict(round_.versions)).reverses_outside:
        slates = reverse_slates(slates, {seat.key for seat in round_.panel.outside_judges})
    return Draw(labels, tuple(slate for slate in slates if slate.judge in judges))


def compute_tally(round_: Round, draw: Draw) -> Tally:
    """Return the tally of the round's ballots, without N_eff, which needs other rounds."""
    rule = ChanceRule.of(dict(round_.versions))
    method = method_of(round_)
    ballots = method.ballots(round_, draw)
    tally = method.tally(round_, draw, ballots, rule, official_weights(round_))
    flags = dict.fromkeys((*tally.verdict.flags, *_flags(round_, draw)))
    return replace(tally, verdict=replace(tally.verdict, flags=tuple(flags)))


CONSISTENCY = "consistency"  # the entry of a round's versions that holds the weights


def consistency_weights(round_: Round) -> dict[str, float] | None:
    """Return the weights of judges by earlier repeats, which the round has stored since it opened.

    None if it has none, or if a judge whose ballot counts is not among them, such as a stand-in.
    """
    try:
        stored = json.loads(dict(round_.versions).get(CONSISTENCY, "{}"))
        weights = {str(judge): float(weight) for judge, weight in stored.items()}
    except (AttributeError, TypeError, ValueError):
        return None  # it comes from elsewhere
    voted = {ballot.judge for ballot in counted_ballots(round_.ballots)}
    usable = voted and voted <= weights.keys() and all(0 < weights[judge] < inf for judge in voted)
    return weights if usable else None


def official_weights(round_: Round) -> dict[str, float] | None:
    """Return the weights of judges in the official count; None if all count alike."""
    return consistency_weights(round_) if method_of(round_).is_weighted else None


def weighted_standings(round_: Round) -> tuple[Standing, ...]:
    """Return the standings by judges weighted by consistency.

    () if they have no weights, or under a method that this program lacks or that counts otherwise.
    """
    weights = consistency_weights(round_)
    if not weights or not round_.draw or not round_.tally:
        return ()
    try:
        method = method_of(round_)
    except PanelError:
        return ()
    if method.tally != BLIND_RANKING.tally:
        return ()
    ballots = method.ballots(round_, round_.draw)
    return standings(round_.draw.labels.labels, ballots, weights)


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit ballot to be cast; `first` is the counted one, `authors` are shown names."""

    kind: str
    first: Ballot
    slate: Slate
    nonce: str
    authors: Mapping[Label, str]
    version: str  # of the rules by which ballots are read

    def cast(self, paper: BallotExchange) -> Ballot | SpoiledBallot:
        """Return the ballot parsed from the reply, or a spoiled one; neither is ever counted."""
        return cast_ballot(self.slate, self.nonce, paper, self.kind, self.version)


def due_audit(round_: Round, draw: Draw) -> Audit | None:
    """Return the audit of a round whose ballots are in, whether it was cast already or not.

    None if the seed does not select the round (a share of 0 selects none), or if the selected
    judge has no counted ballot or, for kind "own", no answer. No other judge takes its place:
    the selection must not depend on how judges voted. Other methods than the default have none,
    nor have rounds with a canary.
    """
    if method_of(round_) is not BLIND_RANKING:
        return None
    share = round_.panel.terms.audit_share
    if share is None:
        share = BAKEOFF_AUDIT_SHARE if round_.bakeoff else 0.0
    if random_fraction(round_.seed, "audit") >= share or not draw.slates:
        return None
    # Rounds from before policies existed are under policy 1.
    policy = dict(round_.versions).get("audits", "1")
    kinds = POLICIES.get(policy, POLICIES[AUDIT_POLICY])
    kind = shuffle(kinds, round_.seed, "audit kind")[0]
    slates = {slate.judge: slate for slate in draw.slates if slate.pass_number == 1}
    judge = shuffle(slates, round_.seed, "audit judge")[0]
    slate = _audit_slate(kind, slates[judge], draw, round_.seed)
    ballots = [ballot for ballot in round_.ballots if ballot.voter == judge and ballot.counts]
    if slate is None or not ballots:
        return None
    names = ((label, round_.panel.seat(key).display) for key, label in draw.labels.pairs)
    authors = dict(names) if kind == NAMED else {}
    nonce = nonce_for(round_.seed, judge, kind)
    return Audit(kind, ballots[0], slate, nonce, authors, ballot_version(round_))


def _audit_slate(kind: str, slate: Slate, draw: Draw, seed: str) -> Slate | None:
    """Return the slate shown in an audit; None if the judge lacks an own answer to include."""
    if kind == ORDER:
        return Slate(slate.judge, slate.shown[::-1])
    if kind == NAMED:
        return slate
    own = draw.labels.label_of(slate.judge)
    if own is None:
        return None
    at = int(random_fraction(seed, "audit own slot") * (len(slate.shown) + 1))
    return Slate(slate.judge, (*slate.shown[:at], own, *slate.shown[at:]))


def _flags(round_: Round, draw: Draw) -> tuple[Flag, ...]:
    """Return what weakens the verdict."""
    voted = {ballot.judge for ballot in round_.ballots if ballot.counts}
    asked = dict.fromkeys(slate.judge for slate in method_of(round_).slates(round_, draw))
    return (
        *_family_majority(round_),
        *(
            Flag(FlagKind.STAND_IN, one.fallback.key, (one.display,))
            for one in round_.panel.replaced
            if one.fallback
        ),
        *(
            Flag(FlagKind.NO_ANSWER, seat.key)
            for seat in round_.panel.members
            if round_.absence(seat.key, Role.ANSWER)
        ),
        *(Flag(FlagKind.NO_BALLOT, judge) for judge in asked if judge not in voted),
        *_kept_drafts(round_),
        *(
            Flag(FlagKind.CANARY_NOT_LAST, ballot.judge)
            for ballot in round_.ballots
            if ballot.canary == CANARY_NOT_LAST
        ),
        *_reason_flags(round_.ballots, round_.panel, ballot_version(round_)),
        *(
            find_filters(round_.registry).flags(round_, draw)
            if round_.panel.terms.text_checks
            else ()
        ),
    )


def _kept_drafts(round_: Round) -> Iterator[Flag]:
    """Yield whose draft was judged where others were revised."""
    pairs = [*zip(round_.answers, round_.revised, strict=True)]
    if any(draft != answer for draft, answer in pairs):
        yield from (
            Flag(FlagKind.DRAFT_KEPT, draft.member) for draft, answer in pairs if draft == answer
        )


def _family_majority(round_: Round) -> tuple[Flag, ...]:
    families = [seat.family for seat in method_of(round_).judges(round_.panel)]
    if not families:
        return ()
    largest = max(families, key=families.count)
    seats = families.count(largest)
    if 2 * seats <= len(families):
        return ()
    name = largest.removeprefix("unknown:")  # an unknown family carries its provider's name
    return (Flag(FlagKind.FAMILY_MAJORITY, detail=(str(seats), str(len(families)), name)),)


def _reason_flags(ballots: Sequence[Ballot], panel: Panel, version: str) -> tuple[Flag, ...]:
    families = [seat.family for seat in panel.judges]
    flags = []
    for ballot in (ballot for ballot in ballots if ballot.counts):
        if names := mask_names(ballot.reason, families).found:
            flags.append(Flag(FlagKind.MODEL_NAMED, ballot.judge, (names[0],)))
        if follows_instruction(ballot.reason, version):
            flags.append(Flag(FlagKind.INSTRUCTION_FOLLOWED, ballot.judge))
    return tuple(flags)
