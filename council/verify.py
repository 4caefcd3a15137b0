"""Recompute a stored round and name every field that differs.

Reads only the seed, the panel, the absences and the raw texts of the ballots; all else is
recomputed and compared with what is stored. N_eff rests on other rounds and is not compared.
A forgotten round has no raw texts: what still follows from its rankings is compared, and that
none of its texts is left.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isclose

from council.ballots import Ballot
from council.forgetting import texts_of
from council.recomputing import is_ranked, recomputed
from council.rounds import Draw, Round
from council.tally import Tally
from council.tally.standings import TOLERANCE

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
    again = _fields(recomputed(round_))
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
