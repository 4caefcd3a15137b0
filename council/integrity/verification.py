"""Work a stored round out again."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isclose

from council.ballots import Ballot, BallotExchange, SpoiledBallot, cast
from council.integrity.erasure import texts_of
from council.integrity.hash_chain import LINK_VERSION, Link, StoredLink
from council.labels import Label
from council.prompts.shared import nonce_for
from council.round_rules import Audit, counted, drawn, due_audit
from council.rounds import Draw, Round
from council.tally import Tally
from council.tally.standings import TOLERANCE

# --- Work a stored round out again.

AnyBallot = Ballot | SpoiledBallot


def recompute(round_: Round) -> Round:
    """Give the round with everything that follows from what is kept of it worked out again."""
    draw = drawn(round_)
    again = replace(round_, draw=draw)
    if round_.forgotten:
        again = _holding(again, _recounted(round_, draw))
    else:
        again = _audited(_holding(again, _recast(round_, draw)), draw)
    return replace(again, tally=_tally(again, draw) if is_ranked(round_) else None)


def _holding(round_: Round, voted: Iterable[AnyBallot]) -> Round:
    voted = tuple(voted)
    return replace(
        round_,
        ballots=tuple(ballot for ballot in voted if isinstance(ballot, Ballot)),
        spoiled=tuple(ballot for ballot in voted if isinstance(ballot, SpoiledBallot)),
    )


def _audited(round_: Round, draw: Draw) -> Round:
    """Give the round with the paper that holds its audit ballot, if it is due one, cast as that."""
    audit = due_audit(round_, draw)
    if audit is None:
        return round_
    voted: tuple[AnyBallot, ...] = (*round_.ballots, *round_.spoiled)
    return _holding(round_, [_as_audit(ballot, audit) for ballot in voted])


def _as_audit(voted: AnyBallot, audit: Audit) -> AnyBallot:
    """Give the audit ballot where a paper that cannot count holds the one the round is due."""
    if isinstance(voted, Ballot) or voted.judge != audit.slate.judge:
        return voted
    again = audit.cast(replace(voted.paper, nonce=audit.nonce))
    return again if isinstance(again, Ballot) or voted.is_audit else voted


def is_ranked(round_: Round) -> bool:
    """Say whether the round must hold a tally, be it that somebody took it away."""
    closed_well = round_.closing is not None and round_.closing.failure is None
    return round_.tally is not None or closed_well


def _recast(round_: Round, draw: Draw) -> Iterator[AnyBallot]:
    """Cast every paper as if it were to be counted; one for an audit has another nonce, so spoils.

    What a paper is follows from its text in this way, and never from the stored column.
    """
    slates = {slate.judge: slate for slate in draw.slates}
    papers = [(ballot.judge, ballot.paper) for ballot in round_.ballots if ballot.paper]
    papers += [(spoiled.judge, spoiled.paper) for spoiled in round_.spoiled]
    for judge, paper in papers:
        if judge in slates:
            nonce = nonce_for(round_.seed, judge)
            yield cast(slates[judge], nonce, _of_judge(paper, round_, judge))


def _recounted(round_: Round, draw: Draw) -> list[AnyBallot]:
    """Give the ballots over the slates that were drawn; one that ranks another slate is none.

    Audit ballots, which had slates of their own and are never counted, are taken as they are.
    """
    shown = {slate.judge: slate.shown for slate in draw.slates}
    voted: list[AnyBallot] = []
    for ballot in round_.ballots:
        if not ballot.counts:
            voted.append(ballot)
        elif ballot.paper and _ranks(ballot, shown.get(ballot.judge, ())):
            paper = _of_judge(ballot.paper, round_, ballot.judge)
            voted.append(replace(ballot, shown=shown[ballot.judge], paper=paper))
    voted += [
        spoiled
        if spoiled.is_audit
        else replace(spoiled, paper=_of_judge(spoiled.paper, round_, spoiled.judge))
        for spoiled in round_.spoiled
        if spoiled.judge in shown
    ]
    return voted


def _ranks(ballot: Ballot, shown: tuple[Label, ...]) -> bool:
    """Say whether the ballot ranks a slate exactly once."""
    ranked = [label for place in ballot.ranking for label in place]
    return bool(shown) and all(ballot.ranking) and sorted(ranked) == sorted(shown)


def _of_judge(paper: BallotExchange, round_: Round, judge: str) -> BallotExchange:
    return replace(paper, nonce=nonce_for(round_.seed, judge))


def _tally(again: Round, draw: Draw) -> Tally:
    """Give the tally; flags that rest on forgotten reasons stay behind those that still follow."""
    tally = counted(again, draw)
    if not again.forgotten or again.tally is None:
        return tally
    flags = tally.verdict.flags
    kept = tuple(flag for flag in again.tally.verdict.flags if flag not in flags)
    return replace(tally, verdict=replace(tally.verdict, flags=flags + kept))


# --- Recompute a stored round and name every field that differs.

Fields = dict[str, object]


@dataclass(frozen=True, slots=True)
class Difference:
    """A field whose stored value is not what the round leads to; None stands for absent."""

    field: str
    stored: object
    recomputed: object

    def __str__(self) -> str:
        return f"{self.field}: stored {self.stored}, recomputed {self.recomputed}"


def verify(round_: Round) -> tuple[Difference, ...]:
    """Give what differs, in the order of the round; nothing for a round that is as it should be."""
    if round_.draw is None and not is_ranked(round_):
        return _left_behind(round_)
    again = _fields(recompute(round_))
    return (*_left_behind(round_), *_differences(_fields(round_), again))


def _left_behind(round_: Round) -> tuple[Difference, ...]:
    """Name the texts that a forgotten round still holds."""
    left = texts_of(round_) if round_.forgotten else ()
    return tuple(Difference(name, "kept", "forgotten") for name, _ in left)


def _fields(round_: Round) -> Fields:
    """Give every field that can be recomputed, under the name it is reported by."""
    fields: Fields = {}
    if round_.draw:
        fields |= _draw_fields(round_.draw)
    for ballot in round_.ballots:
        fields |= _ballot_fields(ballot)
    for spoiled in round_.spoiled:
        which = "audit" if spoiled.is_audit else f"#{spoiled.paper.attempt}"
        name = f"spoiled[{spoiled.judge} {which}]"
        fields |= {f"{name}.fault": spoiled.fault, f"{name}.nonce": spoiled.paper.nonce}
    if round_.tally:
        fields |= _tally_fields(round_.tally)
    return fields


def _draw_fields(draw: Draw) -> Fields:
    fields: Fields = {f"label map[{author}]": label for author, label in draw.labels.pairs}
    return fields | {f"slates[{slate.judge}]": slate.shown for slate in draw.slates}


def _ballot_fields(ballot: Ballot) -> Fields:
    which = "" if ballot.counts else f" audit {ballot.audit}"
    name = f"ballots[{ballot.judge}{which}]"
    return {
        f"{name}.shown": ballot.shown,
        f"{name}.ranking": ballot.ranking,
        f"{name}.reason": ballot.reason,
        f"{name}.audit": ballot.audit,
        f"{name}.nonce": ballot.paper.nonce if ballot.paper else None,
    }


def _tally_fields(tally: Tally) -> Fields:
    fields: Fields = {}
    for line in tally.standings:
        fields |= _named(f"standings[{line.label}]", asdict(line))
    verdict = asdict(tally.verdict)
    del verdict["n_eff"]
    return fields | _named("verdict", verdict.pop("agreement") | verdict)


def _named(name: str, values: Mapping[str, object]) -> Fields:
    return {f"{name}.{key}": value for key, value in values.items()}


def _differences(stored: Fields, recomputed: Fields) -> tuple[Difference, ...]:
    return tuple(
        Difference(name, stored.get(name), recomputed.get(name))
        for name in stored | recomputed
        if not _same(stored.get(name), recomputed.get(name))
    )


def _same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, abs_tol=TOLERANCE)
    return one == other


# --- A chain walked from its first link on, or a stretch of it.


@dataclass(slots=True)
class ChainWalk:
    """How far a chain was walked, the hash of its last link, and what was found on the way.

    `sought` are heads that were written down, `met` those of them up to which no link is at fault.
    A stretch begins behind a link of this number and hash, which are taken on trust.
    """

    scope: str
    length: int = 0
    head: str = ""
    sought: frozenset[str] = frozenset()
    met: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    is_broken: bool = False

    def past(self, held: StoredLink) -> None:
        """Go past the link that comes next by number."""
        link = held.link
        faults = [*self._out_of_place(link), *_unsound(link)]
        self.is_broken = self.is_broken or bool(faults)
        self.findings += faults
        if not held.has_round:
            self.findings.append(f"round {link.round_id!r} of link {link.number} was deleted")
        self.length, self.head = link.number, link.hash
        if link.hash in self.sought and not self.is_broken:
            self.met.append(link.hash)

    def _out_of_place(self, link: Link) -> Iterator[str]:
        due = self.length + 1
        if link.number < due:
            yield f"link {link.number} has no place in it"
        elif link.number == due + 1:
            yield f"link {due} is missing"
        elif link.number > due:
            yield f"links {due} to {link.number - 1} are missing"
        elif link.previous != self.head:
            yield f"link {due} does not follow what is before it"


def walked_in_part(links: Iterable[Link]) -> tuple[ChainWalk, ...]:
    """Walk those links that there are, of any chains; what is not among them is taken on trust."""
    stretches: list[ChainWalk] = []
    for link in sorted(links, key=lambda link: (link.scope, link.number)):
        last = stretches[-1] if stretches else None
        if last is None or (last.scope, last.length + 1) != (link.scope, link.number):
            last = ChainWalk(link.scope, link.number - 1, link.previous)
            stretches.append(last)
        last.past(StoredLink(link))
    return tuple(stretches)


def chain_name(scope: str) -> str:
    """Give the name of a scope's chain: "the chain of slack/T1"."""
    return f"the chain of {scope or 'the house'}"


def _unsound(link: Link) -> Iterator[str]:
    if link.version != LINK_VERSION:
        yield f"link {link.number} was made by another version of the program"
    elif not link.is_sound:
        yield f"link {link.number} was changed"
