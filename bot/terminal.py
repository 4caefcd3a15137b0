"""Terminal chat: a loop that runs lines as commands, and posts rendered with Rich."""

import asyncio
import secrets
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from io import FileIO
from typing import Literal

from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.live import Live
from rich.markdown import Markdown
from rich.padding import Padding
from rich.segment import Segment
from rich.spinner import Spinner
from rich.table import Table as Grid
from rich.text import Text

from bot.chat import (
    TERMINAL,
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
from bot.commands.conversations import follow_up
from bot.commands.dispatch import handle_message
from bot.commands.registry import commands_of, is_question
from bot.context import AppContext
from bot.render.formatting import labelled_rows, parse_time, styled_runs
from bot.render.math_rules import add_math
from council.confusables import remove_invisible
from council.errors import ForgottenError, RoundNotFoundError
from council.places import Place

GREETING = (
    "Type a question, or help. A question continues the conversation; `new` starts another one. "
    "Ctrl-C stops a round and saves it; Ctrl-D quits."
)
NEW_CONVERSATION = "Your next question starts a new conversation."
MORE = "More: answers, rankings, details."
PROMPT = "\n› "
_NEW_WORDS = {"new", "new question"}
_MAX_TEXT_WIDTH = 24  # longer texts in a column may be wrapped
_GAP = 2  # between two columns
_EXIT_WORDS = {"exit", "quit", ":q", "bye"}
_STEP_MARKS = {StepState.WAITING: "·", StepState.DONE: "✓", StepState.MISSING: "–"}


def new_session_place() -> Place:
    """Return a place for one session, which cannot refer to rounds of another session."""
    return replace(TERMINAL, channel=secrets.token_hex(4))


async def run_chat(app: AppContext, console: Console, *, shows_all: bool = False) -> None:
    """Read lines and run each as a command or a question, until the end of input."""
    chat, lines, before = TerminalChat(console, shows_all=shows_all), _LineReader(), ""
    console.print(GREETING, style="dim")
    while (line := await lines.next()) is not None:
        if line.strip().lower() in _EXIT_WORDS:
            return
        if line.strip().lower() in _NEW_WORDS:
            before = ""
            chat.say(NEW_CONVERSATION)
        elif line.strip():
            before = await _run_line(app, chat, line, before)


async def _run_line(app: AppContext, chat: "TerminalChat", line: str, before: str) -> str:
    """Run a line; return the id of the round that the next question follows, "" if none."""
    message = IncomingMessage(line, Asker("terminal", "you"), TERMINAL, app.new_id())
    asks = is_question(commands_of(app).parse(line))
    if asks and before:
        with suppress(ForgottenError, RoundNotFoundError):  # nothing is left to refer to
            message = await follow_up(app, message, before)
    task = asyncio.create_task(handle_message(app, chat, message))
    with _cancel_on_ctrl_c(task), suppress(asyncio.CancelledError):
        await task
    chat.close()
    if task.cancelled():
        chat.say(
            f"Stopped. Your progress is saved. Resume with: council ask --resume {message.key}"
        )
    if not asks:
        return before
    with suppress(RoundNotFoundError):  # it may have been refused
        round_ = await app.store.load(message.key)
        if round_.tally and round_.closing and not chat.shows_all:
            chat.say(MORE, "dim")
        return round_.id
    return before


@contextmanager
def _cancel_on_ctrl_c(task: asyncio.Task[None]) -> Iterator[None]:
    """Make Ctrl-C cancel only this task for the duration of the block."""
    loop = asyncio.get_running_loop()
    previous = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, previous)


class _LineReader:
    """Reads lines in a daemon thread, so that neither the event loop nor the exit waits for one.

    On a terminal, `input` provides line editing and history.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._requests = threading.Semaphore(0)
        threading.Thread(target=self._read, daemon=True).start()

    async def next(self) -> str | None:
        """Return the next line, or None at the end of input."""
        self._requests.release()
        return await self._lines.get()

    def _read(self) -> None:
        with suppress(ImportError):
            import_module("readline")  # the import alone gives `input` editing and history
        line: str | None = ""
        while line is not None:
            self._requests.acquire()
            line = _read_line()
            # The loop is closed if the program ended while this thread waited for a line.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


def _read_line() -> str | None:
    if not sys.stdin.isatty():
        # Unbuffered: a buffer's lock, held by a waiting thread, would abort the interpreter's exit.
        with FileIO(sys.stdin.fileno(), closefd=False) as pipe:
            return pipe.readline().decode(errors="replace") or None
    try:
        return input(PROMPT)
    except EOFError:
        return None


class TerminalChat(Chat):
    """Chat that prints to a console; without a terminal, progress is one line for each change."""

    shows_buttons = False

    def __init__(
        self, console: Console, progress: Console | None = None, *, shows_all: bool = False
    ) -> None:
        self._console = console
        self._progress = progress or console  # where a round is followed until its answer
        self._live: Live | None = None
        self._summary = ""
        self.shows_all = shows_all
        self.replies_privately = console.is_terminal  # somebody reads along

    def has_own_thread(self, place: Place, round_id: str) -> bool:
        """Return True: the results follow the answer, also of a follow-up."""
        return True

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        """Print a post, or start to show progress."""
        self._show(post)
        return SentMessage(place, key)

    async def find(
        self, place: Place, key: str, age_seconds: float | None = None
    ) -> SentMessage | None:
        """Return None: printed messages cannot be looked up."""
        return None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Redraw progress, or replace it by the final post."""
        self._show(post)

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        """Print a post; nobody but the asker reads this terminal."""
        self._show(post)

    def say(self, line: str, style: str = "") -> None:
        """Print a line of plain text."""
        self._console.print(line, markup=False, style=style)

    def close(self) -> None:
        """Stop the live display, so that a stopped round leaves no spinner behind."""
        if self._live:
            self._live.stop()
            self._live = None

    def _show(self, post: Post) -> None:
        if not any(isinstance(part, Steps) for part in post.parts):
            self.close()
            self._console.print(render_post(post))
        elif self._progress.is_terminal:
            self._redraw(post)
        elif post.summary != self._summary:
            self._summary = post.summary
            self._progress.print(post.summary)

    def _redraw(self, post: Post) -> None:
        if self._live is None:
            self._live = Live(console=self._progress, refresh_per_second=8, transient=True)
            self._live.start()
        self._live.update(render_post(post))


def open_console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Return a console for people: as wide as the terminal, and plain text with NO_COLOR."""
    console = Console(stderr=stderr, quiet=quiet, highlight=False)
    if not console.no_color:
        return console
    return Console(stderr=stderr, quiet=quiet, highlight=False, color_system=None)


def render_post(post: Post) -> RenderableType:
    """Return a post as a Rich renderable; its texts are never parsed as console markup."""
    return _Unpadded(Group(*(_render_part(part) for part in post.parts)))


@dataclass(frozen=True, slots=True)
class _Unpadded:
    """What is printed, where there is no terminal without the spaces that fill its lines."""

    printed: RenderableType

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType | Segment]:
        if console.is_terminal:
            yield self.printed
            return
        for line in console.render_lines(self.printed, options, pad=False):
            yield Segment("".join(segment.text for segment in line).rstrip())
            yield Segment.line()


def _render_part(part: Part) -> RenderableType:  # noqa: C901, PLR0911
    match part:
        case Heading(text):
            return Text(f"\n{_printable(text)}", style="bold")
        case Prose(text):
            return Padding(_markdown(_printable(text)), (1, 2))
        case Quote(text):
            return Padding(Text(f"“{_printable(text)}”", style="italic"), (0, 0, 0, 4))
        case Line(text):
            return _styled(text, "")
        case Note(text):
            return _styled(text, "dim")
        case Caution(text):
            return _styled(text, "yellow")
        case Table():
            return _FittingTable(part)
        case Steps():
            return _render_steps(part)
        case Buttons() | Mentions():
            return Text("")
        case File(name, text, data):
            size = f"{len(data):,} bytes" if data else f"{len(text):,} characters"
            return Text(_printable(f"[{name}, {size}]"), style="dim")


# As Rich's own, with formulas as code.
_MARKDOWN = add_math(MarkdownIt().enable(["strikethrough", "table"]))


def _markdown(text: str) -> Markdown:
    shown = Markdown(text, hyperlinks=False)
    shown.parsed = _MARKDOWN.parse(text)
    return shown


def _styled(text: str, style: str) -> Text:
    """Return a line with its code and strong words in bold."""
    runs = (
        (parse_time(run)[1], "") if own == "time" else (_printable(run), "bold" if own else "")
        for run, own in styled_runs(text)
    )
    return Text.assemble(*runs, style=style)


@dataclass(frozen=True, slots=True)
class _FittingTable:
    """A table whose numbers are never cut: where they do not fit, a list of its rows."""

    table: Table

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        if self._width() <= options.max_width:
            yield self._grid()
            return
        for name, details in labelled_rows(self.table):
            yield Text(_printable(name), style="bold")
            yield Padding(Text(_printable(details)), (0, 0, 0, 2))

    def _width(self) -> int:
        """Return the columns that the table needs if only long texts are wrapped."""
        lines = (self.table.columns, *self.table.rows)
        widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
        return sum(
            (width if i in self.table.numeric else min(width, _MAX_TEXT_WIDTH)) + _GAP
            for i, width in enumerate(widths)
        )

    def _grid(self) -> Grid:
        grid = Grid(box=None, padding=(0, _GAP, 0, 0), header_style="dim", show_edge=False)
        for i, column in enumerate(self.table.columns):
            is_number = i in self.table.numeric
            justify: Literal["left", "right"] = "right" if is_number else "left"
            grid.add_column(_printable(column), justify=justify, no_wrap=is_number)
        for row in self.table.rows:
            grid.add_row(*(Text(_printable(cell)) for cell in row))
        return grid


def _render_steps(steps: Steps) -> Grid:
    grid = Grid(box=None, padding=(0, 1, 0, 0), show_header=False, show_edge=False)
    for step in steps.steps:
        style = "yellow" if step.state is StepState.MISSING else "dim" if step.detail else ""
        mark = Spinner("dots") if step.state is StepState.RUNNING else Text(_STEP_MARKS[step.state])
        grid.add_row(mark, Text(_printable(step.title)), Text(_printable(step.detail), style=style))
    return grid


def _printable(text: str) -> str:
    """Return the text without escape sequences, which could control the terminal."""
    return "".join(c for c in remove_invisible(text) if c in "\n\t" or c.isprintable())
