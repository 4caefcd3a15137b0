"""Retention of texts: forget the rounds that are too old, once a day, one at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import structlog

from bot.coordination.clock import now
from bot.coordination.tasks import TryLock
from council.errors import StoreError
from council.ports import RoundQuery, Store
from storage.hash_chain import new_salt

DAY_SECONDS = 24 * 3600.0

IsRunning = Callable[[str], Awaitable[bool]]


async def forget_older(
    store: Store,
    days: int,
    moment: datetime,
    on_fault: Callable[[str], None],
    is_running: IsRunning | None = None,
) -> int:
    """Forget the rounds that do not run and were asked more than `days` before; return how many."""
    forgotten = 0
    wanted = RoundQuery(before=moment - timedelta(days=days), remembered=True)
    for round_id in await store.ids(wanted=wanted):
        if is_running and await is_running(round_id):
            continue
        try:
            forgotten += await store.forget(round_id, moment, new_salt())
        except StoreError as error:
            on_fault(str(error))
    await store.wipe()
    return forgotten


async def forget_daily(
    store: Store,
    days: int,
    is_running: IsRunning,
    leader_lock: TryLock,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Forget old rounds now and once a day, unless another process is doing it, until cancelled."""
    log = structlog.get_logger()

    def on_fault(why: str) -> None:
        log.error("forgetting_failed", why=why)

    while True:
        try:
            async with leader_lock("forgetting") as is_leader:
                if is_leader and (
                    count := await forget_older(store, days, now(), on_fault, is_running)
                ):
                    log.info("rounds_forgotten", rounds=count, older_than_days=days)
        except StoreError as error:
            on_fault(str(error))
        await sleep(DAY_SECONDS)
