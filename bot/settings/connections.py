"""Panels, models and keys that people add on the page while the bot runs; two files of theirs.

`connected.json` has the form of council.toml, which takes precedence; `keys.json` has the keys.
"""

import hashlib
import json
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkstemp
from urllib.parse import urlsplit

from pydantic import SecretStr

from bot.plugins import Plugins
from bot.settings.council_toml import Document, ModelSection
from bot.settings.panels import (
    GRACE_SECONDS,
    PanelConfig,
    Seat,
    make_seat,
    parse_panel_config,
)
from bot.settings.provider_keys import (
    CONNECTED_FILE,
    KEYS_FILE,
    Address,
    ProviderKeys,
    address_of,
    connected_key_variable,
    read_json,
    read_keys,
)
from council.errors import CouncilError
from council.panel import MAX_MEMBERS, MIN_MEMBERS
from council.providers import Provider, is_loopback

_LOCK_SECONDS = 5
# A connection names its panel too, which has at most 32 characters.
_HOST_CHARACTERS, _DIGESTED_CHARACTERS = 24, 21
_PANEL_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_RESERVED_NAMES = frozenset({"local", "scripted"})
_ON_THE_NETWORK = re.compile(r"[^.]+|[\d.]+|\[.*|.*\.(local|lan|internal)")  # hosts without https


class ConnectionFormError(CouncilError):
    """What a person entered cannot be used; `fixes` are better values by field."""

    def __init__(self, message: str, **fixes: str) -> None:
        super().__init__(message)
        self.fixes = fixes


class PanelConflictError(ConnectionFormError):
    """A panel was changed after its form was opened."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A provider at an address, with the key for it; once tested, its models, by whom and when.

    `name` is its name in files and panels (`connection_name`).
    """

    name: str
    provider: Provider
    base: str
    key: SecretStr
    models: tuple[str, ...] = ()
    owner: str = ""
    tested_at: float = 0.0

    @property
    def address(self) -> Address:
        """The address that its key is bound to."""
        return Address.parse(self.base)

    def seat(self, model: str) -> Seat:
        """Return the seat of one of its models, which uses this connection's key alone."""
        route = "openai" if self.provider.name == "custom" else self.provider.name
        section = ModelSection(
            model=None if self.name == route else f"{route}/{model}",
            api_base=None if self.base == self.provider.base else self.base,
            api_key_env=connected_key_variable(self.name),
        )
        return make_seat(f"{self.name}/{model}", section)


def connection_name(provider: Provider, base: str, seats: Iterable[Seat]) -> str:
    """Return the name of a connection: its provider's, or one made of its address.

    If one of the `seats` with that name is at another address, a digest of this one is added.
    """
    address, name = Address.parse(base), provider.name
    if name == "custom":
        host = "server" if is_loopback(address.host) else address.host
        slug = _slug(f"{host[:_HOST_CHARACTERS]} {urlsplit(base).port or ''}")
        name = slug if "-" in slug else f"{slug}-server"
    namesakes = (seat for seat in seats if seat.member.key.startswith(f"{name}/"))
    if {seat_address(seat) for seat in namesakes} <= {address}:
        return name
    return f"{name[:_DIGESTED_CHARACTERS].rstrip('-')}-{address.digest}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def seat_address(seat: Seat) -> Address | None:
    """Return where a seat's calls go; None if only litellm knows."""
    return address_of(seat.member.model_id, seat.section.api_base)


def parse_address(text: str) -> str:
    """Return the address of a server without trailing parts; raise ConnectionFormError."""
    address = text.strip().rstrip("/")
    if address and "://" not in address:
        host = re.sub(r"(:\d+)?(/.*)?$", "", address)
        fix = f"{'http' if _ON_THE_NETWORK.fullmatch(host) else 'https'}://{address}"
        raise ConnectionFormError(
            f"The address needs http:// or https:// in front. Did you mean {fix}?", address=fix
        )
    address = re.sub(r"(/chat/completions|/models)$", "", address)
    try:
        parts = urlsplit(address)
        is_usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or re.search(r"[^!-~]|[@?#]", address):
        raise ConnectionFormError(
            "This is not the address of a server. Enter one like http://127.0.0.1:8080/v1, without "
            "a user name; the key has its own field."
        )
    return address


def check_panel_seats(name: str, members: Sequence[str], judges: Sequence[str]) -> None:
    """Raise ConnectionFormError unless these seats can form a panel of this name."""
    if not _PANEL_NAME.fullmatch(name) or name in _RESERVED_NAMES:
        raise ConnectionFormError(
            "Choose another panel name: small letters, digits and hyphens, at most 32."
        )
    if len(members) < MIN_MEMBERS:
        raise ConnectionFormError(
            "A panel needs at least two models: models rank each other's answers, never their own. "
            "Add another one."
        )
    if len(members) > MAX_MEMBERS:
        raise ConnectionFormError(f"At most {MAX_MEMBERS} models can answer. Remove some.")
    seats = [*members, *judges]
    if twice := next((seat for seat in seats if seats.count(seat) > 1), None):
        raise ConnectionFormError(f"{twice} is in this panel twice. Remove one of them.")


@dataclass(frozen=True, slots=True)
class Connections:
    """What adding models at run time needs: where they are stored, and how they are put into use.

    `own` is council.toml, which takes precedence; `offers` are what was found here. `list_models`,
    of a provider, its address and a key, raises ModelListError if there are none; `try_seat` if a
    seat does not answer. `activate` puts what is stored into use in this process; it gets the panel
    that was just made the default, if any. `pending` has tested connections by code, until they
    are stored.
    """

    folder: Path
    own: PanelConfig
    offers: PanelConfig
    ollama: str
    list_models: Callable[[Provider, str, str], Awaitable[tuple[str, ...]]]
    try_seat: Callable[[Connection, Seat], Awaitable[None]]
    activate: Callable[[str | None], Awaitable[None]]
    pending: dict[str, Connection] = field(default_factory=dict)


# --- Files


def load_connected(folder: Path, plugins: Plugins | None = None) -> tuple[PanelConfig, str | None]:
    """Return what was added on the page, and the panel it makes the default, if any.

    `plugins` are those of council.toml, whose methods its panels can have.
    """
    document = read_document(folder)
    config = parse_panel_config(document, folder / CONNECTED_FILE, plugins)
    return config, document.get("default_panel")


def read_document(folder: Path) -> Document:
    """Return what was added on the page, as in council.toml; raise SettingsError."""
    return read_json(folder / CONNECTED_FILE)


def known_seats(document: Document, found: Connection | None = None) -> dict[str, Seat]:
    """Return the seats that panels can have: those stored, and those of a new connection."""
    sections = document.get("models", {}).items()
    stored = {key: make_seat(key, ModelSection(**section)) for key, section in sections}
    seats = map(found.seat, found.models) if found else ()
    return stored | {seat.member.key: seat for seat in seats}


@dataclass(frozen=True, slots=True)
class PanelDraft:
    """A panel as its form shows it; `version` is a digest of the stored one, if any.

    With `becomes_default`, questions go to it from now on.
    """

    name: str
    members: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    version: str = ""
    becomes_default: bool = False


def stored_panel(document: Document, name: str) -> PanelDraft:
    """Return a stored panel; one without members and version if there is none."""
    if not (section := document.get("panels", {}).get(name)):
        return PanelDraft(name)
    version = hashlib.sha256(json.dumps(section, sort_keys=True).encode()).hexdigest()[:16]
    members, judges = tuple(section["members"]), tuple(section.get("outside_judges", ()))
    return PanelDraft(name, members, judges, version)


def store_panel(
    folder: Path,
    draft: PanelDraft,
    seats: Mapping[str, Seat],
    connection: Connection | None = None,
    plugins: Plugins | None = None,
) -> None:
    """Store a panel and the key of its connection for this user alone; without members, remove it.

    `plugins` as in load_connected. Raise PanelConflictError if the panel has changed since,
    SettingsError if it is invalid. Then nothing is stored.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    from filelock import FileLock  # only who adds models needs it

    with FileLock(folder / f"{CONNECTED_FILE}.lock", timeout=_LOCK_SECONDS, mode=0o600):
        document, name = read_document(folder), draft.name
        if stored_panel(document, name).version != draft.version:
            raise PanelConflictError(
                f"The panel {name} was changed elsewhere after you opened this form. Nothing was "
                "lost: your choices are still here. Save again to replace the other change."
            )
        keys = read_keys(folder)
        _check_addresses(known_seats(document), seats)
        panels, models = document.setdefault("panels", {}), document.setdefault("models", {})
        sections = {"members": draft.members, "outside_judges": draft.judges}
        # Models on a server of one's own may wait for each other.
        is_hosted = not any(seat.section.api_base for seat in seats.values())
        terms = {"grace_seconds": GRACE_SECONDS} if is_hosted else {}
        panels[name] = panels.get(name, terms) | sections
        models |= {k: seat.section.model_dump(exclude_defaults=True) for k, seat in seats.items()}
        if not draft.members:
            del panels[name]
        if draft.becomes_default:
            document["default_panel"] = name
        if document.get("default_panel") not in panels:
            document.pop("default_panel", None)
        parse_panel_config(document, folder / CONNECTED_FILE, plugins)
        if connection and connection.key.get_secret_value():
            keys = keys.with_key(connection.address, connection.key, document)
        if keys != ProviderKeys():
            _write_json(folder / KEYS_FILE, keys.to_document())
        _write_json(folder / CONNECTED_FILE, document)


def _check_addresses(stored: Mapping[str, Seat], seats: Mapping[str, Seat]) -> None:
    """Raise ConnectionFormError if a seat would move to another address."""
    for key, seat in seats.items():
        if key in stored and seat_address(stored[key]) != seat_address(seat):
            raise ConnectionFormError(
                f"{key} was connected at {seat_address(stored[key])} in the meantime. Connect this "
                "server again; its models get another name."
            )


def _write_json(file: Path, document: Document) -> None:
    """Replace a file's content at once; only this user can read it."""
    descriptor, name = mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            json.dump(document, opened, indent=2)
            opened.flush()
            os.fsync(opened.fileno())
        Path(name).replace(file)
    finally:
        Path(name).unlink(missing_ok=True)
