"""Keys of providers that people enter on the page: `keys.json`, each bound to one address."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, ValidationError

from bot.settings.council_toml import Document, SettingsError
from council.providers import find_provider

KEYS_FILE = "keys.json"  # in the data folder, as is the other
CONNECTED_FILE = "connected.json"
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server; two spellings of the same address are equal."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: str) -> Self:
        """Return the address in a URL; raise ValueError if its port is not a number."""
        parts = urlsplit(url.strip())
        port = parts.port or _PORTS.get(parts.scheme, 0)
        return cls(parts.scheme, parts.hostname or "", port, parts.path.rstrip("/"))

    @property
    def origin(self) -> tuple[str, str, int]:
        """The scheme, host and port."""
        return self.scheme, self.host, self.port

    @property
    def digest(self) -> str:
        """Eight characters that tell it from other addresses."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:8]

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS.get(self.scheme) else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"


def address_of(model: str, base: str | None) -> Address | None:
    """Return where calls of a model go: to `base`, else to its provider; None if unknown."""
    provider = find_provider(model.partition("/")[0])
    url = base or (provider.base if provider else "")
    try:
        return Address.parse(url) if url else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class ProviderKeys:
    """Keys by address; `ambiguous` has those of earlier versions, by name, that are not used.

    Earlier versions bound a key to a name, which several addresses could share.
    """

    by_address: Mapping[Address, SecretStr] = field(default_factory=dict)
    ambiguous: Mapping[str, SecretStr] = field(default_factory=dict)

    def find(self, address: Address | None) -> SecretStr | None:
        """Return the key of an address, else the only key of its origin."""
        if address is None:
            return None
        if address in self.by_address:
            return self.by_address[address]
        same = {
            key.get_secret_value()
            for one, key in self.by_address.items()
            if one.origin == address.origin
        }
        return SecretStr(same.pop()) if len(same) == 1 else None

    def with_key(self, address: Address, key: SecretStr, connected: Document) -> "ProviderKeys":
        """Return them with a key, without ambiguous ones whose addresses all have a key now."""
        keys = ProviderKeys({**self.by_address, address: key})
        ambiguous = {
            name: one
            for name, one in self.ambiguous.items()
            if not all(map(keys.find, addresses_of(name, connected)))
        }
        return ProviderKeys(keys.by_address, ambiguous)

    def to_document(self) -> Document:
        """Return the content of `keys.json`."""
        keys = [
            {
                "scheme": one.scheme,
                "host": one.host,
                "port": one.port,
                "path": one.path,
                "key": key.get_secret_value(),
            }
            for one, key in self.by_address.items()
        ]
        ambiguous = {name: key.get_secret_value() for name, key in self.ambiguous.items()}
        return {"keys": keys} | ({"ambiguous": ambiguous} if ambiguous else {})


class _KeyEntry(BaseModel):
    scheme: str
    host: str
    port: int
    path: str
    key: SecretStr


class _KeysFile(BaseModel):
    keys: tuple[_KeyEntry, ...]
    ambiguous: dict[str, SecretStr] = Field(default_factory=dict)


def connected_key_variable(connection: str) -> str:
    """Return the variable that overrides the key of a connection."""
    return f"CONNECT_{re.sub('[^a-z0-9]+', '_', connection).upper()}"


def addresses_of(name: str, connected: Document) -> tuple[Address, ...]:
    """Return the addresses that used the key of a name, in the order of `connected.json`."""
    if (provider := find_provider(name)) and provider.base:
        return (Address.parse(provider.base),)
    variable = connected_key_variable(name)
    found = (
        address_of(section.get("model") or key, section.get("api_base"))
        for key, section in connected.get("models", {}).items()
        if section.get("api_key_env") == variable
    )
    return tuple(dict.fromkeys(address for address in found if address))


def read_json(file: Path) -> dict[str, Any]:
    """Return the object in a file, {} without the file; raise SettingsError without its content."""
    try:
        document = json.loads(file.read_bytes()) if file.exists() else {}
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict):
        raise _unreadable(file)
    return document


def read_keys(folder: Path) -> ProviderKeys:
    """Return the keys that were added on the page; raise SettingsError.

    A file of an earlier version has keys by name: each is bound to the address of its models, and
    is ambiguous unless they are all at one origin.
    """
    document = read_json(folder / KEYS_FILE)
    if not isinstance(document.get("keys", ""), list):
        return _bind_names(document, read_json(folder / CONNECTED_FILE))
    try:
        file = _KeysFile.model_validate(document)
    except ValidationError:
        raise _unreadable(folder / KEYS_FILE) from None
    by_address = {Address(one.scheme, one.host, one.port, one.path): one.key for one in file.keys}
    return ProviderKeys(by_address, file.ambiguous)


def _bind_names(names: Document, connected: Document) -> ProviderKeys:
    by_address: dict[Address, SecretStr] = {}
    ambiguous: dict[str, SecretStr] = {}
    for name, text in names.items():
        key, addresses = SecretStr(str(text)), addresses_of(name, connected)
        if len({address.origin for address in addresses}) == 1:
            by_address |= dict.fromkeys(addresses, key)
        else:
            ambiguous[name] = key
    return ProviderKeys(by_address, ambiguous)


def _unreadable(file: Path) -> SettingsError:
    return SettingsError([f"{file} cannot be read. Repair or delete it, then connect again."])
