"""Slack configuration: tokens and the app manifest.

Imports none of Slack's libraries, because every start of the program reads the tokens.
"""

import json
import re
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from sqlalchemy.ext.asyncio import AsyncEngine

from bot.settings import Settings

EVENTS_PATH = "/slack/events"
INSTALL_PATH, REDIRECT_PATH = "/slack/install", "/slack/oauth_redirect"
_HTTP_ONLY = "# HTTP: "
_ADDRESS = re.compile(r"https://[\w-]+(\.[\w-]+)*(:\d{1,5})?(/[\w.~%-]+)*/?\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The app's secrets: with `app` it uses Socket Mode, else HTTP requests signed by `signing`.

    With a client id and secret, `bot` is not used: each workspace has its own token.
    """

    bot: str = field(repr=False)
    app: str = field(repr=False)
    signing: str = field(repr=False)
    api_url: str
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    redirect_uri: str = ""

    @property
    def is_distributed(self) -> bool:
        """Return whether many workspaces may install the app, each with a token of its own."""
        return bool(self.client_id and self.client_secret)

    @property
    def install_url(self) -> str:
        """Return the address that installs the app; empty if the bot's own address is unknown."""
        base = self.redirect_uri.removesuffix(REDIRECT_PATH)
        return base + INSTALL_PATH if self.is_distributed and base != self.redirect_uri else ""

    @property
    def transport(self) -> str:
        """Return the name of the transport that events arrive by."""
        return "Socket Mode" if self.app else "HTTP at /slack/events"


def read_tokens(settings: Settings) -> Tokens | None:
    """Return Slack's tokens, or None if one that it needs is missing."""
    tokens = _found_tokens(settings)
    has_bot = tokens.is_distributed or tokens.bot
    return tokens if has_bot and (tokens.app or tokens.signing) else None


def missing_token(settings: Settings) -> str | None:
    """Return a sentence about the token that the others lack; None if no token is set at all."""
    tokens = _found_tokens(settings)
    if bool(tokens.client_id) != bool(tokens.client_secret):
        lacking = "SECRET" if tokens.client_id else "ID"
        return f"SLACK_CLIENT_{lacking} is missing"
    if tokens.bot or tokens.is_distributed:
        return "SLACK_APP_TOKEN is missing, or SLACK_SIGNING_SECRET for HTTP"
    return "SLACK_BOT_TOKEN is missing" if tokens.app or tokens.signing else None


def _found_tokens(settings: Settings) -> Tokens:
    return Tokens(
        bot=settings.value("SLACK_BOT_TOKEN"),
        app=settings.value("SLACK_APP_TOKEN"),
        signing=settings.value("SLACK_SIGNING_SECRET"),
        api_url=settings.url("SLACK_API_URL", "https://slack.com/api/"),
        client_id=settings.value("SLACK_CLIENT_ID"),
        client_secret=settings.value("SLACK_CLIENT_SECRET"),
        redirect_uri=settings.url("SLACK_REDIRECT_URI"),
    )


def open_stores(engine: AsyncEngine, settings: Settings) -> tuple[object, ...]:
    """Return the store of installations, if many workspaces may install the app."""
    secret = settings.value("SLACK_CLIENT_SECRET")
    if not secret:
        return ()
    # It imports Slack's library, which takes a third of a second.
    from storage.installations import SqlInstallationStore

    return (SqlInstallationStore(engine, secret),)


def render_manifest(address: str | None = None, *, distributed: bool = False) -> str:
    """Return the app manifest as YAML: for HTTP at an address, or for Socket Mode without one.

    With `distributed`, which needs an address, many workspaces can install the app.
    """
    text = files("bot.slack").joinpath("manifest.yaml").read_text(encoding="utf-8")
    if address and distributed:
        redirect = address.removesuffix(EVENTS_PATH) + REDIRECT_PATH
        text = text.replace("# DISTRIBUTED: ", "").replace("REDIRECT", _quote(redirect))
        text = text.replace("false # DISTRIBUTED", "true")
    text = "".join(line for line in text.splitlines(True) if "# DISTRIBUTED: " not in line)
    text = text.replace(" # DISTRIBUTED", "")
    if address is None:
        lines = [line for line in text.splitlines() if _HTTP_ONLY not in line]
        return "\n".join([*lines, ""])
    text = text.replace(_HTTP_ONLY, "").replace("ADDRESS", _quote(address))
    return text.replace("socket_mode_enabled: true", "socket_mode_enabled: false")


def load_manifest(address: str | None = None, *, distributed: bool = False) -> dict[str, Any]:
    """Return the app manifest as a parsed document."""
    import yaml  # only the manifest needs it

    document: dict[str, Any] = yaml.safe_load(render_manifest(address, distributed=distributed))
    return document


def new_app_url(manifest: dict[str, Any]) -> str:
    """Return the link that opens Slack's form for a new app, filled in with a manifest."""
    text = json.dumps(manifest, separators=(",", ":"), ensure_ascii=False)
    return f"https://api.slack.com/apps?new_app=1&manifest_json={quote(text, safe=':,/@')}"


def events_address(url: str) -> str | None:
    """Return Slack's request URL for a bot at `url`; None unless that is an https URL."""
    if not _ADDRESS.match(url):
        return None
    return url.rstrip("/").removesuffix(EVENTS_PATH) + EVENTS_PATH


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
