"""Models made ready while the page is up already, and how far that is."""

from collections.abc import Callable

from bot.commands.context import Desk
from council.errors import CouncilError
from council.panel import Panel

STARTING = "The models are being started …"


class Readying:
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

    async def ready(self, desk: Desk, panel: Panel) -> None:
        """Have the panel's models ready; what goes wrong is kept to be shown."""
        try:
            await desk.prepare(panel)
        except CouncilError as error:
            self.state = str(error)
        else:
            self.state = ""
