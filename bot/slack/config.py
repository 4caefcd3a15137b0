"""What Slack is reached with. Imports none of Slack's libraries: every start asks for tokens."""

import json
import re
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import yaml

from bot.commands.dispatch import COMMANDS

# --- What Slack is reached with. Imports none of Slack's libraries: every start asks for tokens.


@dataclass(frozen=True, slots=True)
class Tokens:
    """What Slack is reached with; with `app` over a socket, else `signing` checks what it posts."""

    bot: str = field(repr=False)
    app: str = field(repr=False)
    signing: str = field(repr=False)
    api_url: str

    @property
    def transport(self) -> str:
        """Give the way events come in."""
        return "Socket Mode" if self.app else "HTTP at /slack/events"


# --- The manifest of the Slack app, for Socket Mode or for HTTP.

EVENTS_PATH = "/slack/events"
_ONLY_HTTP = "# HTTP: "
_ADDRESS = re.compile(r"https://[\w-]+(\.[\w-]+)*(:\d{1,5})?(/[\w.~%-]+)*/?\Z", re.ASCII)


def manifest_text(address: str | None = None) -> str:
    """Give the manifest as YAML: for HTTP at an address, without one for Socket Mode."""
    text = files("bot.slack").joinpath("manifest.yaml").read_text(encoding="utf-8")
    lines = text.replace("usage_hint: QUESTION", f"usage_hint: {_quoted(usage_hint())}")
    if address is None:
        kept = [line for line in lines.splitlines() if _ONLY_HTTP not in line]
        return "\n".join([*kept, ""])
    lines = lines.replace(_ONLY_HTTP, "").replace("ADDRESS", _quoted(address))
    return lines.replace("socket_mode_enabled: true", "socket_mode_enabled: false")


def manifest(address: str | None = None) -> dict[str, Any]:
    """Give the same as a document."""
    document: dict[str, Any] = yaml.safe_load(manifest_text(address))
    return document


def usage_hint() -> str:
    """Give what may follow the command."""
    return " · ".join(command.usage.removeprefix("/council ") for command in COMMANDS.commands)


def events_address(url: str) -> str | None:
    """Give where Slack posts to, for the address that others reach the bot at.

    None for one that Slack would not post to: it takes https alone.
    """
    return url.rstrip("/").removesuffix(EVENTS_PATH) + EVENTS_PATH if _ADDRESS.match(url) else None


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
