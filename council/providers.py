"""Providers: how their models are listed, rate limits, health; no address contains secrets."""

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Address, ip_address


@dataclass(frozen=True, slots=True)
class Limits:
    """How many calls may run at once, and how many may start in any minute."""

    concurrency: int = 20
    requests_per_minute: int | None = None


class BreakerState(StrEnum):
    """State of a model's circuit breaker: calls pass, none passes, or one probe passes."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@dataclass(frozen=True, slots=True)
class ProviderLoad:
    """Running and waiting calls of all processes at one address."""

    under_way: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ProviderHealth:
    """Load of a provider's address ("" is the default), here and `everywhere`."""

    provider: str
    address: str
    limits: Limits
    under_way: int = 0
    waiting: int = 0
    turns: int = 0
    waited_seconds: float = 0.0
    everywhere: ProviderLoad | None = None


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """State of a model at one address; retries and pauses are totals since the process started."""

    model: str
    address: str
    breaker: BreakerState = BreakerState.CLOSED
    retries: int = 0
    pauses: int = 0


@dataclass(frozen=True, slots=True)
class Health:
    """The current health of a gateway's providers and models."""

    providers: tuple[ProviderHealth, ...] = ()
    models: tuple[ModelHealth, ...] = ()


class HintKind(StrEnum):
    """What happened to a model: it asked for a pause, its breaker opened, or it recovered."""

    PAUSE = "pause"
    SHUT = "shut"
    BACK = "back"


@dataclass(frozen=True, slots=True)
class ProviderHint:
    """A hint from one process to the others about a model; `seconds` is how long it is valid."""

    gate: str
    model: str
    lesson: HintKind
    seconds: float = 0.0


# --- Where providers list their models


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider whose models can be listed.

    `name` is litellm's. Without a `base` a person types the address. `key_page` is where keys and
    credit are managed, "" if no key is required; `headers` have the key for `{key}`. `if_empty` is
    what to do if it lists no models.
    """

    name: str
    label: str
    base: str = ""
    key_page: str = ""
    path: str = "/models"
    headers: tuple[tuple[str, str], ...] = (("Authorization", "Bearer {key}"),)
    if_empty: str = "Check which project or organization the key belongs to."


PROVIDERS = (
    Provider(
        "openai", "OpenAI", "https://api.openai.com/v1", "https://platform.openai.com/api-keys"
    ),
    Provider(
        name="anthropic",
        label="Anthropic",
        base="https://api.anthropic.com/v1",
        key_page="https://console.anthropic.com/settings/keys",
        path="/models?limit=1000",
        headers=(("x-api-key", "{key}"), ("anthropic-version", "2023-06-01")),
    ),
    Provider(
        name="gemini",
        label="Google (Gemini)",
        base="https://generativelanguage.googleapis.com/v1beta",
        key_page="https://aistudio.google.com/apikey",
        path="/models?pageSize=1000",
        headers=(("x-goog-api-key", "{key}"),),
    ),
    Provider(
        name="openrouter",
        label="OpenRouter",
        base="https://openrouter.ai/api/v1",
        key_page="https://openrouter.ai/settings/keys",
    ),
    Provider("ollama", "Ollama", path="/api/tags", if_empty="Pull one first: ollama pull qwen3."),
    Provider("custom", "The server", if_empty="Load one on that server first."),
)


OLLAMA_ROUTES = frozenset({"ollama", "ollama_chat"})  # litellm has two names for it


def find_provider(name: str) -> Provider | None:
    """Return the provider of this name whose models can be listed, if any."""
    return next((provider for provider in PROVIDERS if provider.name == name), None)


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches the address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_link_local(host: str) -> bool:
    """Return whether it is a link-local address, where clouds have services with secrets."""
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_link_local
