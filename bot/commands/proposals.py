"""Bake-offs proposed by a button: what it carries fits in any chat's, and works after a restart.

The event's key, the suite's version, and digests of the names, however long those are.
"""

from dataclasses import dataclass
from hashlib import sha256

from bot.chat import Said
from bot.commands.desk import Desk
from council.bakeoffs.models import Bakeoff, Suite
from council.errors import BakeoffError

ANEW = "say `/council bakeoff` again to see what it comes to now."
_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a button proposes."""

    key: str
    suite: str  # digest of its name
    version: str
    panel: str  # digest of its name
    cap_micro: int | None

    @property
    def value(self) -> str:
        """What the button carries."""
        cap = "" if self.cap_micro is None else str(self.cap_micro)
        return ".".join((self.key, self.suite, self.version, self.panel, cap))

    @classmethod
    def of(cls, bakeoff: Bakeoff) -> "Proposal":
        """Give what proposes this bake-off."""
        suite, key = bakeoff.suite, bakeoff.id.removeprefix("bo:")
        names = _digest(suite.name), suite.version, _digest(bakeoff.panel.name)
        return cls(key, *names, bakeoff.cap_micro)

    @classmethod
    def read(cls, value: str) -> "Proposal":
        """Read what a button carries; BakeoffError for what none of ours does."""
        parts = value.split(".")
        try:
            key, suite, version, panel, cap = parts
            return cls(key, suite, version, panel, int(cap) if cap else None)
        except ValueError:
            raise BakeoffError(f"This button says nothing that can be read: {ANEW}") from None


def _digest(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:_DIGITS]


async def bakeoff_of(desk: Desk, said: Said, proposal: Proposal) -> Bakeoff:
    """Give what was proposed, as the one who presses; BakeoffError where it is another by now."""
    suite = await _suite(desk, said, proposal)
    names = [name for name in desk.panels if _digest(name) == proposal.panel]
    if not names:
        raise BakeoffError(f"The panel of this proposal is not there any more: {ANEW}")
    panel = desk.panel(names[0], said.place)
    own = (f"bo:{proposal.key}", suite, panel, said.place, said.asker.id, desk.now())
    return Bakeoff(*own, proposal.cap_micro)


async def _suite(desk: Desk, said: Said, proposal: Proposal) -> Suite:
    lines = await desk.bench.suites.lines(said.place.scope)
    names = [line.name for line in lines if _digest(line.name) == proposal.suite]
    if not names:
        raise BakeoffError(f"The suite of this proposal is not there any more: {ANEW}")
    suite = await desk.bench.suites.load(said.place.scope, names[0])
    if suite.version != proposal.version:
        raise BakeoffError(f"Suite {suite.name} has changed since this was proposed: {ANEW}")
    return suite
