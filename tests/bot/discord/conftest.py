"""Fixtures: one process for all stories, and one bot per module for failures."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.bot.app_fakes import PLUGINS
from tests.bot.discord.in_process import InProcessBot, run_in_process
from tests.bot.discord.story import StoryBot, run_story_bot
from tests.wire.discord.sample_world import sample_world

SUITES = '[suites.sql]\nquestions = ["Why WAL?", "Why MVCC?"]\n'


@pytest_asyncio.fixture(loop_scope="package", scope="package")
async def product(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[StoryBot]:
    """Run the bot as a process, with Cleo as an admin; each test opens its own channels."""
    world = sample_world()
    suites = SUITES if any(one.name == "bakeoffs" for one in PLUGINS.present) else ""
    extra = f'{suites}[access]\nadmins = ["{world.user("UADMIN").id}"]\n'
    async with run_story_bot(tmp_path_factory.mktemp("bot"), extra, world) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def shared_bot() -> AsyncIterator[InProcessBot]:
    async with run_in_process() as running:
        yield running


@pytest.fixture
def bot(shared_bot: InProcessBot) -> InProcessBot:
    return shared_bot.for_test()
