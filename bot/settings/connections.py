"""Panels, models and keys that people add on the page while the bot runs; two files of theirs.

`connected.toml` has the form of council.toml, which takes precedence; `keys.json` has the keys.
"""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from tempfile import mkstemp
from typing import Any
from urllib.parse import urlsplit

from filelock import FileLock
from pydantic import SecretStr

from bot.settings.council_toml import Document, ModelSection, SettingsError
from bot.settings.environment import KEYS_FILE, connected_key_variable
from bot.settings.panels import PanelConfig, Seat, load_panel_config, make_seat, parse_panel_config
from council.errors import CouncilError
from council.panel import MAX_MEMBERS, MIN_MEMBERS
from council.providers import Provider, is_loopback

CONNECTED_FILE = "connected.toml"
_LOCK_SECONDS = 5
_PANEL_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_RESERVED_NAMES = frozenset({"local", "scripted"})
_PRIVATE_NAMES = (".local", ".lan", ".internal", ".home")


class ConnectionFormError(CouncilError):
    """What a person entered cannot be used; `fixes` are better values by field."""

    def __init__(self, message: str, **fixes: str) -> None:
        super().__init__(message)
        self.fixes = fixes


class PanelConflictError(ConnectionFormError):
    """A panel was changed after its form was opened."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A provider at an address, with the key for it."""

    provider: Provider
    base: str
    key: SecretStr

    @property
    def name(self) -> str:
        """Its name in files and panels: the provider's, or one made of its address."""
        if self.provider.name != "custom":
            return self.provider.name
        parts = urlsplit(self.base)
        host = "server" if is_loopback(parts.hostname or "") else parts.hostname or ""
        slug = re.sub(r"[^a-z0-9]+", "-", f"{host[:24]} {parts.port or ''}".lower()).strip("-")
        return slug if "-" in slug else f"{slug}-server"

    def seat(self, model: str) -> Seat:
        """Return the seat of one of its models, which uses this connection's key alone."""
        section: dict[str, Any] = {}
        key = f"{self.name}/{model}"
        if self.provider.name == "custom":
            section["model"] = f"openai/{model}"
        if self.base != self.provider.base:
            section["api_base"] = self.base
        if self.provider.name != "ollama":
            section["api_key_env"] = connected_key_variable(self.name)
        return make_seat(key, ModelSection(**section))


def parse_address(text: str) -> str:
    """Return the address of a server without trailing parts; raise ConnectionFormError."""
    address = text.strip().rstrip("/")
    if address and "://" not in address:
        host = address.partition("/")[0].rpartition(":")[0] or address.partition("/")[0]
        fix = f"{'http' if _is_private(host.strip('[]')) else 'https'}://{address}"
        raise ConnectionFormError(
            f"The address needs http:// or https:// in front. Did you mean {fix}?", address=fix
        )
    for ending in ("/chat/completions", "/models"):
        address = address.removesuffix(ending)
    try:
        parts = urlsplit(address)
        is_usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        is_usable, parts = False, urlsplit("")
    if not is_usable or not address.isprintable() or " " in address:
        raise ConnectionFormError(
            "This is not a web address. Enter one like http://127.0.0.1:8080/v1."
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ConnectionFormError(
            "Enter the address without a user name, question mark or #; the key has its own field."
        )
    return address


def _is_private(host: str) -> bool:
    try:
        return ip_address(host).is_private
    except ValueError:
        return is_loopback(host) or "." not in host or host.endswith(_PRIVATE_NAMES)


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
class PendingConnection:
    """A connection that works and is not stored yet; `owner` is the visitor who tested it."""

    connection: Connection
    models: tuple[str, ...]
    owner: str
    tested_at: float


@dataclass(frozen=True, slots=True)
class Connections:
    """What adding models at run time needs: where they are stored, and how they are put into use.

    `own` is council.toml, which takes precedence. `list_models` raises ModelListError
    if a provider lists none, `try_seat` if a seat does not answer. `activate` puts what is stored
    into use in this process.
    """

    folder: Path
    own: PanelConfig
    ollama: str
    list_models: Callable[[Connection], Awaitable[tuple[str, ...]]]
    try_seat: Callable[[Connection, Seat], Awaitable[None]]
    activate: Callable[[], Awaitable[None]]
    pending: dict[str, PendingConnection] = field(default_factory=dict)


# --- Files


def load_connected(folder: Path) -> tuple[PanelConfig, str | None]:
    """Return what was added on the page, and the panel it makes the default, if any."""
    path = folder / CONNECTED_FILE
    config = load_panel_config(path if path.exists() else None)
    default = read_document(folder).get("default_panel")
    return config, default if default in config.panels else None


def read_document(folder: Path) -> Document:
    """Return `connected.toml`; {} if there is none. Raise SettingsError if it is not TOML."""
    path = folder / CONNECTED_FILE
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (OSError, ValueError) as error:
        raise SettingsError([f"{path} cannot be read ({error}). Repair or delete it."]) from None


def known_seats(document: Document, found: PendingConnection | None = None) -> dict[str, Seat]:
    """Return the seats that panels can have: those stored, and those of a new connection."""
    sections = document.get("models", {}).items()
    stored = {key: make_seat(key, ModelSection(**section)) for key, section in sections}
    seats = map(found.connection.seat, found.models) if found else ()
    return stored | {seat.member.key: seat for seat in seats}


def panel_version(document: Document, name: str) -> str:
    """Return a digest of a panel, "" if there is none, to notice that it was changed."""
    section = document.get("panels", {}).get(name)
    text = json.dumps(section, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16] if section else ""


@dataclass(frozen=True, slots=True)
class PanelChange:
    """New seats of a panel; `version` is that of the panel when its form was opened.

    `models` are settings of new seats. `seats` are None to remove the panel.
    """

    name: str
    version: str
    seats: tuple[Sequence[str], Sequence[str]] | None
    models: Mapping[str, Seat]
    becomes_default: bool = False


def store_change(folder: Path, change: PanelChange, connection: Connection | None = None) -> None:
    """Store a changed panel, and the key of a connection; both files are for this user alone.

    Raise PanelConflictError if the panel has changed since, SettingsError if it is invalid. Then
    nothing is stored.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(folder / f"{CONNECTED_FILE}.lock", timeout=_LOCK_SECONDS, mode=0o600):
        document = read_document(folder)
        if panel_version(document, change.name) != change.version:
            raise PanelConflictError(
                f"The panel {change.name} was changed elsewhere after you opened this form. "
                "Nothing was lost: your choices are still here. Save again to replace the other "
                "change with yours."
            )
        panels, models = document.setdefault("panels", {}), document.setdefault("models", {})
        if change.seats is None:
            panels.pop(change.name, None)
        else:
            members, judges = map(list, change.seats)
            seats = {"members": members, "outside_judges": judges}
            panels[change.name] = panels.get(change.name, {}) | seats
        sections = {key: seat.section for key, seat in change.models.items()}
        models |= {key: one.model_dump(exclude_defaults=True) for key, one in sections.items()}
        if change.becomes_default:
            document["default_panel"] = change.name
        if document.get("default_panel") not in panels:
            document.pop("default_panel", None)
        parse_panel_config(document, folder / CONNECTED_FILE)
        if connection and connection.key.get_secret_value():
            _store_key(folder / KEYS_FILE, connection)
        _write(folder / CONNECTED_FILE, _toml(document))


def _store_key(file: Path, connection: Connection) -> None:
    stored = json.loads(file.read_bytes()) if file.exists() else {}
    stored[connection.name] = connection.key.get_secret_value()
    _write(file, json.dumps(stored, indent=2) + "\n")


def _write(file: Path, text: str) -> None:
    """Replace a file's content at once; only this user can read it."""
    descriptor, name = mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        Path(name).replace(file)
    finally:
        Path(name).unlink(missing_ok=True)


def _toml(document: Document) -> str:
    """Return a document of plain values and sections of sections as TOML."""
    lines = ["# Written by the page. Panels of the same name in council.toml take precedence."]
    sections = {name: value for name, value in document.items() if isinstance(value, dict)}
    # JSON's strings, numbers, booleans and lists of them are TOML's.
    lines += [f"{k} = {json.dumps(v)}" for k, v in document.items() if k not in sections]
    for kind, named in sections.items():
        for name, section in named.items():
            lines += ["", f"[{kind}.{json.dumps(name)}]"]
            lines += [f"{key} = {json.dumps(value)}" for key, value in section.items()]
    return "\n".join(lines) + "\n"
