"""Find calls that were paid for twice, and the fault that caused each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from tests.soak.cluster.faults import Outage, What
from tests.soak.paid import Asked, Bill, Purpose

CAUSES: dict[What, str] = {
    "kill": "in flight at the kill",
    "freeze": "owner was frozen",
    "restart": "database away",
    "away": "database away",
}
OTHER = "other"
MARGIN_SECONDS = 1.0  # until a reply is read and saved, where all of a cluster has two cores
NOTICING_SECONDS: dict[What, float] = {
    "kill": 0.0,
    "freeze": 5.0,  # for one that was thawed
    "restart": 15.0,
    "away": 15.0,
}


@dataclass(frozen=True, slots=True)
class Repeat:
    purpose: Purpose
    before: Asked
    after: Asked
    cause: str

    def told(self, began: float) -> str:
        """Return it as a line, with the seconds since the start."""
        number, role, model = self.purpose
        asked = " again ".join(_told(call, began) for call in (self.before, self.after))
        return f"round {number}, {role} of {model}: {asked}; {self.cause}"


def repeats(bill: Bill, outages: Iterable[Outage]) -> Iterator[Repeat]:
    """Return the calls that were made again, with their causes."""
    struck = [*outages]
    for purpose, asked in bill.calls.items():
        for before, after in pairwise(asked):
            yield Repeat(purpose, before, after, cause_of(before, after, struck))


def cause_of(before: Asked, after: Asked, outages: Iterable[Outage]) -> str:
    explaining = (CAUSES[o.what] for o in outages if _explains(o, before, after))
    return next(explaining, OTHER)


def _explains(outage: Outage, before: Asked, after: Asked) -> bool:
    """Return whether the reply could not be kept for this reason, or was not known to be there."""
    last = outage.until + NOTICING_SECONDS[outage.what]
    was_lost = before.at <= last and (before.answered or last) >= outage.at - MARGIN_SECONDS
    return was_lost and after.at >= outage.at and _struck(outage, before, after)


def _struck(outage: Outage, before: Asked, after: Asked) -> bool:
    """Return whether it struck the person who asked first, or who could not know of that."""
    if outage.pid is None or before.by in {outage.pid, None}:
        return True
    last = outage.until + NOTICING_SECONDS[outage.what]
    return outage.what == "freeze" and after.by == outage.pid and after.at <= last


def _told(call: Asked, began: float) -> str:
    answered = "never" if call.answered is None else f"at {call.answered - began:.1f} s"
    return f"asked at {call.at - began:.1f} s by {call.by}, answered {answered}"
