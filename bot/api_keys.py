"""Named API keys: created, listed, revoked and checked; only a digest of each is stored."""

import re
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from pydantic import TypeAdapter

from council.budget_caps import OwnBudget, payer
from council.errors import CouncilError
from council.money import cap_micro_usd
from council.ports import KeyValueStore

KEY_ASKER = "api:"  # what the asker id of a key begins with
KEY_PREFIX = "council_"  # what every key begins with, so that scanners can find it
NAME_RULE = "Use 1 to 40 small letters, digits, hyphens and underscores."
MAX_CAP_USD = 1_000_000
CAP_RULE = "Write the limit in US dollars a day, such as 2.50, or leave it out."
KEY_KIND = "api_key"  # the kind of memo
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_SECRET_BYTES = 32


class ApiKeyError(CouncilError):
    """A key cannot be created, or none has this name."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A named key: which panels it may ask (none: all), and up to which cost a day.

    `made_by` is the id of the visitor who made it and whose budget it spends; "" for a key that an
    admin made, which has its own budget, and None for a key of a version that did not store it.
    `digest` is empty for a key that was imported: no text opens it until it is made again.
    """

    name: str
    digest: str
    created_at: datetime
    panels: tuple[str, ...] = ()
    cap_micro_usd: int | None = None
    revoked_at: datetime | None = None
    made_by: str | None = None

    @property
    def asker_id(self) -> str:
        """The id under which its rounds are stored and paid."""
        return f"{KEY_ASKER}{self.name}"

    def day_limit(self, user_day: int | None) -> int | None:
        """Return what it may spend a day in micro-dollars; `user_day` limits every asker."""
        return user_day if self.cap_micro_usd is None else self.cap_micro_usd

    def allows(self, panel: str) -> bool:
        """Return whether the key may ask a panel."""
        return not self.panels or panel in self.panels


_JSON = TypeAdapter(ApiKey)


def new_key(
    name: str,
    created_at: datetime,
    panels: tuple[str, ...] = (),
    cap_usd: float | None = None,
    made_by: str = "",
) -> tuple[ApiKey, str]:
    """Return a new key and its text, which nothing stores.

    Raise ApiKeyError for a name or a daily cap that cannot be used.
    """
    if cap_usd is not None and not 0 <= cap_usd <= MAX_CAP_USD:
        raise ApiKeyError(CAP_RULE)
    cap = None if cap_usd is None else cap_micro_usd(cap_usd)
    if not _NAME.fullmatch(name):
        raise ApiKeyError(f"{name[:60]!r} can't be the name of a key. {NAME_RULE}")
    text = f"{KEY_PREFIX}{name}.{secrets.token_urlsafe(_SECRET_BYTES)}"
    return ApiKey(name, _digest(text), created_at, panels, cap, made_by=made_by), text


async def save_key(key_values: KeyValueStore, key: ApiKey) -> None:
    """Store a new key, or an imported one again; raise ApiKeyError if its name is taken.

    A revoked key takes its name, too.
    """
    stored = _JSON.validate_json(await key_values.put_if_absent(KEY_KIND, key.name, _dump(key)))
    if not (stored.digest or stored.revoked_at) and stored.made_by == key.made_by:
        await key_values.put(KEY_KIND, key.name, _dump(key))
    elif stored != key:
        raise ApiKeyError(
            f"There is or was a key named {key.name!r}, and its questions carry that name. Choose "
            "another one."
        )


async def list_keys(key_values: KeyValueStore) -> tuple[ApiKey, ...]:
    """Return every key by name, including revoked ones."""
    stored = await key_values.list_texts(KEY_KIND)
    return tuple(_JSON.validate_json(stored[name]) for name in sorted(stored))


async def revoke_key(key_values: KeyValueStore, name: str, at: datetime) -> ApiKey:
    """Revoke a key from now on; one that is revoked already stays as it is."""
    key = await _load(key_values, name)
    if key is None:
        raise ApiKeyError(f"There is no key named {name[:60]!r}. List them with: council key list")
    if key.revoked_at is None:
        key = replace(key, revoked_at=at)
        await key_values.put(KEY_KIND, name, _dump(key))
    return key


async def find_key(key_values: KeyValueStore, text: str) -> ApiKey | None:
    """Return the key with this text, even a revoked one; None if there is none."""
    name = text.removeprefix(KEY_PREFIX).partition(".")[0]
    if not text.startswith(KEY_PREFIX) or not _NAME.fullmatch(name):
        return None
    key = await _load(key_values, name)
    return key if key and secrets.compare_digest(key.digest, _digest(text)) else None


async def own_budget(key_values: KeyValueStore, asker_id: str) -> OwnBudget | None:
    """Return the budget of the key behind an asker id; None for anybody without a key."""
    if not asker_id.startswith(KEY_ASKER):
        return None
    key = await _load(key_values, asker_id.removeprefix(KEY_ASKER))
    if key is None:
        return None
    return OwnBudget(key.cap_micro_usd, payer(key.made_by) if key.made_by else "")


def without_secret(name: str, text: str) -> str:
    """Return a stored key without its digest; raise ValueError if it is not the key's."""
    key = _JSON.validate_json(text)
    if key.name != name or not _NAME.fullmatch(name) or key.created_at.tzinfo is None:
        raise ValueError("this is not the key of this name")
    return _dump(replace(key, digest=""))


async def _load(key_values: KeyValueStore, name: str) -> ApiKey | None:
    stored = await key_values.read(KEY_KIND, name)
    return None if stored is None else _JSON.validate_json(stored)


def _dump(key: ApiKey) -> str:
    return _JSON.dump_json(key).decode()


def _digest(text: str) -> str:
    # The text is long and random, so a slow digest would protect nothing.
    return sha256(text.encode()).hexdigest()
