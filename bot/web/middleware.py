"""ASGI middleware of the web page: security headers, rate limits, trusted hosts, access token."""

from collections.abc import Awaitable, Callable
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.web.auth import (
    SLACK_EVENTS,
    VISITOR_COOKIE,
    PageSigner,
    TooManyRequestsError,
    address_of,
    bearer_of,
    is_authenticated,
    matches_token,
)
from bot.web.context import WebContext

_PUBLIC_PATHS = {"/healthz", "/readyz", "/login", SLACK_EVENTS}
# Checks of balancers, files that browsers keep, and Slack, which signs what it sends.
_UNLIMITED_PATHS = {"/healthz", "/readyz", SLACK_EVENTS}
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


class SecurityHeadersMiddleware:
    """Middleware that adds security and cache headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                # The query string of a static file changes with its content.
                is_versioned = scope["path"].startswith("/static/") and scope["query_string"]
                cache = (
                    "public, max-age=31536000, immutable" if is_versioned else "private, no-cache"
                )
                headers.setdefault("Cache-Control", cache)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class RateLimitMiddleware:
    """Middleware that identifies the visitor, and refuses too many requests or wrong tokens."""

    def __init__(
        self,
        app: ASGIApp,
        context: WebContext,
        refuse: Callable[[Request, Exception], Awaitable[Response]],
    ) -> None:
        self._app = app
        self._context = context
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or send when to try again."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        address, signer = address_of(request), self._context.signer
        known = signer.read_visitor(request.cookies.get(VISITOR_COOKIE, ""))
        scope["visitor"] = known or signer.new_visitor(address)
        try:
            self._check_bearer(request, address)
            if scope["path"] not in _UNLIMITED_PATHS and not scope["path"].startswith("/static/"):
                self._count(scope["method"], address, known.secret if known else None)
        except TooManyRequestsError as error:
            await (await self._refuse(request, error))(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _check_bearer(self, request: Request, address: str) -> None:
        sent, token, failures = (
            bearer_of(request),
            self._context.token,
            self._context.limits.failures,
        )
        if token and sent:
            failures.check(address)  # even a right guess does not count then
            if not matches_token(sent, token):
                failures.count(address)

    def _count(self, method: str, address: str, visitor: str | None) -> None:
        limits = self._context.limits
        counted = [(limits.address, address), (limits.visitor, visitor)]
        if method == "POST":
            counted += [(limits.address_forms, address), (limits.visitor_forms, visitor)]
        for limit, key in counted:
            if key is not None:
                limit.check(key)
                limit.count(key)


class TrustedHostsMiddleware(TrustedHostMiddleware):
    """Middleware against DNS rebinding: answers only to trusted host names."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; Slack's may use any host name, such as a tunnel's."""
        if scope["type"] == "http" and scope["path"] == SLACK_EVENTS:
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class TokenMiddleware:
    """Middleware that requires a session or the token, except on public paths and signed links."""

    def __init__(self, app: ASGIApp, token: str | None, signer: PageSigner) -> None:
        self._app = app
        self._token = token
        self._signer = signer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or ask for the token."""
        if scope["type"] != "http" or self._is_allowed(HTTPConnection(scope), scope["method"]):
            await self._app(scope, receive, send)
        else:
            response = _login_required(HTTPConnection(scope), scope["method"])
            await response(scope, receive, send)

    def _is_allowed(self, connection: HTTPConnection, method: str) -> bool:
        path: str = connection.scope["path"]
        if path in _PUBLIC_PATHS or path.startswith("/static/"):
            return True
        # A signed link only opens its round; the handler checks the signature.
        reads_round = method in {"GET", "HEAD"} and path.startswith("/rounds/")
        if reads_round and "key" in connection.query_params:
            return True
        return is_authenticated(connection, self._token, self._signer)


def _login_required(connection: HTTPConnection, method: str) -> Response:
    if method == "GET" and "text/html" in connection.headers.get("accept", ""):
        query = f"?{connection.url.query}" if connection.url.query else ""
        target = connection.url.path + query
        return RedirectResponse(f"/login?next={quote(target)}", status_code=303)
    return PlainTextResponse(
        "This page needs COUNCIL_WEB_TOKEN, as a bearer token or by /login.\n", status_code=401
    )
