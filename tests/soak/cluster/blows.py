"""Fault injection: apply the faults of a plan at their times."""

import asyncio
import time
from collections.abc import Sequence
from typing import Protocol

from tests.soak.cluster.fleet import Copy
from tests.soak.cluster.plan import Blow, Outage


class Database(Protocol):
    """A database server that can be taken away; each act is over when it returns."""

    def stop(self) -> None:
        """Stop it, and break every connection."""

    def start(self) -> None:
        """Start it again."""

    def restart(self) -> None:
        """Stop and start it."""


async def strike(blows: Sequence[Blow], copies: Sequence[Copy], database: Database) -> list[Outage]:
    """Strike each blow so long after now as it says, and give how they came."""
    began = asyncio.get_running_loop().time()
    struck = [_in_time(began, blow, copies[blow.process], database) for blow in blows]
    return [*await asyncio.gather(*struck)]


async def _in_time(began: float, blow: Blow, copy: Copy, database: Database) -> Outage:
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


async def _away(blow: Blow, database: Database) -> Outage:
    at = time.time()
    if blow.what == "restart":
        await asyncio.to_thread(database.restart)
    else:
        await asyncio.to_thread(database.stop)
        await asyncio.sleep(blow.seconds)
        await asyncio.to_thread(database.start)
    return Outage(blow.what, at, time.time())
