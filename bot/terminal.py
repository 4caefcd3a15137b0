"""Posts in terminal dress: Rich renderables that read well at 80 columns."""

import asyncio
import secrets
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from io import FileIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table as Grid
from rich.text import Text

from bot.chat import (
    Asker,
    Buttons,
    Caution,
    Chat,
    File,
    Heading,
    IncomingMessage,
    Line,
    Mentions,
    Note,
    Part,
    Post,
    Prose,
    Quote,
    SentMessage,
    Steps,
    StepState,
    Table,
)
from bot.commands.context import AppContext
from bot.commands.dispatch import handle_message
from council.places import Place
from council.prompt_injection import visible

# --- Posts in terminal dress: Rich renderables that read well at 80 columns.

_MARKS = {StepState.WAITING: "·", StepState.DONE: "✓", StepState.MISSING: "–"}


def dressed(post: Post) -> RenderableType:
    """Give a post to print; what it holds is text, never markup of the terminal."""
    return Group(*(_part(part) for part in post.parts))


def _part(part: Part) -> RenderableType:  # noqa: C901, PLR0911
    match part:
        case Heading(text):
            return Text(f"\n{_plain(text)}", style="bold")
        case Prose(text):
            return Padding(Markdown(_plain(text), hyperlinks=False), (1, 2))
        case Quote(text):
            return Padding(Text(f"“{_plain(text)}”", style="italic"), (0, 0, 0, 4))
        case Line(text):
            return Text(_plain(text))
        case Note(text):
            return Text(_plain(text), style="dim")
        case Caution(text):
            return Text(_plain(text), style="yellow")
        case Table():
            return _table(part)
        case Steps():
            return _steps(part)
        case Buttons() | Mentions():
            return Text("")
        case File(name, text, data):
            size = f"{len(data):,} bytes" if data else f"{len(text):,} characters"
            return Text(_plain(f"[{name}, {size}]"), style="dim")


def _table(table: Table) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
    for i, column in enumerate(table.columns):
        grid.add_column(_plain(column), justify="right" if i in table.numeric else "left")
    for row in table.rows:
        grid.add_row(*(Text(_plain(cell)) for cell in row))
    return grid


def _steps(steps: Steps) -> Grid:
    grid = Grid(box=None, padding=(0, 1, 0, 0), show_header=False, show_edge=False)
    for step in steps.steps:
        style = "yellow" if step.state is StepState.MISSING else "dim" if step.detail else ""
        mark = Spinner("dots") if step.state is StepState.RUNNING else Text(_MARKS[step.state])
        grid.add_row(mark, Text(_plain(step.title)), Text(_plain(step.detail), style=style))
    return grid


def _plain(text: str) -> str:
    """Give text that cannot steer the terminal: no escape sequence survives."""
    return "".join(c for c in visible(text) if c in "\n\t" or c.isprintable())


# --- Lines from the keyboard, or from whatever is piped in, without holding up the event loop.

PROMPT = "\n/council › "


class Lines:
    """Reads lines in a thread of its own, which an interrupted program need not wait for.

    Where a person types, `input` gives line editing and history.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._wanted = threading.Semaphore(0)
        threading.Thread(target=self._read, daemon=True).start()

    async def next(self) -> str | None:
        """Give the next line, or None at the end of input."""
        self._wanted.release()
        return await self._lines.get()

    def _read(self) -> None:
        with suppress(ImportError):
            import_module("readline")  # its import alone gives `input` editing and history
        line: str | None = ""
        while line is not None:
            self._wanted.acquire()
            line = _line()
            # The loop is gone where the program ended while we waited for a line.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


def _line() -> str | None:
    if not sys.stdin.isatty():
        return _piped_line()
    try:
        return input(PROMPT)
    except EOFError:
        return None


def _piped_line() -> str | None:
    # Unbuffered: a buffer's lock, held by a waiting thread, would abort the interpreter's exit.
    with FileIO(sys.stdin.fileno(), closefd=False) as pipe:
        return pipe.readline().decode(errors="replace") or None


# --- The terminal as a chat: posts are printed, progress is redrawn in place.

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

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Print a post, or begin to show progress."""
        self._show(post)
        return SentMessage(place, key)

    async def find(self, place: Place, key: str) -> SentMessage | None:
        """Give nothing: what was printed cannot be looked up."""
        return None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Redraw progress, or end it with the post that replaces it."""
        self._show(post)

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
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


# --- A conversation in the terminal: a line is a command or a question.

GREETING = "Type a question, or help. Ctrl-C stops a round and keeps it; Ctrl-D leaves."
WORDS_TO_LEAVE = {"exit", "quit", ":q", "bye"}


async def talk(app: AppContext, console: Console) -> None:
    """Read lines until the end of input, and do what each says."""
    chat, lines = TerminalChat(console), Lines()
    console.print(GREETING, style="dim")
    while (line := await lines.next()) is not None:
        if line.strip().lower() in WORDS_TO_LEAVE:
            return
        if line.strip():
            await _say(app, chat, line)


async def _say(app: AppContext, chat: TerminalChat, line: str) -> None:
    said = IncomingMessage(line, Asker("terminal", "you"), HERE, app.new_id())
    doing = asyncio.create_task(handle_message(app, chat, said))
    with _interrupting(doing), suppress(asyncio.CancelledError):
        await doing
    chat.close()
    if doing.cancelled():
        chat.say(f"Stopped; what there is is kept. Go on with: council ask --resume {said.key}")


@contextmanager
def _interrupting(task: asyncio.Task[None]) -> Iterator[None]:
    """Let Ctrl-C stop this task alone, as long as it lasts."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


# --- The terminal chat: the same commands as everywhere, for one person at a keyboard.
