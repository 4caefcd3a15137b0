"""ASGI middleware of the web page: security headers, rate limits, trusted hosts, access token."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.api_keys import find_key
from bot.chats import ChatRoute
from bot.web.api import authenticate
from bot.web.api_requests import API
from bot.web.auth import (
    SHARED,
    VISITOR_COOKIE,
    Visitor,
    address_of,
    bearer_of,
)
from bot.web.context import WebContext
from bot.web.legal import LEGAL_PATHS
from bot.web.mcp import MCP
from council.errors import CouncilError

Refuse = Callable[[Request, Exception], Awaitable[Response]]

_PUBLIC_PATHS = {"/healthz", "/readyz", "/login", *LEGAL_PATHS}
_UNLIMITED_PATHS = {"/healthz", "/readyz"}  # checks of balancers
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
                if b"key=" in scope["query_string"]:  # a share link, which no index should list
                    headers["X-Robots-Tag"] = "noindex, nofollow"
            await send(message)

        await self._app(scope, receive, send_with_headers)


class ApiOriginsMiddleware(CORSMiddleware):
    """Middleware that lets pages of these origins call the API, which has no cookies."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(
            app,
            allow_origins=origins,
            allow_methods=("GET", "POST"),
            allow_headers=("*",),
            expose_headers=("Retry-After", "x-should-retry"),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; only one of the API may come from another origin."""
        is_api = scope["type"] == "http" and scope["path"].startswith(API)
        handle = super().__call__ if is_api and self.allow_origins else self.app
        await handle(scope, receive, send)


class TrustedHostsMiddleware(TrustedHostMiddleware):
    """Middleware against DNS rebinding: answers only to trusted host names.

    Paths that show no round may use any host name, as a tunnel does: `public` and legal ones.
    """

    def __init__(self, app: ASGIApp, allowed_hosts: Sequence[str], public: Iterable[str]) -> None:
        super().__init__(app, allowed_hosts)
        self._any_host = {*public, *LEGAL_PATHS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or refuse its host name."""
        if scope["type"] == "http" and scope["path"] in self._any_host:
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class GateMiddleware:
    """Middleware that identifies the visitor, limits requests, and requires a session or the token.

    Public paths, those of chats and signed links need neither. The body of a refused request is
    never read.
    """

    def __init__(
        self,
        app: ASGIApp,
        context: WebContext,
        refuse: Refuse,
        chat_routes: Sequence[ChatRoute] = (),
    ) -> None:
        self._app = app
        self._context = context
        self._refuse = refuse
        self._public = {*_PUBLIC_PATHS, *(route.path for route in chat_routes)}
        unlimited = (route.path for route in chat_routes if not route.is_limited)
        self._unlimited = {*_UNLIMITED_PATHS, *unlimited}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, ask for the token, or say when to try again."""
        app = self._app
        if scope["type"] == "http":
            request, signer = Request(scope), self._context.signer
            known = signer.read_visitor(request.cookies.get(VISITOR_COOKIE, ""))
            scope["visitor"] = known or signer.new_visitor(address_of(request))
            is_api = scope["path"].startswith(API) or scope["path"].rstrip("/") == MCP
            try:
                self._check_limits(request, known)
                if is_api:
                    scope["api_key"] = await authenticate(self._context, request)
                else:
                    await self._check_bearer(request)
            # A stranger's request is not read, so the connection cannot be used again.
            except CouncilError as error:
                app = await self._refuse(request, error)
                app.headers["Connection"] = "close"
            else:
                is_allowed = is_api or self._is_allowed(request)
                app = app if is_allowed else _login_required(request)
        await app(scope, receive, send)

    def _check_limits(self, request: Request, visitor: Visitor | None) -> None:
        address, limits, path = address_of(request), self._context.limits, request.scope["path"]
        if path in self._unlimited or path.startswith("/static/"):
            return
        is_form = request.method == "POST"
        counted = [(limits.address, address), *[(limits.address_forms, address)] * is_form]
        if visitor:
            secret = visitor.secret
            counted += [(limits.visitor, secret), *[(limits.visitor_forms, secret)] * is_form]
        for limit, key in counted:
            limit.check(key)
            limit.count(key)

    async def _check_bearer(self, request: Request) -> None:
        """Count a wrong token as a guess, unless it is an API key, which opens no page."""
        token, sent = self._context.token, bearer_of(request)
        if token and sent and await find_key(self._context.app.key_values, sent) is None:
            self._context.limits.is_right_token(request, token, sent)

    def _is_allowed(self, request: Request) -> bool:
        path: str = request.scope["path"]
        # Clients of MCP look here for OAuth; a 404 says that there is none.
        if path in self._public or path.startswith(("/static/", "/.well-known/")):
            return True
        # A signed link only opens what it was made for; the handler checks the signature.
        is_shared = path.startswith("/rounds/") or path.endswith(SHARED)
        reads_shared = request.method in {"GET", "HEAD"} and is_shared
        return (reads_shared and "key" in request.query_params) or (
            self._context.is_authenticated(request)
        )


def _login_required(request: Request) -> Response:
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        query = request.scope["query_string"].decode("latin-1")
        target = quote(request.scope["path"]) + (f"?{query}" if query else "")
        return RedirectResponse(f"/login?next={quote(target)}", status_code=303)
    return PlainTextResponse(
        "This page needs COUNCIL_WEB_TOKEN, as a bearer token or by /login.\n",
        status_code=401,
        headers={"Connection": "close"},
    )
