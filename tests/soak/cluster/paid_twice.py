"""Calls that were paid for twice, by what was the matter with the process that asked."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from tests.soak.cluster.plan import Outage, What
from tests.soak.paid import Asked, Bill

CAUSES: dict[What, str] = {
    "kill": "in flight at the kill",
    "freeze": "owner was frozen",
    "restart": "database away",
    "away": "database away",
}
OTHER = "other"
MARGIN_SECONDS = 0.5  # until a reply is read and saved, on two cores that are busy
NOTICING_SECONDS: dict[What, float] = {
    "kill": 0.0,
    "freeze": 5.0,  # for one that was thawed
    "restart": 15.0,
    "away": 15.0,
}


def paid_twice(bill: Bill, outages: Iterable[Outage]) -> Counter[str]:
    """Count the calls that were made again, by their causes."""
    struck = [*outages]
    repeated = (pair for asked in bill.calls.values() for pair in pairwise(asked))
    return Counter(cause_of(before, after, struck) for before, after in repeated)


def cause_of(before: Asked, after: Asked, outages: Iterable[Outage]) -> str:
    """Give why a call was made again."""
    explaining = (CAUSES[o.what] for o in outages if _explains(o, before, after))
    return next(explaining, OTHER)


def _explains(outage: Outage, before: Asked, after: Asked) -> bool:
    """Say whether the reply could not be kept for this reason, or was not known to be there."""
    last = outage.until + NOTICING_SECONDS[outage.what]
    was_lost = before.at <= last and (before.answered or last) >= outage.at - MARGIN_SECONDS
    return was_lost and after.at >= outage.at and _struck(outage, before, after)


def _struck(outage: Outage, before: Asked, after: Asked) -> bool:
    """Say whether it struck the one who asked first, or who could not know of that."""
    if outage.pid is None or before.by in {outage.pid, None}:
        return True
    last = outage.until + NOTICING_SECONDS[outage.what]
    return outage.what == "freeze" and after.by == outage.pid and after.at <= last
