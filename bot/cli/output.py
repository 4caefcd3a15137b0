"""How a command ends: 0 for success, 1 for a failed round or check, 2 for bad usage."""

import asyncio
import gc
import json
import os
import sys
import traceback
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkstemp
from typing import Any, BinaryIO, NoReturn

import typer

from bot.chat import File, Post
from council.errors import (
    CouncilError,
    GradesError,
    PanelError,
    QuestionError,
    ScheduleError,
    SuiteError,
)

# --- How a command ends: 0 for success, 1 for a failed round or check, 2 for bad usage.

FAILED, MISUSED = 1, 2


def run(work: Coroutine[Any, Any, None], failing: int = FAILED) -> None:
    """Run a command to its end; what goes wrong is one sentence on stderr and the right code.

    `failing` is the code of what is no misuse.
    """
    _collect()
    try:
        asyncio.run(work)
    except CouncilError as error:
        fail(str(error), MISUSED if _is_misuse(error) else failing)
    except KeyboardInterrupt:
        raise typer.Exit(failing) from None
    except BrokenPipeError:
        _let_go()
    except typer.Exit:  # what was to be said is said
        raise
    # The outermost handler: a fault of the program is told by its place, without anybody's data.
    except Exception as error:  # noqa: BLE001
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}, line {last.lineno}"
        fail(
            f"Something went wrong ({type(error).__name__} in {where}). Please report it.", failing
        )


def _collect() -> None:
    """Collect garbage from now on, but for what was imported: that stays."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _let_go() -> NoReturn:
    """End quietly when whoever reads along has left, as `head` does."""
    # What is still to be flushed goes nowhere; Python would complain of it at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(FAILED)


def _is_misuse(error: CouncilError) -> bool:
    # Named by class path: settings are imported only by commands that read them.
    is_own = type(error).__name__ in {"SettingsError", "BaselineError"}
    misuses = PanelError | QuestionError | ScheduleError | SuiteError | GradesError
    return is_own or isinstance(error, misuses)


def fail(sentence: str, code: int) -> NoReturn:
    """End with a sentence on stderr."""
    typer.echo(sentence, err=True)
    raise typer.Exit(code)


def say_json(document: object) -> None:
    """Print one JSON document."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


# --- Posts printed as they are read in a chat.


def print_posts(posts: Iterable[Post]) -> None:
    """Print posts, save those that are files."""
    # A command that prints JSON does not wait for these.
    from rich.console import Console

    from bot.terminal import dressed

    console = Console(highlight=False)
    for post in posts:
        if not any(isinstance(part, File) for part in post.parts):
            console.print(dressed(post))


# --- Moments on the command line.


def moment(text: str | None) -> datetime | None:
    """Give the moment of "2026-11-21" or "2026-11-21T09:00+01:00"; UTC where no zone is named."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        fail(f"{text!r} is no date: write it as 2026-11-21 or 2026-11-21T09:00.", MISUSED)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


# --- Files that are written whole or not at all.


class FileError(CouncilError):
    """A file that cannot be written."""


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write that stands at the path once the block has ended well.

    Until then it lies beside it under another name; only its owner can read it.
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
        raise _refused(path, error) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raise FileError where no file can be written, before any work goes into what it will hold."""
    try:
        descriptor, name = mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise _refused(path, error) from error
    os.close(descriptor)
    Path(name).unlink()


def _refused(path: Path, error: OSError) -> FileError:
    return FileError(
        f"{path} cannot be written ({error.strerror}): nothing was changed; name another file."
    )
