"""Tasks that are cancelled come to an end."""

import asyncio
from contextlib import suppress

import pytest

from bot.coordination import tasks
from bot.coordination.tasks import cancel_and_wait


async def test_a_task_that_lost_its_cancellation_is_cancelled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "CANCEL_AGAIN_SECONDS", 0.01)

    async def loses_the_first_one() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    task = asyncio.create_task(loses_the_first_one())
    await asyncio.sleep(0)

    async with asyncio.timeout(10):
        await cancel_and_wait([task])

    assert task.cancelled()
