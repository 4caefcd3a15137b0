"""One HTTP server for the REST API, the gateway and the CDN."""

from aiohttp import web

from tests.wire.discord.cdn import Cdn
from tests.wire.discord.gateway.sockets import GatewaySockets
from tests.wire.discord.rest import BASE, Rest
from tests.wire.discord.state import State

_LARGEST = 64 * 1024 * 1024


class Server:
    """Listens on loopback."""

    def __init__(self, state: State, links: GatewaySockets, cdn: Cdn, port: int = 0) -> None:
        self._state = state
        self._port = port
        app = web.Application(client_max_size=_LARGEST)
        app.router.add_route("*", BASE + "/{path:.*}", Rest(state).serve)
        app.router.add_get("/gateway{tail:/?.*}", links.serve)
        app.router.add_get("/attachments/{channel}/{file}/{name}", cdn.serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)

    async def start(self) -> None:
        """Begin to listen."""
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        host, port = self._runner.addresses[0][:2]
        self._state.address = f"http://{host}:{port}"

    async def stop(self) -> None:
        """Close every connection."""
        await self._runner.cleanup()
