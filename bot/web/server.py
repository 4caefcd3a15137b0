"""The HTTP server's life: bind, serve, and stop with exit code 0 when told to."""

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

from council.errors import CouncilError

_UVICORN_LOG = logging.getLogger("uvicorn.error")


class PortTakenError(CouncilError):
    """The address cannot be listened on."""


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to us: uvicorn would raise them again and turn a clean stop into a kill."""
        yield


class Server:
    """A server that listens."""

    def __init__(self, address: str, serving: asyncio.Task[None], uvicorn_: _Uvicorn) -> None:
        self.address = address
        self._serving = serving
        self._uvicorn = uvicorn_

    def stop(self) -> None:
        """Let current requests end, and take no more."""
        # Streams that are cut off now are meant to be; uvicorn would log each as a failure.
        _UVICORN_LOG.disabled = True
        self._uvicorn.should_exit = True

    async def stopped(self) -> None:
        """Wait until the server has stopped."""
        await self._serving


@asynccontextmanager
async def listening(
    app: ASGIApp, host: str, port: int, first: Callable[[], Awaitable[None]]
) -> AsyncIterator[Server]:
    """Serve the application until the block ends or a signal stops it; port 0 is any free one.

    What comes `first` is done when the port is ours and before anybody is served.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = socket.create_server((host, port), family=family)
    except OSError as error:
        raise PortTakenError(
            f"{host}:{port} cannot be listened on ({error.strerror}): choose another COUNCIL_PORT."
        ) from None
    # asyncio does this only for sockets that name TCP; without it each reply waits 40 ms.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _UVICORN_LOG.disabled = False
    try:
        await first()
    except BaseException:
        sock.close()
        raise
    running = _Uvicorn(
        uvicorn.Config(
            app,
            log_config=None,
            lifespan="off",
            server_header=False,
            # Pages that hold a stream open are let go; they come back by themselves.
            timeout_graceful_shutdown=1,
        )
    )
    address = f"http://{f'[{host}]' if ':' in host else host}:{sock.getsockname()[1]}"
    serving = asyncio.create_task(running.serve(sockets=[sock]))
    server = Server(address, serving, running)
    loop = asyncio.get_running_loop()
    for stop in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(stop, server.stop)
    try:
        yield server
    finally:
        server.stop()
        await serving
