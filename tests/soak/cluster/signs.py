"""Log of which process called a model or Slack for which round."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from aiohttp import web

from tests.soak.cluster.owners import Owners
from tests.soak.cluster.takeover import Sign
from tests.soak.paid import Bill, number_in
from tests.wire.slack import Call, FakeSlack


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
    """Return the calls of models."""
    for (number, _, _), asked in bill.calls.items():
        for call in asked:
            yield Sign(number, call.at, call.by, "call")
