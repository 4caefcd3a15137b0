"""Fixtures: a fake catalogue of files, and the real server, its files downloaded once."""

from collections.abc import AsyncIterator
from pathlib import Path

import platformdirs
import pytest

from council.errors import GatewayError
from council.gateways.local.download import LocalFiles, fetch_files
from council.gateways.local.server import LocalServer, unsupported_reason
from tests.council.gateways.local.builders import FakeCatalogue, a_fake_catalogue
from tests.council.gateways.local.file_server import FileServer, serving

CACHE = Path(platformdirs.user_cache_dir("council")) / "models"


@pytest.fixture
async def files() -> AsyncIterator[FileServer]:
    async with serving() as server:
        yield server


@pytest.fixture
def fake_catalogue(files: FileServer) -> FakeCatalogue:
    return a_fake_catalogue(files)


@pytest.fixture
async def local_files() -> LocalFiles:
    reason = unsupported_reason()
    if reason is not None:
        pytest.skip(reason)
    try:
        return await fetch_files(CACHE, on_progress=lambda *_: None)
    except GatewayError as error:
        pytest.skip(str(error))


@pytest.fixture
async def server(local_files: LocalFiles, tmp_path: Path) -> AsyncIterator[LocalServer]:
    async with LocalServer(local_files, tmp_path) as running:
        yield running
