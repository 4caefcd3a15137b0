"""Seals: what the page hands out and knows again, signed so that nobody else can make it."""

import hashlib
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from itsdangerous import BadSignature, SignatureExpired, Signer, TimestampSigner

from council.errors import CouncilError
from council.ports import Memos

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


class Seals:
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


async def shared_key(memos: Memos) -> bytes:
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
