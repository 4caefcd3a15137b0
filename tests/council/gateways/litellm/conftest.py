"""What the tests of the litellm gateway have: a seat on a scripted server."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from council.gateways.litellm import client as library
from tests.council.gateways.litellm.bench import Bench
from tests.wire.models import ModelServer


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    await asyncio.to_thread(library.load_warm)  # no deadline below is spent on a first call
    async with ModelServer() as server:
        bench = Bench(server)
        yield bench
        await bench.gateway.close()
