"""Two processes of a cluster on one database of their own."""

from collections.abc import AsyncIterator

import pytest

from tests.bot.cluster.processes import Process, start_process


@pytest.fixture
async def one(migrated_url: str) -> AsyncIterator[Process]:
    async with start_process(migrated_url) as process:
        yield process


@pytest.fixture
async def other(migrated_url: str) -> AsyncIterator[Process]:
    async with start_process(migrated_url) as process:
        yield process
