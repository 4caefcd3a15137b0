"""Settings from the environment and `.env`; every setting has a working default."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from secrets import token_urlsafe
from urllib.parse import unquote

from dotenv import dotenv_values
from platformdirs import user_cache_dir, user_data_dir
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.settings.council_toml import SettingsError, validation_faults
from bot.settings.panels import load_panel_config
from bot.settings.provider_keys import ProviderKeys, address_of, read_keys
from council.providers import OLLAMA_ROUTES

# Else litellm fetches prices and headers from the network when it is imported.
OFFLINE_SWITCHES = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "HF_HUB_OFFLINE": "1",
}
# Providers whose key litellm does not read from PROVIDER_API_KEY.
API_KEY_VARIABLES = {
    "fireworks_ai": "FIREWORKS_AI_API_KEY",
    "huggingface": "HF_TOKEN",
    "perplexity": "PERPLEXITYAI_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
}
MIN_TOKEN_CHARACTERS = 16
_ORIGIN = re.compile(r"https?://[\w.-]+(?::\d{1,5})?|\*")
NO_WEB_ADDRESS = "it must start with https://"


class Settings(BaseSettings):
    """The settings; read once by `load_settings`, and passed on as an argument."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    config: Path = Field(Path("council.toml"), validation_alias="COUNCIL_CONFIG")
    data_dir: Path = Field(Path(user_data_dir("council")), validation_alias="COUNCIL_DATA_DIR")
    model_dir: Path = Field(
        Path(user_cache_dir("council")) / "models", validation_alias="COUNCIL_MODEL_DIR"
    )
    database_url: str = Field("", repr=False, validation_alias="COUNCIL_DATABASE_URL")
    host: str = Field("127.0.0.1", validation_alias="COUNCIL_HOST")
    port: int = Field(8765, ge=0, le=65535, validation_alias=AliasChoices("COUNCIL_PORT", "PORT"))
    web_token: SecretStr | None = Field(None, validation_alias="COUNCIL_WEB_TOKEN")
    api_origins: str = Field("", validation_alias="COUNCIL_API_ORIGINS")
    contact: str = Field("", max_length=300, validation_alias="COUNCIL_CONTACT")
    ollama: str = Field("http://127.0.0.1:11434", validation_alias="OLLAMA_API_BASE")
    otlp_endpoint: str = Field("", validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT")
    otlp_headers: SecretStr | None = Field(None, validation_alias="OTEL_EXPORTER_OTLP_HEADERS")
    keys: Mapping[str, SecretStr] = Field(default_factory=dict, exclude=True)
    connected_keys: ProviderKeys = Field(ProviderKeys(), exclude=True)

    @field_validator("database_url")
    @classmethod
    def _add_async_driver(cls, url: str) -> str:
        return with_async_driver(url)

    @field_validator("otlp_endpoint")
    @classmethod
    def _check_url(cls, url: str) -> str:
        if url and not _is_web_address(url):
            raise ValueError(NO_WEB_ADDRESS)
        return url

    @field_validator("api_origins")
    @classmethod
    def _check_origins(cls, origins: str) -> str:
        for origin in origins.split():
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(
                    f"{origin[:100]!r} is no origin; write https://app.example.org, several with "
                    "spaces between them"
                )
        return origins

    @field_validator("web_token")
    @classmethod
    def _check_token(cls, token: SecretStr | None) -> SecretStr | None:
        """Strip whitespace, such as the line end of a secret's file; a blank token is None."""
        text = token.get_secret_value().strip() if token else ""
        if 0 < len(text) < MIN_TOKEN_CHARACTERS:
            raise ValueError(
                f"it is too short to be safe; use at least {MIN_TOKEN_CHARACTERS} characters, "
                f"for example {token_urlsafe(24)}"
            )
        return SecretStr(text) if text else None

    def value(self, name: str, default: str = "") -> str:
        """Return a plug-in's own variable without surrounding whitespace; it may be a secret."""
        secret = self.keys.get(name)
        return (secret.get_secret_value().strip() if secret else "") or default

    def url(self, name: str, default: str = "") -> str:
        """Return likewise a web address; raise SettingsError for anything else."""
        url = self.value(name, default)
        if url and not _is_web_address(url):
            raise SettingsError([f"{name}: {NO_WEB_ADDRESS}."])
        return url

    def with_connected_keys(self) -> "Settings":
        """Return the settings with the keys that are stored now."""
        return self.model_copy(update={"connected_keys": read_keys(self.data_dir)})

    @property
    def config_file(self) -> Path | None:
        """The `council.toml` to read; None if the default file does not exist.

        A file that COUNCIL_CONFIG names is returned even if it does not exist.
        """
        is_named = "config" in self.model_fields_set
        return self.config if is_named or self.config.exists() else None

    @property
    def database(self) -> str:
        """The database's URL: the one that is set, else of a file in the data folder."""
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir / 'council.db'}"

    @property
    def uses_database_server(self) -> bool:
        """Whether the database is a server, which many processes may share."""
        return self.database.startswith("postgresql")

    @property
    def database_file(self) -> Path | None:
        """The file of an SQLite database; None for a server or a database in memory."""
        driver, _, path = self.database.partition(":///")
        return Path(path) if driver.startswith("sqlite") and path not in {"", ":memory:"} else None

    @property
    def trace_headers(self) -> dict[str, str]:
        """The headers for the trace collector, parsed from OpenTelemetry's form `a=1,b=2`."""
        text = self.otlp_headers.get_secret_value() if self.otlp_headers else ""
        pairs = (pair.partition("=") for pair in text.split(",") if "=" in pair)
        return {unquote(name).strip().lower(): unquote(value).strip() for name, _, value in pairs}

    def base_url(self, provider: str) -> str | None:
        """Return a provider's address if the environment changes it, as litellm reads it."""
        if provider in OLLAMA_ROUTES:
            return self.ollama
        names = (f"{provider.upper()}_{end}" for end in ("BASE_URL", "API_BASE"))
        return next(
            (self.keys[name].get_secret_value() for name in names if name in self.keys), None
        )

    def key_for(
        self, provider: str, named: str | None = None, base: str | None = None
    ) -> str | None:
        """Return a provider's API key, from the named variable or the provider's usual one.

        If the variable is not set, it is the key that was entered on the page for the address that
        is called: `base`, else the provider's own.
        """
        secret = self.keys.get(named or api_key_variable(provider))
        if secret is None:
            address = address_of(provider, base or self.base_url(provider))
            secret = self.connected_keys.find(address)
        return secret.get_secret_value() if secret else None


def _is_web_address(url: str) -> bool:
    return url.startswith(("https://", "http://"))


def with_async_driver(url: str) -> str:
    """Return a database URL with its asynchronous driver; raise ValueError for other databases."""
    for prefix, replacement in (
        ("postgres://", "postgresql+psycopg://"),
        ("postgresql://", "postgresql+psycopg://"),
        ("sqlite:///", "sqlite+aiosqlite:///"),
    ):
        if url.startswith(prefix):
            return replacement + url.removeprefix(prefix)
    if url and not url.startswith(("sqlite+aiosqlite:///", "postgresql+psycopg://")):
        raise ValueError("it must start with sqlite:/// or postgresql://")
    return url


def api_key_variable(provider: str) -> str:
    """Return the usual environment variable of a provider's API key."""
    return API_KEY_VARIABLES.get(provider, f"{provider.upper()}_API_KEY")


def load_settings(env_file: Path = Path(".env")) -> Settings:
    """Read the environment, which overrides `.env`; raise SettingsError with a line for each fault.

    Also set litellm's offline switches, which must be set before litellm is imported.
    """
    for name, value in OFFLINE_SWITCHES.items():
        os.environ.setdefault(name, value)
    variables = {**dotenv_values(env_file), **os.environ}
    keys = {name: SecretStr(value) for name, value in variables.items() if value}
    try:
        return Settings(_env_file=env_file, keys=keys).with_connected_keys()
    except ValidationError as error:
        faults = [*validation_faults(error, "")]
        faults += _file_faults(Path(variables.get("COUNCIL_CONFIG") or "council.toml"))
        raise SettingsError(faults) from None


def _file_faults(path: Path) -> tuple[str, ...]:
    """Return the faults of a `council.toml`, if there is one."""
    try:
        load_panel_config(path if path.exists() else None)
    except SettingsError as error:
        return error.faults
    return ()
