"""Fixtures: sites without visitors."""

from collections.abc import AsyncIterator

import pytest

from tests.bot.web.browsing import TOKEN, Site, make_site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """Yield a site on loopback that requires no token."""
    site = make_site()
    yield site
    await site.close()


@pytest.fixture
async def locked_site() -> AsyncIterator[Site]:
    """Yield a site that requires its token."""
    site = make_site(token=TOKEN)
    yield site
    await site.close()
