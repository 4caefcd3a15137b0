"""Measure how soon another process takes over the rounds of a process that failed."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tests.soak.cluster.plan import Outage

ON_ITS_WAY_SECONDS = 0.5  # for what the one that was struck had sent before


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that a process did for a round: it asked a model, or said something in the chat."""

    number: str
    at: float
    by: int | None
    kind: Literal["call", "post"]
    what: str = ""


def takeovers(signs: Iterable[Sign], outage: Outage) -> list[float]:
    """Return the seconds to the next sign of each round that the struck process was the last at.

    Carrying a round and showing it may be two processes' work, so calls and posts are looked at
    for themselves. What came to its end with the last sign has no takeover.
    """
    works: defaultdict[tuple[str, str], list[Sign]] = defaultdict(list)
    for sign in sorted(signs, key=lambda sign: sign.at):
        works[sign.number, sign.kind].append(sign)
    found = (_seconds(work, outage) for work in works.values())
    return sorted(seconds for seconds in found if seconds is not None)


def _seconds(work: list[Sign], outage: Outage) -> float | None:
    before = [sign for sign in work if _is_before(sign, outage)]
    after = [sign for sign in work if not _is_before(sign, outage)]
    if not before or not after or before[-1].by != outage.pid:
        return None
    return after[0].at - outage.at


def _is_before(sign: Sign, outage: Outage) -> bool:
    late = ON_ITS_WAY_SECONDS if sign.by == outage.pid else 0.0
    return sign.at <= outage.at + late
