"""One product a transport for all stories in which nothing goes wrong."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.bot.slack.story import Stage, staged


@pytest_asyncio.fixture(loop_scope="session", scope="session", params=["socket", "http"])
async def stage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """Give a running product; every test opens channels of its own."""
    async with staged(tmp_path_factory.mktemp("stage"), request.param) as running:
        yield running
