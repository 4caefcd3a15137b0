"""The address `/mcp`: the Model Context Protocol as streamable HTTP, with the API's keys."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from bot.chat import Asker
from bot.context import AppContext
from bot.web.auth import place_of, visitor_of
from bot.web.context import WebContext
from council.places import Place

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from bot.mcp import Caller

MCP = "/mcp"
OTHER_SITE = "Pages of other sites can't use the council here.\n"


class McpEndpoint:
    """ASGI application; it imports MCP's library with the first request."""

    def __init__(self, context: WebContext) -> None:
        self._context = context
        self._starting: asyncio.Future[StreamableHTTPSessionManager] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; the middleware has checked its token, its host and its size."""
        if _is_of_other_site(Request(scope)):
            await PlainTextResponse(OTHER_SITE, 403)(scope, receive, send)
            return
        if self._starting is None:
            self._starting = asyncio.get_running_loop().create_future()
            self._context.tasks.start(self._serve(self._starting))
        manager = await asyncio.shield(self._starting)
        await manager.handle_request(scope, receive, send)

    async def _serve(self, started: "asyncio.Future[StreamableHTTPSessionManager]") -> None:
        """Answer clients, each request by itself, until the server stops."""
        try:
            # It is slow to import, and other requests must not wait.
            library = await asyncio.to_thread(import_module, "mcp.server.streamable_http_manager")
            tools = await asyncio.to_thread(import_module, "bot.mcp")
            app = self._context.app

            async def load_app() -> AppContext:
                return app

            server = tools.create_server(load_app, _caller, app.plugins)
            manager = library.StreamableHTTPSessionManager(server, stateless=True)
            async with manager.run():
                started.set_result(manager)
                await asyncio.Event().wait()
        finally:
            started.cancel()


def _caller(request: Request) -> "Caller":
    from bot.mcp import Caller

    def link(round_id: str) -> str:
        return f"{request.base_url}rounds/{round_id}"

    if key := request.scope["api_key"]:  # the middleware has authenticated it
        return Caller(
            Asker(key.asker_id, key.name), Place("web", channel=key.asker_id), link, key=key
        )
    visitor = visitor_of(request)
    return Caller(visitor.asker, place_of(visitor), link)


def _is_of_other_site(request: Request) -> bool:
    """Return whether a browser sent it from a page of another site."""
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")
