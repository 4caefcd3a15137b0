"""The command `council mcp`: the Model Context Protocol on stdin and stdout.

A client waits for the list of tools when it starts, so the application is opened by the first call.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING

from bot.chat import TERMINAL, TERMINAL_USER
from bot.cli.output import Local, async_command
from bot.observability import logs
from bot.settings import Settings, load_panel_config, load_settings

if TYPE_CHECKING:
    from bot.context import AppContext

SERVED = "(its page is up while `council serve` runs)"


@async_command
async def mcp(local: Local = False) -> None:
    """Serve the council as tools of an MCP client, on stdin and stdout.

    A client, such as a coding assistant, starts this command itself.
    """
    # MCP's library is slow to import, and the other commands of this file's layer do not need it.
    from mcp.server.stdio import stdio_server

    from bot.mcp import Caller, create_server

    logs.configure_logging()
    settings = load_settings()
    plugins = load_panel_config(settings.config_file).plugins
    caller = Caller(TERMINAL_USER, TERMINAL, partial(_link, settings), SERVED)
    app = AppOnDemand(partial(_open_app, settings, is_local=local))
    # While it serves, whatever else is printed goes to stderr.
    async with stdio_server() as (read, write):
        server = create_server(app.load, lambda _: caller, plugins)
        try:
            await server.run(read, write, server.create_initialization_options())
        finally:
            await app.close()


class AppOnDemand:
    """An application that the first call opens, and that stays open until `close`."""

    def __init__(self, open_app: "Callable[[], AbstractAsyncContextManager[AppContext]]") -> None:
        self._open_app = open_app
        self._opened: asyncio.Future[AppContext] | None = None
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def load(self) -> "AppContext":
        """Return the application; raise what kept it from being opened, and try again next time."""
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._keep_open(self._opened))
        return await asyncio.shield(self._opened)

    async def close(self) -> None:
        """Close the application, if it was opened."""
        self._closing.set()
        if self._task:
            await self._task

    async def _keep_open(self, opened: "asyncio.Future[AppContext]") -> None:
        try:
            async with self._open_app() as app:
                opened.set_result(app)
                await self._closing.wait()
        # Those who wait for the application handle it.
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)
            self._opened = None


def _open_app(settings: Settings, *, is_local: bool) -> "AbstractAsyncContextManager[AppContext]":
    from rich.console import Console

    from bot.bootstrap import StartOptions, open_app
    from bot.cli.progress import DownloadBar

    return open_app(settings, StartOptions(is_local, DownloadBar(Console(stderr=True)).show))


def _link(settings: Settings, round_id: str) -> str | None:
    """Return the address of a round's page, if the page has a fixed port."""
    return f"http://localhost:{settings.port}/rounds/{round_id}" if settings.port else None
