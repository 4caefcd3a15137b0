"""The long-lived forms of the bot."""

from rich.console import Console

from bot import logs
from bot.cli.fetching import FetchBar
from bot.commands.desk import Desk
from bot.render.acceptance import receivers
from bot.render.names import names_of
from bot.settings import load_settings
from bot.terminal.talk import talk
from bot.web.app import web_app
from bot.web.server import listening
from bot.wiring import Wishes, opened_desk
from council.errors import PanelError
from council.panel import Panel

NOBODY = (
    "Nobody can be asked: name a panel in council.toml, set the keys of two providers, start "
    "Ollama, or use --local for the demonstration models."
)


async def converse(*, local: bool) -> None:
    """Talk in the terminal until the input ends."""
    console, bar = Console(highlight=False), FetchBar(Console(stderr=True))
    logs.set_up()
    async with opened_desk(load_settings(), Wishes(local, bar.show)) as desk:
        panel = _default_panel(desk)
        for line in introduction(desk):
            console.print(line)
        await desk.prepare(panel)
        await talk(desk, console)


async def serve_http(*, local: bool) -> None:
    """Serve until told to stop by SIGTERM or Ctrl-C."""
    settings, console = load_settings(), Console(stderr=True, highlight=False)
    bar = FetchBar(console)
    logs.set_up(verbose=True)
    async with opened_desk(settings, Wishes(local, bar.show)) as desk:
        panel = _default_panel(desk)
        async with listening(web_app(desk), settings.host, settings.port) as server:
            console.print(f"Listening on {server.address}")
            for line in introduction(desk):
                console.print(line)
            await desk.prepare(panel)
            await server.stopped()


def introduction(desk: Desk) -> list[str]:
    """Say which panels there are, who receives the text, and which one is used."""
    lines = []
    for name, panel in desk.panels.items():
        seats = ", ".join(names_of(panel)[seat.key] for seat in panel.members)
        used = " (in use)" if name == desk.default else f"; /council panel {name} uses it"
        lines.append(f"Panel {name}: {seats} · text goes to {receivers(panel)}{used}")
    return lines


def _default_panel(desk: Desk) -> Panel:
    if desk.default is None:
        raise PanelError(NOBODY)
    return desk.panels[desk.default]
