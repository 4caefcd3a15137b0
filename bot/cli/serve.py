"""`council chat` and `council serve`: the bot as long as it runs."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import structlog
import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

from bot.bakeoffs.lifecycle import BakeoffJobs, go_on_at_home
from bot.bakeoffs.records import keep_counting
from bot.bootstrap import StartOptions, opened_app, surroundings
from bot.cli.doctor import discord_address, missing_of_slack, slack_tokens
from bot.cli.output import run
from bot.commands.buttons import MOST_REMEMBERED, PRESS
from bot.commands.context import AppContext
from bot.coordination.tasks import beside
from bot.observability import logs, metrics
from bot.ports import PAGE, JobQueue
from bot.render.formatting import names_of
from bot.render.round_status import receivers
from bot.runners.retention import keep_forgetting
from bot.scheduler import Scheduler
from bot.settings import Settings, SettingsError, load_settings
from bot.web.app import web_app
from bot.web.auth import PageSigner, seal_key, shared_key
from bot.web.context import WebContext
from bot.web.server import listening
from council.errors import CouncilError, PanelError
from council.panel import Panel
from council.rounds import Round
from storage.migrate import HEAD

if TYPE_CHECKING:
    from bot.discord.app import Discord
    from bot.discord.config import Address
    from bot.slack.app import Slack
    from bot.slack.config import Tokens


# --- `council chat` and `council serve`: the bot as long as it runs.

Local = Annotated[bool, typer.Option("--local", help="Have the demonstration models at hand.")]


def chat(local: Local = False) -> None:
    """Talk to the council in the terminal."""
    run(converse(local=local))


def serve(local: Local = False) -> None:
    """Start everything that has what it needs, and say what was not started."""
    run(serve_until_stopped(local=local))


# --- The progress bar of the demonstration models' fetch.


class DownloadBar:
    """Shows a bar for each file while it is fetched; on no terminal, a line for each file."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}"), BarColumn(), DownloadColumn(), console=console
        )
        self._tasks: dict[str, TaskID] = {}

    def show(self, what: str, done_bytes: int, total_bytes: int) -> None:
        """Take note of how far a file is."""
        if what not in self._tasks:
            if self._console.is_terminal:
                self._bars.start()
            else:
                self._console.print(f"Fetching {what} ({total_bytes / 1e6:.0f} MB)")
            self._tasks[what] = self._bars.add_task(what, total=total_bytes)
        self._bars.update(self._tasks[what], completed=done_bytes)
        if self._bars.finished:
            self.close()

    def close(self) -> None:
        """Leave the bars as they stand."""
        self._bars.stop()


# --- Models made ready while the page is up already, and how far that is.

STARTING = "The models are being started …"


class ModelDownloadStatus:
    """Keeps one sentence about how far the models are; empty once they are ready."""

    def __init__(self, show: Callable[[str, int, int], None]) -> None:
        self.state = STARTING
        self._show = show

    def on_fetch(self, what: str, done_bytes: int, total_bytes: int) -> None:
        """Take note of how far a file is."""
        self._show(what, done_bytes, total_bytes)
        share = done_bytes / total_bytes if total_bytes else 1
        self.state = f"Fetching {what}: {share:.0%} of {total_bytes / 1e6:.0f} MB …"
        if share == 1:
            self.state = STARTING

    async def ready(self, app_context: AppContext, panel: Panel) -> None:
        """Have the panel's models ready; what goes wrong is kept to be shown."""
        try:
            await app_context.prepare(panel)
        except CouncilError as error:
            self.state = str(error)
        else:
            self.state = ""


# --- What a process of a cluster does beside serving: what is the house's, and done by one of all

OPENING_SECONDS = 30.0  # a round whose money is reserved is stored within that, or never


def acts_of_a_cluster(
    app_context: AppContext, works: JobQueue
) -> list[Coroutine[None, None, None]]:
    """Give what goes on as long as the process serves."""
    return [_page_bakeoffs(app_context, works), _swept(app_context)]


async def _page_bakeoffs(app_context: AppContext, works: JobQueue) -> None:
    """Hold what was begun on the page, with the other processes."""
    async with BakeoffJobs(app_context, PAGE).serve_queue(works):
        await asyncio.Event().wait()


async def _swept(app_context: AppContext) -> None:
    """Free money that nobody holds, and forget presses of long ago, unless another process does."""
    try:
        async with app_context.bakeoff_registry.private_place("sweep") as is_ours:
            if is_ours:
                await app_context.budget.sweep(
                    app_context.store, partial(asyncio.sleep, OPENING_SECONDS)
                )
                await app_context.key_values.keep_newest(PRESS, MOST_REMEMBERED)
    except CouncilError as error:  # the next process that starts makes up for it
        structlog.get_logger().warning("not_swept", why=str(error))


# --- The long-lived forms of the bot.

NOBODY = (
    "Nobody can be asked: name a panel in council.toml, set the keys of two providers, start "
    "Ollama, or use --local for the demonstration models."
)
OPEN_TO_ALL = (
    "COUNCIL_HOST {host!r} is open to others, so COUNCIL_WEB_TOKEN must be set: choose a long "
    "random text and give it to those who may use the page."
)


async def converse(*, local: bool) -> None:
    """Talk in the terminal until the input ends."""
    from bot.terminal import talk

    console, bar = Console(highlight=False), DownloadBar(Console(stderr=True))
    logs.set_up()
    async with opened_app(load_settings(), StartOptions(local, bar.show)) as app_context:
        panel = _default_panel(app_context)
        for line in introduction(app_context):
            console.print(line)
        await app_context.prepare(panel)
        await talk(app_context, console)


async def serve_until_stopped(*, local: bool) -> None:
    """Start everything that has what it needs, until told to stop by SIGTERM or Ctrl-C."""
    settings, console = load_settings(), Console(stderr=True, highlight=False)
    closed: asyncio.Queue[Round] = asyncio.Queue()
    check_open(settings)
    readying = ModelDownloadStatus(DownloadBar(console).show)
    logs.set_up(verbose=True)
    metrics.built(version("council-bot"), HEAD)
    say = partial(console.print, markup=False, soft_wrap=True)  # a sentence is one line of a log
    await _server_there(settings, say)
    wishes = StartOptions(local, readying.on_fetch, closed.put_nowait, serves=True)
    async with opened_app(settings, wishes) as app_context:
        panel = _default_panel(app_context)
        site = WebContext(
            app_context,
            PageSigner(await _key(app_context, settings), lambda: app_context.now().timestamp()),
            token_of(settings),
            tuple(await surroundings(settings)),
            lambda: readying.state,
        )
        tokens = slack_tokens(settings)
        slack = _slack(app_context, tokens, say) if tokens else None
        posted = slack.posted if slack else None
        app = web_app(site, loopback=is_loopback(settings.host), slack=posted)
        # A page that waits for a round must not hear that it stopped: resume, then serve.
        first = partial(_resume, app_context)
        async with listening(app, settings.host, settings.port, first) as server:
            say(f"The page: {server.address}")
            for line in (*introduction(app_context), *not_started(settings)):
                say(line)
            acts = [
                readying.ready(app_context, panel),
                metrics.watch_lag(),
                *_kept_up(app_context, closed),
            ]
            if slack:
                acts.append(slack.run())
            if address := discord_address(settings):
                acts.append(_discord(app_context, address, settings.data_dir, say).run())
            async with beside(*acts):
                await server.stopped()


def _kept_up(
    app_context: AppContext, closed: "asyncio.Queue[Round]"
) -> list[Coroutine[None, None, None]]:
    """Give what goes on for the house, whichever chats there are."""
    alone = app_context.bakeoff_registry.private_place
    acts = [Scheduler(app_context).run(), keep_counting(app_context, closed, alone)]
    acts.append(metrics.watch_outbox(app_context.outbox.unmarked))
    if app_context.texts_days is not None:
        carried = app_context.runner.is_running
        acts.append(keep_forgetting(app_context.store, app_context.texts_days, carried, alone))
    if app_context.job_queue:
        acts += acts_of_a_cluster(app_context, app_context.job_queue)
    return acts


async def _server_there(settings: Settings, say: Callable[[str], None]) -> None:
    """Wait for a database server that is not there yet, as after a machine's start."""
    if settings.has_server:
        from bot.cluster.setup import wait_for_server

        await wait_for_server(settings.database, say)


# A chat's library takes a third of a second: a start without a token for it does not wait.
def _slack(app_context: AppContext, tokens: "Tokens", say: Callable[[str], None]) -> "Slack":
    from bot.slack.app import Slack

    return Slack(app_context, tokens, say)


def _discord(
    app_context: AppContext, address: "Address", folder: Path, say: Callable[[str], None]
) -> "Discord":
    from bot.discord.app import Discord

    return Discord(app_context, address, folder, say)


async def _resume(app_context: AppContext) -> None:
    """Go on with the page's rounds and bake-offs that were interrupted; free what none holds."""
    if app_context.job_queue is None:
        await app_context.budget.sweep(app_context.store)
    await app_context.runner.resume(("web",))
    if app_context.job_queue is None:
        await go_on_at_home(app_context)


async def _key(app_context: AppContext, settings: Settings) -> bytes:
    """Give the key of the page's seals: one for all processes that share a database."""
    if app_context.job_queue and not token_of(settings):
        return await shared_key(app_context.key_values)
    return seal_key(token_of(settings), settings.data_dir)


def introduction(app_context: AppContext) -> list[str]:
    """Say which panels there are, who receives the text, and which one is used."""
    lines = []
    for name, panel in app_context.panels.items():
        seats = ", ".join(names_of(panel)[seat.key] for seat in panel.members)
        used = " (in use)" if name == app_context.default else f"; /council panel {name} uses it"
        lines.append(f"Panel {name}: {seats} · text goes to {receivers(panel)}{used}")
    return lines


def not_started(settings: Settings) -> list[str]:
    """Say what has not all of what it needs, and what is missing."""
    lines = []
    if not slack_tokens(settings):
        lines.append(f"Slack: not started ({missing_of_slack(settings) or 'no token'})")
    if not discord_address(settings):
        lines.append("Discord: not started (no token)")
    return lines


def check_open(settings: Settings) -> None:
    """Raise SettingsError for a page that others could reach without a token."""
    if not is_loopback(settings.host) and not token_of(settings):
        raise SettingsError([OPEN_TO_ALL.format(host=settings.host)])


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches the address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def token_of(settings: Settings) -> str | None:
    """Give the page's token, or None where there is none."""
    return settings.web_token.get_secret_value() if settings.web_token else None


def _default_panel(app_context: AppContext) -> Panel:
    if app_context.default is None:
        raise PanelError(NOBODY)
    return app_context.panels[app_context.default]
