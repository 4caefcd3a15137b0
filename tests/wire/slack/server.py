"""Web server: API, sockets, response_urls and uploads."""

from collections.abc import Awaitable, Callable
from functools import partial

from aiohttp import web

from tests.wire.slack.api import Api
from tests.wire.slack.calls import Call
from tests.wire.slack.fault_injection import respond_or_fail
from tests.wire.slack.response_urls import Hooks
from tests.wire.slack.sockets import Links
from tests.wire.slack.state import State

UPLOAD = "upload"
Serve = Callable[[web.Request], Awaitable[web.StreamResponse]]
_LARGEST = 50_000_000


class Server:
    """Listens on loopback, on a free port unless one is given."""

    def __init__(self, state: State, links: Links, port: int = 0) -> None:
        self._state = state
        self._port = port
        app = web.Application(client_max_size=_LARGEST, middlewares=[self._watch])
        api, hooks = Api(state), Hooks(state)
        app.router.add_route("*", "/api/{method}", api.serve)
        app.router.add_get("/link/", links.serve)
        app.router.add_post("/commands/{number}", hooks.serve)
        app.router.add_post("/actions/{number}", hooks.serve)
        app.router.add_post("/upload/v1/{number}", self._upload)
        app.router.add_get("/files-pri/{number}/download", self._download)
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

    @web.middleware
    async def _watch(self, request: web.Request, handler: Serve) -> web.StreamResponse:
        """Record exceptions of the fake itself, so that no test takes them for errors of Slack."""
        try:
            return await handler(request)
        except (web.HTTPException, ConnectionError):
            raise
        except Exception as error:
            self._state.broken.append(error)
            raise

    async def _upload(self, request: web.Request) -> web.Response:
        """Receive the content of one file."""
        call = Call(UPLOAD, {"path": request.path}, None, self._state.now(), "bytes")
        act = partial(self._store, call, await request.read())
        return await respond_or_fail(self._state, request, call, act)

    async def _download(self, request: web.Request) -> web.Response:
        """Return a file that a user sent; without files:read, redirect to the login page."""
        shown = request.headers.get("Authorization", "").removeprefix("Bearer ")
        token = self._state.tokens.get(shown)
        if token is None or "files:read" not in token.scopes:
            raise web.HTTPFound("/signin")
        content = self._state.sent.get(request.path)
        return web.Response(body=content, status=404 if content is None else 200)

    def _store(self, call: Call, content: bytes) -> web.Response:
        """Store a file; its length must be the announced one."""
        file = self._state.uploads.pop(str(call.arguments["path"]), None)
        call.outcome = "ok"
        if file is None:
            call.outcome = "no such upload"
            return web.Response(status=404, text=call.outcome)
        if len(content) != file.length:
            call.outcome = "length mismatch"
            return web.Response(status=400, text=call.outcome)
        file.content = content
        return web.Response(text=f"OK - {len(content)}")
