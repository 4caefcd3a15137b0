"""Visitors: who looks at the page, known again by a cookie, and let in by the token."""

import hashlib
import re
import secrets
from dataclasses import dataclass

from starlette.requests import HTTPConnection
from starlette.responses import Response

from bot.chat import Asker, Said
from council.places import Place

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


def looking(visitor: Visitor) -> Said:
    """Give a visitor who says nothing, and only looks at the page."""
    return Said("", visitor.asker, place_of(visitor), "")


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
