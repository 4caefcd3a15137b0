"""Fixtures: a running product that all tests of listeners share."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.bot.slack.story import Stage, run_stage


@pytest_asyncio.fixture(loop_scope="package", scope="package")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """Run the product; each test opens its own channels, and none pings anybody or fails."""
    async with run_stage(tmp_path_factory.mktemp("stage")) as running:
        yield running
        assert running.slack.faults == []
        assert running.slack.pings() == []
