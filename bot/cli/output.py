"""Console output, exit codes and files of the commands.

A command exits with 0 for success, 1 for a failed round or check, 2 for bad usage.
"""

import asyncio
import gc
import json
import os
import sys
import traceback
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from tempfile import mkstemp
from typing import Annotated, Any, BinaryIO, NoReturn, ParamSpec, TypeVar

import typer

from bot.chat import Caution, File, Line, Note, Part, Post
from bot.extras import missing_extra
from bot.hints import shell_hints
from council.errors import (
    CouncilError,
    GradesError,
    PanelError,
    QuestionError,
    ScheduleError,
    StudyFileError,
    SuiteError,
)

FAILED, MISUSED = 1, 2
# An empty text is no default that help need show.
text_option = partial(typer.Option, show_default=False)
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Local = Annotated[
    bool, typer.Option("--local", help="Use the built-in demo models unless you choose a panel.")
]
Full = Annotated[
    bool, typer.Option("--full", help="Also print the result, every ranking and every answer.")
]
FullBoard = Annotated[bool, typer.Option("--full", help="Also print every table.")]
Since = Annotated[
    str, text_option(help="Only rounds since a day or an age: 2026-11-21, 30d, 2w, 12h.")
]
OnFault = Callable[[str], None]
Result = TypeVar("Result")
Options = ParamSpec("Options")


def run(work: Coroutine[Any, Any, Result], failure_code: int = FAILED) -> Result:
    """Run a command's coroutine and return its result.

    An error becomes one sentence on stderr and an exit code: 2 for bad usage, else `failure_code`.
    """
    if not gc.isenabled():  # collect from now on, except for the objects that imports made
        gc.freeze()
        gc.enable()
    try:
        return asyncio.run(work)
    except CouncilError as error:
        fail(str(error), MISUSED if _is_misuse(error) else failure_code)
    except KeyboardInterrupt:
        raise typer.Exit(failure_code) from None
    except BrokenPipeError:  # the reader of stdout has closed it, as `head` does
        # Flush the rest to nowhere; Python would complain at exit otherwise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILED) from None
    except typer.Exit:  # the command has printed its sentence already
        raise
    # The outermost handler: name the place of a bug, without anybody's data.
    except Exception as error:  # noqa: BLE001
        if isinstance(error, ModuleNotFoundError) and (missing := missing_extra(error)):
            fail(str(missing), failure_code)
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}, line {last.lineno}"
        fail(
            f"Something went wrong ({type(error).__name__} in {where}). Please report it.",
            failure_code,
        )


def async_command(
    command: Callable[Options, Coroutine[Any, Any, None]],
) -> Callable[Options, None]:
    """Make a coroutine function a command that `run` runs."""

    @wraps(command)
    def run_command(*args: Options.args, **kwargs: Options.kwargs) -> None:
        run(command(*args, **kwargs))

    return run_command


@contextmanager
def exit_on_faults(*, err: bool = False) -> Iterator[OnFault]:
    """Yield a function that prints a fault; after the block, exit with code 1 if there was one."""
    faults: list[str] = []

    def on_fault(fault: str) -> None:
        faults.append(fault)
        typer.echo(fault, err=err)

    yield on_fault
    if faults:
        raise typer.Exit(FAILED)


def fail(sentence: str, code: int) -> NoReturn:
    """Print a sentence on stderr and exit with a code."""
    typer.echo(shell_hints(sentence), err=True)
    raise typer.Exit(code)


def _is_misuse(error: CouncilError) -> bool:
    # By name: only commands that read settings import their module.
    by_name = {
        "SettingsError",
        "BaselineError",
        "LeaderboardQueryError",
        "MomentError",
        "ApiKeyError",
    }
    misuses = PanelError | QuestionError | ScheduleError | SuiteError | GradesError | StudyFileError
    return type(error).__name__ in by_name or isinstance(error, misuses)


def print_json(document: object) -> None:
    """Print one JSON document."""
    typer.echo(dump_json(document))


_LONG_LIST = 100


def dump_json(document: object) -> str:
    """Return a document as JSON for people and programs; long lists have an item per line."""
    if not isinstance(document, dict) or not document:
        return json.dumps(document, ensure_ascii=False, indent=2)
    pairs = (f"  {json.dumps(key)}: {_dump_value(value)}" for key, value in document.items())
    return "{\n" + ",\n".join(pairs) + "\n}"


def _dump_value(value: object) -> str:
    if not isinstance(value, list) or len(value) < _LONG_LIST:
        return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n  ")
    # Without indents, json has an encoder in C: four times as fast.
    items = ",\n    ".join(json.dumps(item, ensure_ascii=False) for item in value)
    return f"[\n    {items}\n  ]"


def print_post(post: Post) -> None:
    """Print a post as it reads in a chat."""
    # A command that prints JSON does not wait for this.
    from bot.terminal import open_console, render_post

    open_console().print(render_post(shell_post(post)))


def shell_post(post: Post) -> Post:
    """Return a post whose hints are commands of the shell."""
    return replace(post, parts=tuple(map(_for_shell, post.parts)))


def _for_shell(part: Part) -> Part:
    if isinstance(part, Line | Note | Caution):
        return replace(part, text=shell_hints(part.text))
    return part


def print_note(text: str) -> None:
    """Print a line of small print."""
    print_post(Post((Note(text),)))


def print_posts(posts: Iterable[Post]) -> None:
    """Print posts, except those that contain files."""
    for post in posts:
        if not any(isinstance(part, File) for part in post.parts):
            print_post(post)


MIN_TEXT_COLUMNS = 20


def print_rows(columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows of single lines; their first text is cut to what the width leaves for it.

    Where it leaves too little, the other texts stand in a line of their own below.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    from bot.terminal import open_console

    console = open_console()
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    rest = sum(max(map(cell_len, texts)) for texts in zip(columns, *rows, strict=True))
    rest -= max(cell_len(row[0]) for row in (columns, *rows))
    left = console.width - rest - 2 * (len(columns) - 1)
    if left < MIN_TEXT_COLUMNS:
        for row in rows:
            console.print(Text(row[0]), overflow="ellipsis", no_wrap=True)
            for line in _packed(row[1:], console.width - 2):
                console.print(Text(f"  {line}", "dim"))
        return
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=True, max_width=left if number == 0 else None)
    for row in rows:
        table.add_row(*(Text(text, overflow="ellipsis") for text in row))
    console.print(table)


def print_items(items: Iterable[tuple[Sequence[str], str]]) -> None:
    """Print the facts of each item as one line, where they fit, and a sentence below it."""
    from rich.padding import Padding
    from rich.text import Text

    from bot.terminal import open_console

    console = open_console()
    for facts, sentence in items:
        for line in _packed(facts, console.width):
            console.print(Text(line, "bold"))
        if sentence:
            console.print(Padding(Text(sentence), (0, 0, 0, 2), expand=False))


def _packed(texts: Iterable[str], width: int) -> list[str]:
    """Return the texts in as few lines of that width as they fit in, without breaking one."""
    lines: list[str] = []
    for text in filter(None, texts):
        longer = f"{lines[-1]} · {text}" if lines else text
        lines[-1:] = [longer] if len(longer) <= width else [*lines[-1:], text]
    return lines


def read_file(path: Path, advice: str = "") -> bytes:
    """Return the bytes of a file that a person named; exit with code 2 if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        fail(unreadable(path, error, advice), MISUSED)


def unreadable(path: Path, error: OSError, advice: str = "") -> str:
    """Return a sentence about a file that cannot be read."""
    return f"Can't read {path}: {error.strerror}. {advice}".rstrip()


def write_file(path: Path, content: bytes) -> None:
    """Replace a file's content, or leave the file as it was; see `atomic_write`."""
    with atomic_write(path) as file:
        file.write(content)


class FileError(CouncilError):
    """A file that cannot be written."""


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Yield a temporary file that replaces `path` when the block ends without an error.

    Only its owner can read the file.
    """
    part: Path | None = None
    try:
        descriptor, name = mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        part = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise _file_error(path, error) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raise FileError if no file can be written at `path`; call it before long work."""
    if path.is_dir():
        raise FileError(f"Can't write {path}: it is a folder. Name a file.")
    try:
        descriptor, name = mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise _file_error(path, error) from error
    os.close(descriptor)
    Path(name).unlink()


def _file_error(path: Path, error: OSError) -> FileError:
    return FileError(f"Can't write {path}: {error.strerror}. Name another file.")
