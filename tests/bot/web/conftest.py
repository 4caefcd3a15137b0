"""Fixtures: sites without visitors."""

from collections.abc import AsyncIterator

import pytest

from tests.bot.web.browsing import TOKEN, Site, make_site


@pytest.fixture
async def town() -> AsyncIterator[Site]:
    """Return a site on loopback that asks for no token."""
    town = make_site()
    yield town
    await town.close()


@pytest.fixture
async def gated() -> AsyncIterator[Site]:
    """Return a site that asks for its token."""
    town = make_site(token=TOKEN)
    yield town
    await town.close()
