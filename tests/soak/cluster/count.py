"""Results of a cluster's soak test, as a table."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.soak import chats
from tests.soak.cluster.faults import Outage
from tests.soak.cluster.paid_twice import CAUSES, OTHER, Repeat
from tests.soak.cluster.takeover import Sign, takeovers

TAKEOVER_SECONDS = 30.0
_BLOWS = {
    "kill": "killed with -9",
    "freeze": "frozen, and thawed",
    "restart": "Postgres restarted",
    "away": "Postgres gone",
}


@dataclass(slots=True)
class Count:
    """Counts; `told` is what stands in the chat."""

    asked: int
    told: chats.Count = field(default_factory=lambda: chats.Count(0.0))
    ended: int = 0
    again: int = 0
    calls: int = 0
    unknown: int = 0  # calls whose process was gone before it was looked for
    repeats: list[Repeat] = field(default_factory=list)
    outages: list[Outage] = field(default_factory=list)
    taken_over: list[tuple[Outage, list[float]]] = field(default_factory=list)
    unshown: list[str] = field(default_factory=list)
    exits: list[int] = field(default_factory=list)
    began: float = field(default_factory=time.time)
    seconds: float = 0.0

    def look_at(self, signs: Iterable[Sign]) -> None:
        """Count who went on with what, after each process that was struck."""
        seen = [*signs]
        struck = [outage for outage in self.outages if outage.pid is not None]
        self.taken_over = [(outage, takeovers(seen, outage)) for outage in struck]

    @property
    def paid_twice(self) -> Counter[str]:
        return Counter(repeat.cause for repeat in self.repeats)

    @property
    def longest(self) -> float:
        """The seconds until the last round that somebody had under way was gone on with."""
        return max((seconds for _, found in self.taken_over for seconds in found), default=0.0)

    @property
    def breaches(self) -> list[str]:
        """What is not as it must be, in words."""
        broken = {
            "rounds that did not end": self.asked != self.told.rounds or self.asked != self.ended,
            "posts twice, lost or out of order": self.told.wrong,
            "answers not shown": self.told.answers != self.asked,
            "calls paid twice for no reason": self.paid_twice[OTHER],
            "takeover too late": self.longest > TAKEOVER_SECONDS,
            "an end that was not clean": any(self.exits),
        }
        return [words for words, is_so in broken.items() if is_so]

    def __str__(self) -> str:
        told, paid = self.told, self.paid_twice
        rows: dict[str, object] = {
            "questions asked": self.asked,
            "deliveries that came again": self.again,
            "rounds": told.rounds,
            "rounds that ended": self.ended,
            "answers shown": told.answers,
            "posts": told.roots + told.replies,
            "duplicate posts": told.duplicates,
            "posts lost": told.lost,
            "threads out of order": told.out_of_order,
            "calls": self.calls,
            **{f"calls paid twice, {cause}": paid[cause] for cause in _causes()},
            "calls whose process was not found": self.unknown,
            **dict(map(_row, self.taken_over)),
            "exit codes at SIGTERM": " ".join(map(str, self.exits)),
            "seconds of the whole": f"{self.seconds:.0f}",
        }
        lines = [f"{name:<58}{value!s:>12}" for name, value in rows.items()]
        return "\n".join([*map(self._blow, self.outages), *lines, *self._breach()])

    def _blow(self, outage: Outage) -> str:
        at, lasted = outage.at - self.began, outage.until - outage.at
        whom = "" if outage.pid is None else f", process {outage.pid}"
        return f"{_BLOWS[outage.what]} at {at:.1f} s{whom}".ljust(58) + f"{lasted:>10.1f} s"

    def _breach(self) -> list[str]:
        unexplained = [r.told(self.began) for r in self.repeats if r.cause == OTHER]
        return [*(f"BREACH: {words}" for words in self.breaches), *unexplained, *self.unshown]


def _causes() -> list[str]:
    return [*dict.fromkeys(CAUSES.values()), OTHER]


def _row(taken: tuple[Outage, list[float]]) -> tuple[str, str]:
    outage, seconds = taken
    name = f"takeover, {_BLOWS[outage.what]}: of {len(seconds)} works the last, seconds"
    return name, f"{max(seconds, default=0.0):.1f}"
