"""One product for all stories, and one service a module for what goes wrong."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.bot.discord.in_process import Inside, inside
from tests.bot.discord.story import Stage, staged
from tests.wire.discord.sample_world import standard


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """Give a running product, with Cleo for an admin; every test opens channels of its own."""
    world = standard()
    access = f'[access]\nadmins = ["{world.user("UADMIN").id}"]\n'
    async with staged(tmp_path_factory.mktemp("stage"), access, world) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Inside]:
    """Give a running service inside this process."""
    async with inside(tmp_path_factory.mktemp("house")) as running:
        yield running


@pytest.fixture
def bot(house: Inside) -> Inside:
    """Give the module's service, with a place and a person of the test's own."""
    return house.anew()
