from collections.abc import AsyncIterator

import pytest

from tests.council.gateways.local.builders import FakeCatalogue, a_fake_catalogue
from tests.council.gateways.local.file_server import FileServer, serving


@pytest.fixture
async def files() -> AsyncIterator[FileServer]:
    async with serving() as server:
        yield server


@pytest.fixture
def fake_catalogue(files: FileServer) -> FakeCatalogue:
    return a_fake_catalogue(files)
