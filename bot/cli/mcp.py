"""The command `council mcp`: the Model Context Protocol on stdin and stdout."""

from functools import partial

from rich.console import Console

from bot.bootstrap import StartOptions, open_app
from bot.cli.output import Local, async_command
from bot.cli.progress import DownloadBar
from bot.cli.rounds import TERMINAL_USER
from bot.observability import logs
from bot.settings import Settings, load_settings
from bot.terminal import TERMINAL

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
    caller = Caller(TERMINAL_USER, TERMINAL, partial(_link, settings), SERVED)
    start = StartOptions(local, DownloadBar(Console(stderr=True)).show)
    # While it serves, whatever else is printed goes to stderr.
    async with open_app(settings, start) as app, stdio_server() as (read, write):
        server = create_server(app, lambda _: caller)
        await server.run(read, write, server.create_initialization_options())


def _link(settings: Settings, round_id: str) -> str | None:
    """Return the address of a round's page, if the page has a fixed port."""
    return f"http://localhost:{settings.port}/rounds/{round_id}" if settings.port else None
