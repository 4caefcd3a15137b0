"""The HTTP server (uvicorn): bind, serve, and stop cleanly on a signal."""

import asyncio
import logging
import os
import resource
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

from bot.web.limits import MAX_CONNECTIONS, ConnectionLimit, LimitedProtocol
from council.errors import CouncilError

MAX_OPEN_FILES = 65_536
# Connections accepted in one go, before they are counted; files of databases, models and logs.
BACKLOG, OTHER_FILES = 256, 256
_UVICORN_LOG = logging.getLogger("uvicorn.error")


class Server(uvicorn.Server):
    """A running server and its address."""

    address = ""
    task: asyncio.Task[None]

    def stop(self) -> None:
        """Finish current requests and accept no more."""
        # Open event streams are cut off on purpose; uvicorn would log each as a failure.
        _UVICORN_LOG.disabled = True
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle no signals: uvicorn would raise them again and turn a clean stop into a kill."""
        yield


def raise_file_limit() -> int:
    """Raise the soft limit of open files as far as is useful; return how many may be open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


@asynccontextmanager
async def run_server(
    app: ASGIApp,
    host: str,
    port: int,
    on_bound: Callable[[], Awaitable[None]],
    *,
    behind_proxy: bool = False,
    max_connections: int = MAX_CONNECTIONS,
) -> AsyncIterator[Server]:
    """Serve the application until the block ends or a signal stops it; port 0 is any free port.

    `on_bound` runs after the port is bound and before the first request. With `behind_proxy`, a
    proxy on this machine, or one named in FORWARDED_ALLOW_IPS, says where a request came from.
    Connections above `max_connections`, or above what the limit of open files allows, are refused.
    Raise CouncilError if the address cannot be used.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = socket.create_server((host, port), family=family)
    except OSError as error:
        raise CouncilError(
            f"Can't listen on {host}:{port} ({os.strerror(error.errno or 0).lower()}). Set "
            "COUNCIL_PORT to another port."
        ) from None
    # asyncio does this only for sockets that name TCP; without it each reply waits 40 ms.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _UVICORN_LOG.disabled = False
    try:
        await on_bound()
    except BaseException:
        sock.close()
        raise
    files = raise_file_limit()

    class _Protocol(LimitedProtocol):
        limit = ConnectionLimit(min(max_connections, max(1, (files - BACKLOG - OTHER_FILES) // 2)))

    server = Server(
        uvicorn.Config(
            app,
            log_config=None,
            lifespan="off",
            http=_Protocol,
            backlog=BACKLOG,
            server_header=False,
            proxy_headers=behind_proxy,
            # Browsers with an open stream are disconnected; they reconnect by themselves.
            timeout_graceful_shutdown=1,
        )
    )
    server.address = f"http://{f'[{host}]' if ':' in host else host}:{sock.getsockname()[1]}"
    server.task = asyncio.create_task(server.serve(sockets=[sock]))
    loop = asyncio.get_running_loop()
    for signal_ in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_, server.stop)
    try:
        yield server
    finally:
        server.stop()
        await server.task
