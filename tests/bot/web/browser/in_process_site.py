"""A site served in this process for a browser."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from bot.services import Service
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
        for service in site.context.app.parts.all(Service):
            await service.close()
        await site.close()
