"""Posts in terminal dress: Rich renderables that read well at 80 columns."""

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table as Grid
from rich.text import Text

from bot.chat import (
    Buttons,
    Caution,
    File,
    Heading,
    Line,
    Mentions,
    Note,
    Part,
    Post,
    Prose,
    Quote,
    Steps,
    StepState,
    Table,
)
from council.prompt_injection import visible

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
