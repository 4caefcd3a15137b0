"""Fixtures: one running product for each transport, shared by all tests of listeners."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.bot.slack.story import Stage, run_stage


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """Run the product over Socket Mode; each test opens its own channels."""
    async with run_stage(tmp_path_factory.mktemp("stage"), "socket") as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def http_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """Run the product over HTTP."""
    async with run_stage(tmp_path_factory.mktemp("stage"), "http") as running:
        yield running


@pytest.fixture(params=["stage", "http_stage"], ids=["socket", "http"])
def either(request: pytest.FixtureRequest) -> Stage:
    """Return each product in turn, if the transport matters."""
    chosen: Stage = request.getfixturevalue(request.param)
    return chosen
