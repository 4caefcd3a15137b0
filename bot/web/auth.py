"""Authentication of the web page: signed tokens, visitor cookies, CSRF check of forms."""

import hashlib
import hmac
import re
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address
from pathlib import Path
from tempfile import NamedTemporaryFile

from itsdangerous import BadSignature, Signer, TimestampSigner
from starlette.datastructures import UploadFile
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from bot.chat import Asker, Attachment, IncomingMessage
from council.errors import CouncilError
from council.places import Place
from council.ports import KeyValueStore

SESSION_SECONDS = 30 * 24 * 3600
MAX_FORM_BYTES = 4_000_000
MAX_FORM_FIELDS = 2_000
VISITOR_COOKIE, SESSION_COOKIE = "council_visitor", "council_pass"
_KEY_BYTES = 32
# New signatures are backdated, so that a process with a slower clock accepts them.
_CLOCK_SKEW_SECONDS = 120
_COOKIE_SECONDS = 365 * 24 * 3600
_SECRET = re.compile(r"[0-9a-f]{32}")
FORGED_LINK = (
    "This link is incomplete or was changed. Copy it again, or ask the person who shared it for a "
    "new one."
)
EXPIRED_LINK = "This link has expired. Ask the person who shared it for a new one."
REVOKED_LINK = "This link is no longer active. Ask the person who shared it for a new one."
FORGOTTEN_LINK = "What this link opened has been deleted."
SHARES = "share"  # share links by name in the key-value store
SHARED = "/shared"  # the end of the path of a page that only a share link opens


class FormError(CouncilError):
    """A form or link cannot be used; `status` is the HTTP status: 410 for a link that has ended."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class TooManyRequestsError(FormError):
    """An address or a visitor has to wait."""

    def __init__(self, retry_seconds: int) -> None:
        super().__init__(f"Too many requests came from here: try again in {retry_seconds} s.", 429)
        self.retry_seconds = retry_seconds


# --- Signed tokens


class PageSigner:
    """Signer of CSRF tokens, sessions and links: one key, with a salt for each purpose.

    A session is valid for the access token with which it was begun.
    """

    def __init__(
        self, key: bytes, now: Callable[[], float] = time.time, token: str | None = None
    ) -> None:
        session = f"pass {token or ''}"
        self.now = now
        self._key = key
        self._visitors = Signer(key, salt="visitor")
        self._forms = Signer(key, salt="form")
        self._sessions = _TimestampSigner(key, session, now)
        self._new_sessions = _TimestampSigner(key, session, now, _CLOCK_SKEW_SECONDS)
        self._links = Signer(key, salt="link")

    def new_visitor(self, address: str) -> "Visitor":
        """Return a new visitor at an address, of which the id has only a keyed digest."""
        origin = hmac.digest(self._key, f"address {address}".encode(), "sha256").hex()[:12]
        return Visitor(secrets.token_hex(16), origin, is_new=True)

    def visitor_cookie(self, visitor: "Visitor") -> str:
        """Return the cookie of a visitor, which nobody else can write."""
        return self._visitors.sign(f"{visitor.secret}.{visitor.origin}").decode()

    def read_visitor(self, cookie: str) -> "Visitor | None":
        """Return the visitor of a cookie; None if the cookie is not ours.

        Cookies of older versions are not signed; these visitors have no address.
        """
        if _SECRET.fullmatch(cookie):
            return Visitor(cookie)
        try:
            secret, _, origin = self._visitors.unsign(cookie).decode().partition(".")
        except BadSignature:
            return None
        return Visitor(secret, origin)

    def csrf_token(self, visitor: str) -> str:
        """Return the CSRF token of a visitor's forms."""
        return self._forms.get_signature(visitor).decode()

    def is_csrf_token(self, visitor: str, token: str) -> bool:
        """Return whether this is the visitor's CSRF token."""
        return self._forms.verify_signature(visitor, token)

    def session_token(self) -> str:
        """Return a session token, for a visitor who has entered the password."""
        return self._new_sessions.sign("pass").decode()

    def is_session_token(self, session: str) -> bool:
        """Return whether a session token is valid and has not expired."""
        return self._sessions.validate(session, max_age=SESSION_SECONDS + _CLOCK_SKEW_SECONDS)

    def link_key(self, round_id: str, seconds: float) -> str:
        """Return a new key of a link that opens one round for so many seconds."""
        payload = f"{secrets.token_hex(8)}.{int(self.now() + seconds)}"
        return f"{payload}.{self._links.get_signature(f'{round_id}.{payload}').decode()}"

    def verify_link(self, round_id: str, key: str) -> float:
        """Return when a link's key expires; raise FormError if it is not this round's, or has."""
        payload, _, signature = key.rpartition(".")
        if not self._links.verify_signature(f"{round_id}.{payload}".encode(), signature):
            raise FormError(FORGED_LINK, 403)
        expires = float(payload.rpartition(".")[2])
        if self.now() > expires:
            raise FormError(EXPIRED_LINK, 410)
        return expires


def link_name(round_id: str, key: str) -> str:
    """Return the name under which a link is stored; nobody can compute the key from it."""
    return f"{round_id}/{hashlib.sha256(key.encode()).hexdigest()[:32]}"


class _TimestampSigner(TimestampSigner):
    def __init__(
        self, key: bytes, salt: str, now: Callable[[], float], backdate_seconds: int = 0
    ) -> None:
        super().__init__(key, salt=salt)
        self._now = now
        self._backdate_seconds = backdate_seconds

    def get_timestamp(self) -> int:
        return int(self._now()) - self._backdate_seconds


def load_signing_key(folder: Path) -> bytes:
    """Return the signing key of the folder; the first call creates it at random."""
    file = folder / "page.key"
    folder.mkdir(parents=True, exist_ok=True)
    if not file.exists():
        # It appears whole, and only this user may read it; of two processes, the first creates it.
        with NamedTemporaryFile(dir=folder) as new:
            new.write(secrets.token_bytes(_KEY_BYTES))
            new.flush()
            with suppress(FileExistsError):
                file.hardlink_to(new.name)
    return file.read_bytes()


async def load_shared_signing_key(key_values: KeyValueStore) -> bytes:
    """Return the signing key of a cluster; the first process that asks creates it."""
    return bytes.fromhex(
        await key_values.put_if_absent("key", "page", secrets.token_hex(_KEY_BYTES))
    )


# --- Visitors and their cookies


@dataclass(frozen=True, slots=True)
class Visitor:
    """A browser. Only the browser knows `secret`; `asker.id` is stored with rounds.

    `origin` stands for the address of its first visit, whose visitors share their budget.
    """

    secret: str
    origin: str = ""
    is_new: bool = False

    @property
    def asker(self) -> Asker:
        """Return the visitor as an asker."""
        digest = hashlib.sha256(self.secret.encode()).hexdigest()[:16]
        return Asker(f"web:{self.origin}.{digest}" if self.origin else f"web:{digest}", "you")


def visitor_of(connection: HTTPConnection) -> Visitor:
    """Return the visitor that the middleware has identified."""
    visitor: Visitor = connection.scope["visitor"]
    return visitor


def address_of(connection: HTTPConnection) -> str:
    """Return the client's address, as uvicorn found it; of IPv6 the network, which is one place."""
    host = connection.client.host if connection.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or IPv6Network((host, 64), strict=False))
    return host


def place_of(visitor: Visitor, *, private: bool = False) -> Place:
    """Return the visitor's place on the page."""
    return Place("web", channel=visitor.asker.id, private=private)


def empty_message(connection: HTTPConnection) -> IncomingMessage:
    """Return a message without text, for rules that ask who is reading and where."""
    visitor = visitor_of(connection)
    return IncomingMessage("", visitor.asker, place_of(visitor), "")


def set_cookie(response: Response, connection: HTTPConnection, name: str, value: str) -> None:
    """Set a cookie that scripts cannot read and that other sites cannot send."""
    response.set_cookie(
        name,
        value,
        max_age=_COOKIE_SECONDS,
        httponly=True,
        samesite="lax",
        secure=connection.scope["scheme"] == "https",
    )


# --- Forms and bearer tokens

Form = Mapping[str, str]  # the text fields of a form; one that is missing is ""


async def read_form(signer: PageSigner, request: Request) -> Form:
    """Return a form; raise FormError if its CSRF token is wrong."""
    form = await request.form(max_part_size=MAX_FORM_BYTES, max_fields=MAX_FORM_FIELDS)
    fields = {name: value for name, value in form.items() if isinstance(value, str)}
    if not signer.is_csrf_token(visitor_of(request).secret, fields.get("token", "")):
        raise FormError("This page was open for too long: load it again, then send it.", 403)
    return defaultdict(str, fields)


async def read_uploads(request: Request, field: str = "files") -> tuple[Attachment, ...]:
    """Return the files in a field of a form; browsers send an empty one for none."""
    async with request.form() as form:
        uploads = [file for file in form.getlist(field) if isinstance(file, UploadFile)]
        contents = [(file.filename, await file.read()) for file in uploads if file.filename]
    return tuple(Attachment.of(name, content) for name, content in contents)


def bearer_of(connection: HTTPConnection) -> str:
    """Return the token that a request names in its headers, or ""."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    return token if scheme.casefold() == "bearer" else ""


def matches_token(sent: str, token: str) -> bool:
    """Compare in constant time."""
    return secrets.compare_digest(sent.encode(), token.encode())
