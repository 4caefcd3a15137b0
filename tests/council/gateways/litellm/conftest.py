"""Fixtures for the litellm gateway: one seat on a scripted model server."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from council.gateways.litellm import client as library
from tests.council.gateways.litellm.harness import GatewayHarness
from tests.wire.models import ModelServer


@pytest.fixture
async def harness() -> AsyncIterator[GatewayHarness]:
    await asyncio.to_thread(library.load_warm)  # so that no deadline includes the first call
    async with ModelServer() as server:
        harness = GatewayHarness(server)
        yield harness
        await harness.gateway.close()
