"""Plan of a cluster's soak test: load and faults, as values."""

from dataclasses import dataclass
from typing import Literal

What = Literal["kill", "freeze", "restart", "away"]


@dataclass(frozen=True, slots=True)
class Blow:
    """Something that happens so long after the first question, and lasts for so long.

    A killed process is started anew afterwards, if that is to be; a frozen one is thawed.
    """

    at_seconds: float
    what: What
    seconds: float = 0.0
    process: int = 0
    comes_back: bool = True


@dataclass(frozen=True, slots=True)
class Outage:
    """A blow as it came, in seconds since the epoch; `pid` is whom it struck, None the database."""

    what: What
    at: float
    until: float
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """How many rounds are asked, evenly over how many seconds, and what happens meanwhile."""

    rounds: int
    span_seconds: float
    blows: tuple[Blow, ...]
    processes: int = 3
    latency: float = 1.0  # seconds a model takes


KILL = Blow(20, "kill", 60, process=0)
FREEZE = Blow(110, "freeze", 60, process=1)
RESTART = Blow(210, "restart")
AWAY = Blow(240, "away", 30)
EVERY_SECONDS = 1.0  # a question, so that two processes on two busy cores keep up
_AFTERWARDS_SECONDS = 20.0


def usual(rounds: int, *, bad: bool = False) -> Plan:
    """Return a kill, a freeze and a database restart; with `bad`, a database outage too."""
    blows = (KILL, FREEZE, RESTART, AWAY) if bad else (KILL, FREEZE, RESTART)
    end = max(blow.at_seconds + blow.seconds for blow in blows)
    return Plan(rounds, max(end + _AFTERWARDS_SECONDS, rounds * EVERY_SECONDS), blows)
