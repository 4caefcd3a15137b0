"""Fixtures: sites without visitors."""

from collections.abc import AsyncIterator

import pytest

from tests.bot.web.browsing import TOKEN, Town, a_town


@pytest.fixture
async def town() -> AsyncIterator[Town]:
    """Return a site on loopback that asks for no token."""
    town = a_town()
    yield town
    await town.close()


@pytest.fixture
async def gated() -> AsyncIterator[Town]:
    """Return a site that asks for its token."""
    town = a_town(token=TOKEN)
    yield town
    await town.close()
