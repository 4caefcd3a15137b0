"""Fixtures: sites on in-process fakes."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import TOKEN, NewSite, Site, make_site
from tests.builders import GPT
from tests.fakes.gateway import FakeGateway, Hangs


@pytest.fixture
async def new_site() -> AsyncIterator[NewSite]:
    """Yield `make_site`; the sites are closed after the test."""
    sites = []

    def new_site(*args: Any, **options: Any) -> Site:  # noqa: ANN401
        sites.append(make_site(*args, **options))
        return sites[-1]

    yield new_site
    for site in sites:
        await site.close()


@pytest.fixture
def site(new_site: NewSite) -> Site:
    """Return a site on loopback that requires no token."""
    return new_site()


@pytest.fixture
def locked_site(new_site: NewSite) -> Site:
    """Return a site that requires its token."""
    return new_site(token=TOKEN)


@pytest.fixture
def hanging_site(new_site: NewSite) -> Site:
    """Return a site with a model that never answers."""
    return new_site(an_app(FakeGateway(answers={GPT: Hangs()})))
