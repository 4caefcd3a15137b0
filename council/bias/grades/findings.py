"""What a report on grades found, and where it has too little to say."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from council.bias.grades.paired import FEWEST
from council.bias.grades.report import GradeReport, JudgeRow
from council.bias.report import Effect


class Kind(StrEnum):
    """What is said of a judge; the comparisons of the thesis come last."""

    PREFERENCE = "preference"  # S − G against R − O
    LENIENCY = "leniency"
    OVER_RECEIVED = "over_received"  # S − R, which strictness moves too
    OVER_GIVEN = "over_given"  # S − G, which the quality of its work moves too
    NO_OWN = "no own work"
    TOO_FEW = "too few items"
    ALIKE = "all alike"
    NO_PEERS = "no peers"


_TOO_LITTLE = (Kind.NO_OWN, Kind.TOO_FEW, Kind.ALIKE, Kind.NO_PEERS)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to say of a judge in one framing; `effect` is the one it rests on."""

    kind: Kind
    row: JudgeRow
    effect: Effect

    @property
    def is_found(self) -> bool:
        """Whether something was found, and not only nothing to be said."""
        return self.kind not in _TOO_LITTLE


def findings(report: GradeReport) -> tuple[Finding, ...]:
    """Give what is beyond chance among all tests, kind by kind, then what cannot be told."""
    found = [finding for row in report.rows for finding in _of(row)]
    order = [*Kind]
    return tuple(sorted(found, key=lambda finding: order.index(finding.kind)))


def _of(row: JudgeRow) -> Iterator[Finding]:
    tested = {
        Kind.PREFERENCE: row.preference.effect,
        Kind.LENIENCY: row.leniency.effect,
        Kind.OVER_RECEIVED: row.over_received.effect,
        Kind.OVER_GIVEN: row.over_given.effect,
    }
    for kind, effect in tested.items():
        if effect.is_found:
            yield Finding(kind, row, effect)
    if why := _too_little(row):
        yield Finding(why, row, row.preference.effect)


def _too_little(row: JudgeRow) -> Kind | None:
    """Say what keeps the difference in differences from telling anything."""
    compared = row.preference.effect
    if not row.own.n:
        return Kind.NO_OWN
    if not compared.n:
        return Kind.NO_PEERS
    if compared.n < FEWEST:
        return Kind.TOO_FEW
    return Kind.ALIKE if compared.p is None else None
