"""The gate before the page: headers that keep content harmless, and the token where one is set."""

from secrets import compare_digest
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.web.seals import Seals
from bot.web.visitors import PASS_COOKIE

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
SLACK_EVENTS = "/slack/events"  # what comes here proves by its signature that it is Slack's
_OPEN = {"/healthz", "/readyz", "/login", SLACK_EVENTS}


class HarmlessContent:
    """Adds to every response the headers that forbid foreign scripts, content and frames."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, with the headers."""

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                # A file's address changes with the file.
                lasts = scope["path"].startswith("/static/") and scope["query_string"]
                kept = "public, max-age=31536000, immutable" if lasts else "private, no-cache"
                headers.setdefault("Cache-Control", kept)
            await send(message)

        await self._app(scope, receive, send_on)


class KnownHosts(TrustedHostMiddleware):
    """Answers only to some names, so that no foreign site can make its own point here."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, save under a strange name; Slack comes by whatever name a tunnel has."""
        if scope["type"] == "http" and scope["path"] == SLACK_EVENTS:
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class Gate:
    """Lets in whoever has a pass or sends the token, and asks everybody else for it."""

    def __init__(self, app: ASGIApp, token: str | None, seals: Seals) -> None:
        self._app = app
        self._token = token
        self._seals = seals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, or ask for the token."""
        if scope["type"] != "http" or self._lets_in(HTTPConnection(scope), scope["method"]):
            await self._app(scope, receive, send)
        else:
            await _asked_for_token(HTTPConnection(scope), scope["method"])(scope, receive, send)

    def _lets_in(self, connection: HTTPConnection, method: str) -> bool:
        path: str = connection.scope["path"]
        if path in _OPEN or path.startswith("/static/"):
            return True
        # A signed link lets its one round be read, and no more; the page checks it.
        reads_round = method in {"GET", "HEAD"} and path.startswith("/rounds/")
        if reads_round and "key" in connection.query_params:
            return True
        return is_known(connection, self._token, self._seals)


def is_known(connection: HTTPConnection, token: str | None, seals: Seals) -> bool:
    """Say whether somebody has a pass or sends the token, where one is asked for."""
    sent = connection.headers.get("authorization", "").removeprefix("Bearer ")
    return (
        not token or seals.is_pass(connection.cookies.get(PASS_COOKIE, "")) or is_token(sent, token)
    )


def is_token(sent: str, token: str) -> bool:
    """Compare in a time that says nothing of how much fits."""
    return compare_digest(sent.encode(), token.encode())


def _asked_for_token(connection: HTTPConnection, method: str) -> Response:
    if method == "GET" and "text/html" in connection.headers.get("accept", ""):
        query = f"?{connection.url.query}" if connection.url.query else ""
        wanted = connection.url.path + query
        return RedirectResponse(f"/login?next={quote(wanted)}", status_code=303)
    return PlainTextResponse(
        "This page needs COUNCIL_WEB_TOKEN, as a bearer token or by /login.\n", status_code=401
    )
