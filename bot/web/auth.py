"""Seals: what the page hands out and knows again, signed so that nobody else can make it."""

import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import compare_digest
from urllib.parse import quote

from itsdangerous import BadSignature, SignatureExpired, Signer, TimestampSigner
from starlette.datastructures import MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.chat import Asker, IncomingMessage
from council.errors import CouncilError
from council.places import Place
from council.ports import KeyValueStore

# --- Seals: what the page hands out and knows again, signed so that nobody else can make it.

LINK_SECONDS = 7 * 24 * 3600
PASS_SECONDS = 30 * 24 * 3600
_KEY_BYTES = 32
# A seal is dated back: to a process whose clock is behind it must not be of the future.
_BACK_SECONDS = 120


class LinkError(CouncilError):
    """A link into the page that opens nothing."""


class _Dated(TimestampSigner):
    def __init__(self, key: bytes, salt: str, now: Callable[[], float], back: int = 0) -> None:
        super().__init__(key, salt=salt)
        self._now = now
        self._back = back

    def get_timestamp(self) -> int:
        return int(self._now()) - self._back


class PageSigner:
    """Signs with one key; each kind of seal fits its own purpose only."""

    def __init__(self, key: bytes, now: Callable[[], float] = time.time) -> None:
        self._forms = Signer(key, salt="form")
        self._passes = _Dated(key, "pass", now)
        self._new_passes = _Dated(key, "pass", now, _BACK_SECONDS)
        self._links = _Dated(key, "link", now)
        self._new_links = _Dated(key, "link", now, _BACK_SECONDS)

    def form_token(self, visitor: str) -> str:
        """Give what a visitor's own forms carry, and nobody else's can."""
        return self._forms.get_signature(visitor).decode()

    def fits_form(self, visitor: str, token: str) -> bool:
        """Say whether a form came from a page that this visitor was given."""
        return self._forms.verify_signature(visitor, token)

    def new_pass(self) -> str:
        """Give the pass of somebody who knew the token."""
        return self._new_passes.sign("pass").decode()

    def is_pass(self, found: str) -> bool:
        """Say whether this is a pass that has not run out."""
        return self._passes.validate(found, max_age=PASS_SECONDS + _BACK_SECONDS)

    def link_key(self, round_id: str) -> str:
        """Give the key that opens one round for a week, for a link in a chat."""
        return self._new_links.sign(round_id).decode().removeprefix(f"{round_id}.")

    def open(self, round_id: str, key: str) -> None:
        """Raise LinkError unless the key opens this round, and still does."""
        try:
            self._links.unsign(f"{round_id}.{key}", max_age=LINK_SECONDS + _BACK_SECONDS)
        except SignatureExpired:
            raise LinkError(
                "This link has run out: ask for the round in the chat it came from."
            ) from None
        except BadSignature:
            raise LinkError(
                "This link is not whole, or not ours: open it again from the chat it came from."
            ) from None


def seal_key(token: str | None, folder: Path) -> bytes:
    """Give the key: from the token, the same on every machine, else one kept in the folder."""
    if token:
        return hashlib.sha256(f"council page {token}".encode()).digest()
    file = folder / "page.key"
    folder.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        _put_whole(file, secrets.token_bytes(_KEY_BYTES))
    return file.read_bytes()


async def shared_key(memos: KeyValueStore) -> bytes:
    """Give the key that every process of a cluster has: whoever comes first makes it."""
    return bytes.fromhex(await memos.first("key", "page", secrets.token_hex(_KEY_BYTES)))


def _put_whole(file: Path, content: bytes) -> None:
    """Make a file that only we may read, whole or not at all; one that is there already stays."""
    new = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(content)
    with suppress(FileExistsError):
        file.hardlink_to(new)
    new.unlink()


# --- Visitors: who looks at the page, known again by a cookie, and let in by the token.

VISITOR_COOKIE, PASS_COOKIE = "council_visitor", "council_pass"
_YEAR_SECONDS = 365 * 24 * 3600
_SECRET = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody with a browser. Only the browser knows `secret`; `asker.id` is kept with rounds."""

    secret: str
    new: bool = False

    @property
    def asker(self) -> Asker:
        """Who this is to the rest of the bot."""
        return Asker(f"web:{hashlib.sha256(self.secret.encode()).hexdigest()[:16]}", "you")


def visitor_of(connection: HTTPConnection) -> Visitor:
    """Give who this is, or somebody new."""
    secret = connection.cookies.get(VISITOR_COOKIE, "")
    if _SECRET.fullmatch(secret):
        return Visitor(secret)
    return Visitor(secrets.token_hex(16), new=True)


def place_of(visitor: Visitor, *, private: bool = False) -> Place:
    """Give the visitor's place on the page."""
    return Place("web", channel=visitor.asker.id, private=private)


def looking(visitor: Visitor) -> IncomingMessage:
    """Give a visitor who says nothing, and only looks at the page."""
    return IncomingMessage("", visitor.asker, place_of(visitor), "")


def remember(response: Response, connection: HTTPConnection, name: str, value: str) -> None:
    """Set a cookie that scripts cannot read and other sites cannot send along."""
    response.set_cookie(
        name,
        value,
        max_age=_YEAR_SECONDS,
        httponly=True,
        samesite="lax",
        secure=connection.url.scheme == "https",
    )


# --- The gate before the page: headers that keep content harmless, and the token where one is set

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


class SecurityHeadersMiddleware:
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


class TrustedHostsMiddleware(TrustedHostMiddleware):
    """Answers only to some names, so that no foreign site can make its own point here."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, save under a strange name; Slack comes by whatever name a tunnel has."""
        if scope["type"] == "http" and scope["path"] == SLACK_EVENTS:
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class TokenMiddleware:
    """Lets in whoever has a pass or sends the token, and asks everybody else for it."""

    def __init__(self, app: ASGIApp, token: str | None, seals: PageSigner) -> None:
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


def is_known(connection: HTTPConnection, token: str | None, seals: PageSigner) -> bool:
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
