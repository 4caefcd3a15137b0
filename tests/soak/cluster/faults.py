"""Faults of a cluster's soak test: the plan of load and faults, and applying them in time."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tests.postgres import Server
from tests.soak.cluster.fleet import Copy

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


async def strike(blows: Sequence[Blow], copies: Sequence[Copy], database: Server) -> list[Outage]:
    """Strike each blow so long after now as it says, and give how they came."""
    began = asyncio.get_running_loop().time()
    struck = [_in_time(began, blow, copies[blow.process], database) for blow in blows]
    return [*await asyncio.gather(*struck)]


async def _in_time(began: float, blow: Blow, copy: Copy, database: Server) -> Outage:
    await asyncio.sleep(began + blow.at_seconds - asyncio.get_running_loop().time())
    if blow.what == "kill":
        return await _killed(blow, copy)
    if blow.what == "freeze":
        return await _frozen(blow, copy)
    return await _away(blow, database)


async def _killed(blow: Blow, copy: Copy) -> Outage:
    pid, at = copy.pid, await copy.kill()
    if blow.comes_back:
        await asyncio.sleep(blow.seconds)
        await copy.start()
        await copy.ready()
    return Outage("kill", at, at, pid)


async def _frozen(blow: Blow, copy: Copy) -> Outage:
    at = copy.freeze()
    await asyncio.sleep(blow.seconds)
    return Outage("freeze", at, copy.thaw(), copy.pid)


async def _away(blow: Blow, database: Server) -> Outage:
    at = time.time()
    if blow.what == "restart":
        await asyncio.to_thread(database.restart)
    else:
        await asyncio.to_thread(database.stop)
        await asyncio.sleep(blow.seconds)
        await asyncio.to_thread(database.start)
    return Outage(blow.what, at, time.time())
