"""State of the fake: settings, tokens, trigger ids, modals, files and recorded calls."""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal

from aiohttp import web

from tests.wire.faults import FaultQueue
from tests.wire.slack.calls import Call, RefusalError
from tests.wire.slack.workspace import APP, Channel, Message, Workspace

Payload = dict[str, Any]

SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "users:read",
)
EVENTS = (
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "member_joined_channel",
    "message.im",
    "tokens_revoked",
)


@dataclass(frozen=True, slots=True)
class Installation:
    """The app as it is installed: its secrets, scopes and events."""

    bot_token: str = "xoxb-1-home"
    app_token: str = "xapp-1-home"
    signing_secret: str = "8f742231b10e8888abcd99yyyzzz85a5"
    scopes: tuple[str, ...] = SCOPES
    events: tuple[str, ...] = EVENTS
    client_id: str = "11.22"
    client_secret: str = "client-secret-of-the-app"
    redirect_urls: tuple[str, ...] = ("https://council.example.com/slack/oauth_redirect",)
    token_seconds: int | None = None  # with token rotation, how long a token is valid


# A bucket for the tier of each method, and one for the posts of each channel.
TIERS = {
    "chat.update": 3,
    "conversations.info": 3,
    "conversations.history": 3,
    "conversations.replies": 3,
    "conversations.open": 3,
    "users.conversations": 3,
    "apps.connections.open": 3,
}
USUAL_TIER = 4  # views.*, files.*, users.info, conversations.members, chat.postEphemeral


@dataclass(frozen=True, slots=True)
class Rates:
    """The rate limits. Burst and workspace share are our own; Slack documents none."""

    per_minute: dict[int, int] = field(default_factory=lambda: {1: 1, 2: 20, 3: 50, 4: 100})
    posts_per_second: float = 1.0
    post_burst: int = 5
    unlimited: frozenset[str] = frozenset({"auth.test", "blocks.validate"})
    off: bool = False


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class Limiter:
    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self._buckets: dict[tuple[str, str], _Bucket] = {}

    def wait_for(self, method: str, channel: str | None, now: float) -> float:
        """Count a call and return 0, or return the seconds until it is allowed."""
        if self.rates.off or method in self.rates.unlimited:
            return 0.0
        if method == "chat.postMessage":
            most, speed = float(self.rates.post_burst), self.rates.posts_per_second
            return self._take((method, channel or ""), most, speed, now)
        most = float(self.rates.per_minute[TIERS.get(method, USUAL_TIER)])
        return self._take((method, ""), most, most / 60, now)

    def _take(self, key: tuple[str, str], most: float, speed: float, now: float) -> float:
        bucket = self._buckets.setdefault(key, _Bucket(most, now))
        bucket.left = min(most, bucket.left + (now - bucket.at) * speed)
        bucket.at = now
        if bucket.left < 1:
            return (1 - bucket.left) / speed
        bucket.left -= 1
        return 0.0


@dataclass(slots=True)
class HistoryLimit:
    """The limit of 2025 for apps outside the Marketplace: one call a minute, 15 objects."""

    seconds: float = 60.0
    objects: int = 15
    _next: dict[str, float] = field(default_factory=dict)  # by method

    def wait_for(self, method: str, now: float) -> float:
        """Count a call and return 0, or return the seconds until it is allowed."""
        if method not in {"conversations.history", "conversations.replies"}:
            return 0.0
        wait = self._next.get(method, now) - now
        if wait > 0:
            return wait
        self._next[method] = now + self.seconds
        return 0.0


@dataclass(frozen=True, slots=True)
class Rules:
    """Timeouts and rules of this fake; the defaults are Slack's own."""

    now: Callable[[], float] = time.time
    ack_seconds: float = 3.0
    trigger_seconds: float = 3.0
    hook_seconds: float = 30 * 60
    hook_uses: int = 5
    retry_delays: tuple[float, ...] = (0.0, 60.0, 300.0)
    edit_window_seconds: float | None = None
    links: int = 10
    rates: Rates = field(default_factory=Rates)


@dataclass(slots=True)
class Token:
    kind: Literal["bot", "app"]
    scopes: tuple[str, ...]
    trouble: str | None = None  # token_revoked, account_inactive
    expires_at: float = math.inf


@dataclass(slots=True)
class Code:
    """A code of OAuth, valid once and for ten minutes, for the workspaces of `sites`."""

    sites: "tuple[State, ...]"
    user: str
    redirect_uri: str | None
    at: float
    used: bool = False


@dataclass(slots=True)
class Trigger:
    """A trigger_id, valid for one view and for three seconds."""

    user: str
    at: float
    used: bool = False


@dataclass(slots=True)
class Hook:
    """A response_url: its channel and user, and how often it was used."""

    user: str
    channel: str
    at: float
    source: Message | None = None  # the message that was clicked; None for a command
    uses: int = 0


@dataclass(slots=True)
class View:
    id: str
    user: str
    payload: Payload  # as the API shows it
    given: Payload  # as the app sent it
    errors: dict[str, str] = field(default_factory=dict)  # shown beside the inputs


@dataclass(slots=True)
class File:
    id: str
    name: str
    length: int
    title: str = ""
    content: bytes | None = None
    alt_text: str | None = None
    shared_in: list[tuple[str, str]] = field(default_factory=list)  # channel and ts
    done: bool = False


@dataclass(frozen=True, slots=True)
class SeenFault:
    """An error that Slack shows a user: operation_timeout, dispatch_failed, …"""

    user: str
    what: str
    detail: str = ""


class State:
    def __init__(self, rules: Rules, workspace: Workspace, app: Installation) -> None:
        self.rules = rules
        self.workspace = workspace
        self.app = app
        self.tokens = {app.app_token: Token("app", ("connections:write",))}
        if app.bot_token:
            self.tokens[app.bot_token] = Token("bot", app.scopes)
        self.sites = [self]  # the states of all workspaces
        self.is_org_install = False
        self.codes: dict[str, Code] = {}
        self.refresh_tokens: dict[str, tuple[State, ...]] = {}
        self.address = ""  # of this server: http://127.0.0.1:port
        self.calls: list[Call] = []
        self.troubles = FaultQueue()
        self.limiter = Limiter(rules.rates)
        self.history_limit: HistoryLimit | None = None
        self.skipped = 0.0  # seconds that a test let pass
        self.refused_blocks: set[str] = set()  # block types this workspace does not know yet
        self.ephemerals: list[Message] = []
        self.triggers: dict[str, Trigger] = {}
        self.hooks: dict[str, Hook] = {}
        self.modals: dict[str, list[View]] = {}
        self.homes: dict[str, View] = {}  # the tab of the app, by user
        self.files: dict[str, File] = {}
        self.uploads: dict[str, File] = {}
        self.sent: dict[str, bytes] = {}  # by people, at their addresses
        self.faults: list[SeenFault] = []
        self.tickets: set[str] = set()
        self.work: set[asyncio.Task[None]] = set()
        self.echo: Callable[[str | None, Message], None] = lambda _subtype, _message: None
        self.on_request: Callable[[Call, web.Request], None] = lambda _call, _request: None
        self.broken: list[Exception] = []  # mistakes of this fake, raised when it ends
        self._numbers = count(1)

    @property
    def team(self) -> str:
        return self.workspace.team

    @property
    def bot(self) -> str:
        return self.workspace.bot

    @property
    def bot_id(self) -> str:
        return self.workspace.bot_id

    def add_site(self, workspace: Workspace) -> "State":
        """Return the state of another workspace of the same Slack, without a token yet."""
        other = State(self.rules, workspace, replace(self.app, bot_token=""))
        other.tokens.clear()
        for name in ("address", "calls", "troubles", "work", "broken", "faults", "sites"):
            setattr(other, name, getattr(self, name))
        other._numbers = self._numbers
        self.sites.append(other)
        return other

    def site_of(self, call: Call) -> "State":
        """Return the workspace of a call's token; for an organisation's, the one that is named."""
        sites = [site for site in self.sites if (call.token or "") in site.tokens]
        named = [site for site in sites if site.workspace.team == call.text("team_id")]
        return next(iter([*named, *sites]), self)

    def revoke(self, trouble: str) -> None:
        """Give every bot token of this workspace a trouble."""
        for token in self.tokens.values():
            if token.kind == "bot":
                token.trouble = trouble

    def now(self) -> float:
        return self.rules.now() + self.skipped

    def number(self) -> int:
        return next(self._numbers)

    def trigger(self, user: str) -> str:
        name = f"{self.number()}.{APP}.{user}"
        self.triggers[name] = Trigger(user, self.now())
        return name

    def hook(self, user: str, channel: str, source: Message | None = None) -> str:
        name = f"{'actions' if source else 'commands'}/{self.number()}"
        self.hooks[name] = Hook(user, channel, self.now(), source)
        return f"{self.address}/{name}"

    def channel(self, id_: str | None) -> Channel:
        """Return a conversation the bot may see; a private one only if the bot is in it."""
        channel = self.workspace.channels.get(id_ or "")
        if channel is None or (channel.kind != "public" and self.bot not in channel.members):
            raise RefusalError("channel_not_found")
        return channel

    def need(self, call: Call, scope: str) -> None:
        """Refuse a call whose token lacks this scope."""
        has = self.tokens[call.token or ""].scopes
        if scope not in has:
            raise RefusalError("missing_scope", needed=scope, provided=",".join(has))
