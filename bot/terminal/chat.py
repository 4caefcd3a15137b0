"""The terminal as a chat: posts are printed, progress is redrawn in place."""

import secrets
from dataclasses import replace

from rich.console import Console
from rich.live import Live

from bot.chat import Chat, Post, Said, Sent, Steps
from bot.terminal.dress import dressed
from council.places import Place

HERE = Place("terminal")


def new_session() -> Place:
    """Give a place of this session alone: what another one has printed is not here to be read."""
    return replace(HERE, channel=secrets.token_hex(4))


class TerminalChat(Chat):
    """Prints to one console; where that is no terminal, progress is a line for each change."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._summary = ""

    async def send(self, place: Place, post: Post, key: str) -> Sent:
        """Print a post, or begin to show progress."""
        self._show(post)
        return Sent(place, key)

    async def find(self, place: Place, key: str) -> Sent | None:
        """Give nothing: what was printed cannot be looked up."""
        return None

    async def edit(self, sent: Sent, post: Post) -> None:
        """Redraw progress, or end it with the post that replaces it."""
        self._show(post)

    async def whisper(self, said: Said, post: Post) -> None:
        """Print a post; everybody here is the one who spoke."""
        self._show(post)

    def say(self, line: str) -> None:
        """Print a line of the bot's own."""
        self._console.print(line, markup=False)

    def close(self) -> None:
        """End progress where it stands; a stopped round leaves no spinner behind."""
        if self._live:
            self._live.stop()
            self._live = None

    def _show(self, post: Post) -> None:
        if not any(isinstance(part, Steps) for part in post.parts):
            self.close()
            self._console.print(dressed(post))
        elif self._console.is_terminal:
            self._redraw(post)
        elif post.summary != self._summary:
            self._summary = post.summary
            self._console.print(post.summary)

    def _redraw(self, post: Post) -> None:
        if self._live is None:
            self._live = Live(console=self._console, refresh_per_second=8, transient=True)
            self._live.start()
        self._live.update(dressed(post))
