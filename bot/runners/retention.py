"""How long texts are kept: rounds that are older are forgotten, one after another.

Each round is one step and one transaction, so whatever else goes on meanwhile is not held up.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from bot.coordination.clock import now
from bot.coordination.tasks import Sole, nobody_else
from council.errors import StoreError
from council.ports import RoundQuery, Store
from storage.hash_chain import new_salt

DAY_SECONDS = 24 * 3600.0


async def _nowhere(_: str) -> bool:
    """Say that no round is under way."""
    return False


@dataclass(frozen=True, slots=True)
class ForgetOptions:
    """Whom to spare and whom to tell: rounds under way, and what went wrong with one round."""

    is_running: Callable[[str], Awaitable[bool]] = _nowhere
    on_fault: Callable[[str], None] = lambda _: None


async def forget_older(store: Store, days: int, moment: datetime, watch: ForgetOptions) -> int:
    """Forget every round asked more than so many days before; give how many there were.

    One that cannot be read is left as it is and told of, and stops no other.
    """
    forgotten = 0
    wanted = RoundQuery(before=moment - timedelta(days=days), remembered=True)
    for round_id in await store.ids(wanted=wanted):
        if await watch.is_running(round_id):
            continue
        try:
            forgotten += await store.forget(round_id, moment, new_salt())
        except StoreError as error:
            watch.on_fault(str(error))
    await store.wipe()
    return forgotten


async def keep_forgetting(
    store: Store,
    days: int,
    is_carried: Callable[[str], Awaitable[bool]],
    alone: Sole = nobody_else,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Forget what is too old, now and once a day, unless another process is just doing it.

    Runs until it is cancelled.
    """
    log = structlog.get_logger()
    watch = ForgetOptions(is_carried, lambda why: log.error("forgetting_failed", why=why))
    while True:
        try:
            async with alone("forgetting") as is_ours:
                count = await forget_older(store, days, now(), watch) if is_ours else 0
            if count:
                log.info("rounds_forgotten", rounds=count, older_than_days=days)
        except StoreError as error:
            watch.on_fault(str(error))
        await sleep(DAY_SECONDS)
