"""Recompute a stored round and name every field that differs.

Reads only the seed, the panel, the absences and the raw texts of the ballots; all else is
recomputed and compared with what is stored. N_eff rests on other rounds and is not compared.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from math import isclose

from council.audits import Audit, due_audit
from council.ballots import Ballot, SpoiledBallot, cast
from council.counting import counted, drawn
from council.prompts.fences import nonce_for
from council.rounds import Draw, Round
from council.tally import Tally
from council.tally.standings import TOLERANCE

Fields = dict[str, object]
Voted = Ballot | SpoiledBallot


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
    if round_.draw is None and not _is_ranked(round_):
        return ()
    again = _recomputed(round_)
    return _differences(_fields(round_), _fields(again))


def _recomputed(round_: Round) -> Round:
    """Give the round with everything that follows from its seed and raw texts worked out again."""
    draw = drawn(round_)
    again = _holding(replace(round_, draw=draw), _cast_to_count(round_, draw))
    if audit := due_audit(again, draw):
        voted: tuple[Voted, ...] = (*again.ballots, *again.spoiled)
        again = _holding(again, [_as_audit(ballot, audit) for ballot in voted])
    return replace(again, tally=counted(again, draw) if _is_ranked(round_) else None)


def _cast_to_count(round_: Round, draw: Draw) -> Iterator[Voted]:
    """Cast every paper as if it were to be counted; one for an audit has another nonce, so spoils.

    What a paper is follows from its text in this way, and never from the stored column.
    """
    slates = {slate.judge: slate for slate in draw.slates}
    papers = [(ballot.judge, ballot.paper) for ballot in round_.ballots if ballot.paper]
    papers += [(spoiled.judge, spoiled.paper) for spoiled in round_.spoiled]
    for judge, paper in papers:
        if judge in slates:
            nonce = nonce_for(round_.seed, judge)
            yield cast(slates[judge], nonce, replace(paper, nonce=nonce))


def _as_audit(voted: Voted, audit: Audit) -> Voted:
    """Give the audit ballot where a paper that cannot count holds the one the round is due."""
    if isinstance(voted, Ballot) or voted.judge != audit.slate.judge:
        return voted
    again = audit.cast(replace(voted.paper, nonce=audit.nonce))
    return again if isinstance(again, Ballot) or voted.is_audit else voted


def _holding(round_: Round, voted: Iterable[Voted]) -> Round:
    voted = tuple(voted)
    return replace(
        round_,
        ballots=tuple(ballot for ballot in voted if isinstance(ballot, Ballot)),
        spoiled=tuple(ballot for ballot in voted if isinstance(ballot, SpoiledBallot)),
    )


def _is_ranked(round_: Round) -> bool:
    """Say whether the round must hold a tally, be it that somebody took it away."""
    closed_well = round_.closing is not None and round_.closing.failure is None
    return round_.tally is not None or closed_well


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
