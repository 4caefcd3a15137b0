"""Verification: recompute a stored round and name what differs; walk a hash chain."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isclose

from council.answers import Exchange
from council.ballots import Ballot, BallotExchange, SpoiledBallot, rank_by_grades
from council.decisions import find_strays
from council.filters import FILTER, find_filters
from council.integrity.erasure import decision_name, exchange_name, unerased_texts
from council.integrity.hash_chain import LINK_VERSION, Link, StoredLink
from council.methods import method_of
from council.prompts.shared import nonce_for
from council.round_rules import Audit, compute_draw, compute_tally, due_audit
from council.rounds import Draw, Round, ballot_version
from council.rubric_grader import GRADE, reread_grade
from council.tally import Tally
from council.tally.borda import TOLERANCE

AnyBallot = Ballot | SpoiledBallot
_Fields = dict[str, object]


@dataclass(frozen=True, slots=True)
class Difference:
    """A field whose stored value differs from the recomputed one; None means absent."""

    field: str
    stored: object
    recomputed: object

    def __str__(self) -> str:
        return f"{self.field}: stored {self.stored}, recomputed {self.recomputed}"


def verify(round_: Round) -> tuple[Difference, ...]:
    """Return the differences in the order of the round's parts; empty for a sound round."""
    unerased = tuple(Difference(name, "kept", "forgotten") for name in unerased_texts(round_))
    unerased += tuple(_stray_choices(round_))
    if round_.draw is None and not is_ranked(round_):
        return unerased
    stored, recomputed = _fields(round_), _fields(recompute(round_))
    return unerased + tuple(
        Difference(name, stored.get(name), recomputed.get(name))
        for name in stored | recomputed
        if not _same(stored.get(name), recomputed.get(name))
    )


def _stray_choices(round_: Round) -> Iterator[Difference]:
    """Yield each decided point and position that is not on the map of the stored answers."""
    for number, decision in enumerate(round_.decisions, start=1):
        for stray in () if round_.forgotten else find_strays(round_, decision):
            yield Difference(f"{decision_name(number)}[{stray.point}]", stray.says, None)


def _fields(round_: Round) -> _Fields:
    """Return every field that can be recomputed, under the name used in reports."""
    fields: _Fields = {}
    if round_.draw:
        fields |= {f"label map[{author}]": label for author, label in round_.draw.labels.pairs}
        for slate in round_.draw.slates:
            name = f"slates[{slate.voter}]"
            fields |= {name: slate.shown, f"{name}.wording": slate.wording}
    for ballot in round_.ballots:
        fields |= _ballot_fields(ballot)
    for spoiled in round_.spoiled:
        which = "audit" if spoiled.is_audit else f"#{spoiled.paper.attempt}"
        name = f"spoiled[{spoiled.voter} {which}]"
        fields |= {f"{name}.fault": spoiled.fault, f"{name}.nonce": spoiled.paper.nonce}
    for exchange in round_.exchanges:
        read = {"scores": exchange.scores, "fault": exchange.fault, "nonce": exchange.nonce}
        fields |= _prefixed(exchange_name(exchange), read)
    if round_.tally:
        for line in round_.tally.standings:
            fields |= _prefixed(f"standings[{line.label}]", asdict(line))
        verdict = asdict(round_.tally.verdict)
        del verdict["n_eff"]
        # Stored in the order of arrival.
        verdict["flags"] = sorted({*map(str, round_.tally.verdict.flags)})
        fields |= _prefixed("verdict", verdict.pop("agreement") | verdict)
    return fields


def _ballot_fields(ballot: Ballot) -> _Fields:
    which = "" if ballot.counts else f" audit {ballot.audit}"
    name = f"ballots[{ballot.voter}{which}]"
    names = ("shown", "ranking", "reason", "audit", "grades", "canary")
    fields = {field: getattr(ballot, field) for field in names}
    return _prefixed(name, fields | {"nonce": ballot.paper.nonce if ballot.paper else None})


def _prefixed(name: str, values: Mapping[str, object]) -> _Fields:
    return {f"{name}.{key}": value for key, value in values.items()}


def _same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, abs_tol=TOLERANCE)
    return one == other


# --- Recomputation of a round


def recompute(round_: Round) -> Round:
    """Return the round with its draw, ballots and tally recomputed from seed, replies and panel."""
    draw = compute_draw(round_)
    recomputed = replace(round_, draw=draw)
    if round_.forgotten:
        recomputed = _with_ballots(recomputed, _check_rankings(round_, draw))
    else:
        recomputed = replace(recomputed, exchanges=tuple(_reread_all(round_)))
        recomputed = _with_ballots(recomputed, _recast(round_, draw))
        if audit := due_audit(recomputed, draw):
            cast: tuple[AnyBallot, ...] = (*recomputed.ballots, *recomputed.spoiled)
            recomputed = _with_ballots(recomputed, [_as_audit(ballot, audit) for ballot in cast])
    return replace(recomputed, tally=_tally(recomputed, draw) if is_ranked(round_) else None)


def _reread_all(round_: Round) -> Iterator[Exchange]:
    """Yield what was asked up to its first usable reply, which ends it."""
    read: set[tuple[str, str, str]] = set()
    for exchange in sorted(round_.exchanges, key=lambda one: one.attempt):
        if exchange.key not in read:
            again = _reread(round_, exchange)
            read |= set() if again.fault else {exchange.key}
            yield again


def _reread(round_: Round, exchange: Exchange) -> Exchange:
    if exchange.kind == FILTER:
        return find_filters(round_.registry).read(round_, exchange)
    return (reread_grade if exchange.kind == GRADE else method_of(round_).read)(round_, exchange)


def _with_ballots(round_: Round, ballots: Iterable[AnyBallot]) -> Round:
    ballots = tuple(ballots)
    return replace(
        round_,
        ballots=tuple(ballot for ballot in ballots if isinstance(ballot, Ballot)),
        spoiled=tuple(ballot for ballot in ballots if isinstance(ballot, SpoiledBallot)),
    )


def _as_audit(ballot: AnyBallot, audit: Audit) -> AnyBallot:
    """Return the audit ballot if this spoiled ballot parses as it, otherwise the ballot itself."""
    if isinstance(ballot, Ballot) or ballot.judge != audit.slate.judge:
        return ballot
    parsed = audit.cast(replace(ballot.paper, nonce=audit.nonce))
    return parsed if isinstance(parsed, Ballot) or ballot.is_audit else ballot


def is_ranked(round_: Round) -> bool:
    """Return whether the round must have a tally, even if it was removed."""
    succeeded = round_.closing is not None and round_.closing.failure is None
    return round_.tally is not None or succeeded


def _recast(round_: Round, draw: Draw) -> Iterator[AnyBallot]:
    """Yield every reply parsed as a counted ballot; an audit spoils, since its nonce differs."""
    method = method_of(round_)
    slates = {slate.voter: slate for slate in method.slates(round_, draw)}
    papers = [(ballot.voter, ballot.paper) for ballot in round_.ballots if ballot.paper]
    papers += [(spoiled.voter, spoiled.paper) for spoiled in round_.spoiled]
    for voter, paper in papers:
        if voter in slates:
            paper = _with_true_nonce(paper, round_, voter)
            yield method.cast(slates[voter], paper.nonce, paper, version=ballot_version(round_))


def _check_rankings(round_: Round, draw: Draw) -> list[AnyBallot]:
    """Return the ballots that rank their slate, and all audits, which are never counted."""
    shown = {slate.voter: slate.shown for slate in method_of(round_).slates(round_, draw)}
    ballots: list[AnyBallot] = []
    for ballot in round_.ballots:
        if not ballot.counts:
            ballots.append(ballot)
        elif ballot.paper and (slate := shown.get(ballot.voter)) and all(ballot.ranking):
            ranked = [label for place in ballot.ranking for label in place]
            if sorted(ranked) == sorted(slate):
                paper = _with_true_nonce(ballot.paper, round_, ballot.voter)
                ranking = rank_by_grades(ballot.grades) or ballot.ranking
                ballots.append(replace(ballot, shown=slate, paper=paper, ranking=ranking))
    ballots += [
        spoiled
        if spoiled.is_audit
        else replace(spoiled, paper=_with_true_nonce(spoiled.paper, round_, spoiled.voter))
        for spoiled in round_.spoiled
        if spoiled.voter in shown
    ]
    return ballots


def _with_true_nonce(paper: BallotExchange, round_: Round, voter: str) -> BallotExchange:
    return replace(paper, nonce=nonce_for(round_.seed, voter))


def _tally(round_: Round, draw: Draw) -> Tally:
    """Return the tally; stored flags that rest on erased reasons are kept at the end."""
    tally = compute_tally(round_, draw)
    if not round_.forgotten or round_.tally is None:
        return tally
    flags = tally.verdict.flags
    kept = tuple(flag for flag in round_.tally.verdict.flags if flag not in flags)
    return replace(tally, verdict=replace(tally.verdict, flags=flags + kept))


# --- Walk along a hash chain


@dataclass(slots=True)
class ChainWalk:
    """A walk along a chain: how many links, the hash of the last one, and the findings so far.

    `known_heads` are hashes that were written down, `met` those of them that were reached without a
    faulty link. A walk that starts in the middle trusts the number and hash it starts from.
    """

    scope: str
    length: int = 0
    head: str = ""
    known_heads: frozenset[str] = frozenset()
    met: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    is_broken: bool = False

    def past(self, stored: StoredLink) -> None:
        """Check the next link by number and move on to it."""
        link = stored.link
        faults = [*self._faults(link)]
        self.is_broken = self.is_broken or bool(faults)
        self.findings += faults
        if not stored.has_round:
            self.findings.append(f"round {link.round_id!r} of link {link.number} was deleted")
        self.length, self.head = link.number, link.hash
        if link.hash in self.known_heads and not self.is_broken:
            self.met.append(link.hash)

    def _faults(self, link: Link) -> Iterator[str]:
        due = self.length + 1
        if link.number < due:
            yield f"link {link.number} has no place in it"
        elif link.number == due + 1:
            yield f"link {due} is missing"
        elif link.number > due:
            yield f"links {due} to {link.number - 1} are missing"
        elif link.previous != self.head:
            yield f"link {due} does not follow what is before it"
        if link.version != LINK_VERSION:
            yield f"link {link.number} was made by another version of the program"
        elif not link.is_sound:
            yield f"link {link.number} was changed"


def walk_stretches(links: Iterable[Link]) -> tuple[ChainWalk, ...]:
    """Return a walk along each unbroken stretch of links; what precedes a stretch is trusted."""
    stretches: list[ChainWalk] = []
    for link in sorted(links, key=lambda link: (link.scope, link.number)):
        last = stretches[-1] if stretches else None
        if last is None or (last.scope, last.length + 1) != (link.scope, link.number):
            last = ChainWalk(link.scope, link.number - 1, link.previous)
            stretches.append(last)
        last.past(StoredLink(link))
    return tuple(stretches)


def chain_name(scope: str) -> str:
    """Return the name of a scope's chain, such as "the hash chain of slack/T1"."""
    return f"the hash chain of {scope}" if scope else "the main hash chain"
