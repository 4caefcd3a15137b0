"""Measure how soon another process takes over the rounds of a process that failed."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

from tests.soak.cluster.faults import Outage
from tests.soak.cluster.fleet import Owners
from tests.soak.paid import Bill, number_in
from tests.wire.slack import Call, FakeSlack

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


@dataclass(slots=True)
class Heard:
    """Notes every call of Slack that is for a round, and who made it."""

    slack: FakeSlack
    owners: Owners
    signs: list[Sign] = field(default_factory=list)

    def __call__(self, call: Call, request: web.Request) -> None:
        """Note a call; one that names no round, as of who somebody is, is nobody's sign."""
        if number := number_in(str(call.arguments)) or self._of_its_thread(call):
            by = self.owners.of(request.transport)
            self.signs.append(Sign(number, call.at, by, "post", call.method))

    def _of_its_thread(self, call: Call) -> str:
        """Return the number that stands in the message a call is about, or under."""
        channel = self.slack.workspace.channels.get(call.text("channel") or "")
        moments = [call.text("ts"), call.text("thread_ts")]
        found = (channel.find(ts) for ts in moments if channel and ts)
        numbers = (number_in(f"{m.text} {m.blocks}") for m in found if m)
        return next((number for number in numbers if number), "")


def of_bill(bill: Bill) -> Iterator[Sign]:
    for (number, _, _), asked in bill.calls.items():
        for call in asked:
            yield Sign(number, call.at, call.by, "call")
