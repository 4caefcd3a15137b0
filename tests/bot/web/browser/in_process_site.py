"""A site served in this process for a browser."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from bot.bakeoffs.parts import bakeoff_registry
from tests.bot.web.browsing import Site


@asynccontextmanager
async def serve_in_process(site: Site) -> AsyncIterator[str]:
    """Yield the address of a site that is served until the block ends."""
    sock = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(site.app, log_config=None, lifespan="off"))
    serving = asyncio.create_task(server._serve(sockets=[sock]))
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        await bakeoff_registry(site.context.app).stop()
        await site.close()
