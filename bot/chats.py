"""Chat plug-ins: the interface of a chat, and the chats that a process starts.

`bot/chat.py` has what a connected chat can do with messages.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.checks import CheckReport
from bot.context import AppContext
from bot.extras import missing_extra
from bot.observability.logs import log_unexpected_error
from bot.plugins import Plugins
from bot.settings import Settings
from council.errors import CouncilError

MAX_BODY_BYTES = 64_000


class ChatRoute(Route):
    """A route that needs no access to the page: its handler checks who sends a request.

    Requests are counted against a limit by address, unless a platform sends those of everybody.
    """

    def __init__(
        self,
        path: str,
        endpoint: Callable[[Request], Awaitable[Response]],
        methods: Sequence[str] = ("GET",),
        *,
        max_bytes: int = MAX_BODY_BYTES,
        is_limited: bool = True,
    ) -> None:
        super().__init__(path, endpoint, methods=[*methods])
        self.max_bytes = max_bytes
        self.is_limited = is_limited


class RunningChat:
    """A chat from start to stop."""

    async def run(self) -> None:
        """Serve until cancelled, or until it cannot go on, which is reported."""

    @property
    def routes(self) -> Sequence[ChatRoute]:
        """Return the routes that it adds to the page's server."""
        return ()

    @property
    def is_ready(self) -> bool:
        """Return whether it can take the requests that arrive by its routes."""
        return True


class ChatPlugin:
    """A chat of a plug-in; `title` is its name for people."""

    title: str = ""

    def missing(self, settings: Settings) -> str:
        """Return what it lacks, such as "no token"; "" if it can be started."""
        return ""

    async def check(self, report: CheckReport, settings: Settings) -> None:
        """Check its settings for `council doctor`, and post nothing."""
        missing = self.missing(settings)
        report.note(f"{self.title}: {missing or 'configured'}")

    def start(
        self, app: AppContext, settings: Settings, report: Callable[[str], None]
    ) -> RunningChat:
        """Return the chat, ready to run; `report` receives each change of its state."""
        raise NotImplementedError


def find_chats(plugins: Plugins) -> dict[str, ChatPlugin]:
    """Return the chats of all active plug-ins by name."""
    return plugins.load_by_name(lambda plugin: plugin.chats)


def configured_chats(plugins: Plugins, settings: Settings) -> set[str]:
    """Return the names of the chats that have what they need."""
    configured = set[str]()
    for name, chat in find_chats(plugins).items():
        with leaving_out(plugins, name):
            if not chat.missing(settings):
                configured.add(name)
    return configured


@contextmanager
def leaving_out(plugins: Plugins, chat: str) -> Iterator[None]:
    """Leave out the plug-in of a chat if the block fails: the others can still be used.

    Faults of the settings, and packages of an extra that are missing, are raised: people mend them.
    """
    try:
        yield
    except Exception as error:
        is_missing = isinstance(error, ModuleNotFoundError) and missing_extra(error)
        if isinstance(error, CouncilError) or is_missing:
            raise
        owner = next(plugin.name for plugin in plugins.active if chat in plugin.chats)
        plugins.fail(owner, f"Its chat {chat} failed ({type(error).__name__}: {error}).")


class RunningChats:
    """The chats that a process has started, by title."""

    def __init__(self, chats: Mapping[str, RunningChat], not_started: Sequence[str]) -> None:
        self._chats = chats
        self.not_started = not_started

    @classmethod
    def start(
        cls, app: AppContext, settings: Settings, report: Callable[[str], None]
    ) -> "RunningChats":
        """Start all chats that have what they need; only these import their libraries."""
        chats, not_started = dict[str, RunningChat](), list[str]()
        for name, chat in find_chats(app.plugins).items():
            with leaving_out(app.plugins, name):
                if missing := chat.missing(settings):
                    not_started.append(f"{chat.title}: not started ({missing})")
                else:
                    chats[chat.title] = chat.start(app, settings, report)
        return cls(chats, not_started)

    @property
    def routes(self) -> list[ChatRoute]:
        """Return the routes of all chats."""
        return [route for chat in self._chats.values() for route in chat.routes]

    def not_ready(self) -> str:
        """Return a sentence about a chat that can't take requests yet, or ""."""
        for title, chat in self._chats.items():
            if not chat.is_ready:
                return f"{title} is not connected."
        return ""

    def tasks(self) -> list[Coroutine[None, None, None]]:
        """Return what serves the chats."""
        return [_run(title, chat) for title, chat in self._chats.items()]


async def _run(title: str, chat: RunningChat) -> None:
    try:
        await chat.run()
    # A chat that fails must stop neither the page nor the other chats.
    except Exception as error:  # noqa: BLE001
        log_unexpected_error("chat_failed", error, chat=title)
