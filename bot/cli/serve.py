"""The commands `council serve` and `council chat`: start the bot and run it until it is stopped."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from importlib.metadata import version

import structlog
from rich.console import Console

from bot.bootstrap import StartOptions, open_app
from bot.chats import RunningChats
from bot.cli.output import Full, Local, async_command
from bot.cli.progress import DownloadBar
from bot.commands.buttons import MAX_REMEMBERED_PRESSES, PRESS
from bot.commands.retraction import retract_regularly
from bot.context import AppContext
from bot.coordination.tasks import running_alongside
from bot.hooks import run_missed_hooks
from bot.observability import logs, metrics
from bot.render.formatting import seat_names
from bot.render.round_status import receivers
from bot.runners.retention import forget_daily
from bot.services import Service
from bot.settings import Settings, SettingsError, load_settings
from bot.settings.default_panels import LARGE_SIZE, LOCAL_LARGE
from bot.web.app import create_app
from bot.web.auth import PageSigner, load_shared_signing_key, load_signing_key
from bot.web.context import WebContext
from bot.web.server import run_server
from council.errors import CouncilError, PanelError
from council.panel import Panel
from council.providers import is_loopback
from storage.migrate import HEAD_REVISION

ROUND_OPENING_SECONDS = 30.0  # a round whose money is reserved is stored within that, or never
STARTING = "Starting the models …"
NOBODY = (
    "No models are configured. Start with --local for the demo models, then connect real ones on "
    "the page. Or set the keys of two providers, start Ollama, or name a panel in council.toml."
)
OPEN_TO_ALL = (
    "COUNCIL_HOST {host!r} lets others open the page, so set COUNCIL_WEB_TOKEN to a long random "
    "text, and give it to the people who may use the page."
)
DEMO = "Demo models: expect mistakes. Connect real ones at {address}/connect"

Task = Coroutine[None, None, None]


@async_command
async def chat(local: Local = False, full: Full = False) -> None:
    """Talk to the council in the terminal."""
    from bot.terminal import run_chat

    console, bar = Console(highlight=False), DownloadBar(Console(stderr=True))
    logs.configure_logging()
    async with open_app(load_settings(), StartOptions(local, bar.show)) as app_context:
        panel = _default_panel(app_context)
        for line in _introduction(app_context):
            console.print(line)
        await app_context.prepare(panel)
        await run_chat(app_context, console, shows_all=full)


@async_command
async def serve(local: Local = False) -> None:
    """Start the web app and every configured chat."""
    settings, console = load_settings(), Console(stderr=True, highlight=False)
    _check_token_is_set(settings)
    models = ModelStatus(DownloadBar(console).show)
    logs.configure_logging(verbose=True)
    metrics.BUILD.labels(version("council-bot"), HEAD_REVISION).set(1)
    # A sentence is one line of a log.
    report = partial(console.print, markup=False, soft_wrap=True)
    if settings.uses_database_server:  # it may still be starting, as after a reboot
        from bot.cluster.setup import wait_for_server

        await wait_for_server(settings.database, report)
    options = StartOptions(local, models.on_download, serves=True, report=report)
    token = settings.web_token.get_secret_value() if settings.web_token else None
    async with open_app(settings, options) as app_context:
        panel = _default_panel(app_context)
        chats = RunningChats.start(app_context, settings, report)
        key = await _signing_key(app_context, settings)
        web_context = WebContext(
            app_context,
            PageSigner(key, lambda: app_context.now().timestamp(), token),
            token,
            lambda: models.state,
            chats_not_ready=chats.not_ready,
            contact=settings.contact,
            api_origins=tuple(settings.api_origins.split()),
        )
        app = create_app(web_context, loopback=is_loopback(settings.host), routes=chats.routes)
        # A page that waits for a round must not see it stopped: resume rounds, then serve.
        before_serving = partial(_resume, app_context)
        async with run_server(
            app, settings.host, settings.port, before_serving, behind_proxy=bool(token)
        ) as server:
            report(f"The page: {server.address}")
            if any(seat.demonstration for seat in panel.members):
                report(DEMO.format(address=server.address))
            for line in (*_introduction(app_context), *chats.not_started):
                report(line)
            tasks = [
                models.prepare(app_context, panel),
                metrics.watch_lag(),
                *_background_tasks(app_context),
                *chats.tasks(),
            ]
            async with running_alongside(*tasks):
                await server.task


class ModelStatus:
    """One sentence about how far the models are; empty once they are ready."""

    def __init__(self, on_progress: Callable[[str, int, int], None]) -> None:
        self.state = STARTING
        self._on_progress = on_progress

    def on_download(self, file: str, done_bytes: int, total_bytes: int) -> None:
        """Update the sentence with how much of a file is downloaded."""
        self._on_progress(file, done_bytes, total_bytes)
        share = done_bytes / total_bytes if total_bytes else 1
        self.state = f"Downloading {file}: {share:.0%} of {total_bytes / 1e6:.0f} MB …"
        if share == 1:
            self.state = STARTING

    async def prepare(self, app_context: AppContext, panel: Panel) -> None:
        """Prepare the panel's models; an error becomes the sentence."""
        try:
            await app_context.prepare(panel)
        except CouncilError as error:
            self.state = str(error)
        else:
            self.state = ""


def _check_token_is_set(settings: Settings) -> None:
    """Raise SettingsError if other machines could open the page without a token."""
    if not is_loopback(settings.host) and not settings.web_token:
        raise SettingsError([OPEN_TO_ALL.format(host=settings.host)])


def _default_panel(app_context: AppContext) -> Panel:
    if app_context.default is None:
        raise PanelError(NOBODY)
    return app_context.panels[app_context.default]


async def _signing_key(app_context: AppContext, settings: Settings) -> bytes:
    """Return the key of the page's signatures; processes that share a database share it."""
    if app_context.job_queue:
        return await load_shared_signing_key(app_context.key_values)
    return load_signing_key(settings.data_dir)


def _introduction(app_context: AppContext) -> list[str]:
    lines = []
    for name, panel in app_context.panels.items():
        seats = ", ".join(seat_names(panel)[seat.key] for seat in panel.members)
        used = " (in use)" if name == app_context.default else f"; ask it with panel:{name}"
        if name == LOCAL_LARGE:
            used = f"{used} · downloads {LARGE_SIZE} first"
        lines.append(f"Panel {name}: {seats} · text goes to {receivers(panel)}{used}")
    return lines


async def _resume(app_context: AppContext) -> None:
    """Resume the page's rounds and bake-offs, and release money that nothing holds."""
    if app_context.job_queue is None:
        await app_context.budget.sweep(app_context.store)
    await app_context.runner.resume(("web",))
    for service in app_context.parts.all(Service):
        await service.resume()


def _background_tasks(app_context: AppContext) -> list[Task]:
    tasks = [task for service in app_context.parts.all(Service) for task in service.tasks()]
    tasks.append(run_missed_hooks(app_context))
    tasks.append(retract_regularly(app_context))
    tasks.append(metrics.watch_outbox(app_context.outbox.count_unmarked))
    if app_context.texts_days is not None:
        is_running = app_context.runner.is_running
        tasks.append(
            forget_daily(
                app_context.store, app_context.texts_days, is_running, app_context.leader_lock
            )
        )
    if app_context.job_queue:
        tasks.append(sweep(app_context))
    return tasks


async def sweep(
    app_context: AppContext, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Release money that no round holds and delete old button presses, if no other process does."""
    try:
        async with app_context.leader_lock("sweep") as is_leader:
            if is_leader:
                await app_context.budget.sweep(
                    app_context.store, partial(sleep, ROUND_OPENING_SECONDS)
                )
                await app_context.key_values.prune(PRESS, MAX_REMEMBERED_PRESSES)
    except CouncilError as error:  # the next process that starts does it
        structlog.get_logger().warning("not_swept", why=str(error))
