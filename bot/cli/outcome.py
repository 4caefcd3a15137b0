"""How a command ends: 0 for success, 1 for a failed round or check, 2 for bad usage."""

import asyncio
import gc
import json
import os
import sys
import traceback
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, NoReturn

import typer

from council.errors import (
    CouncilError,
    GradesError,
    PanelError,
    QuestionError,
    ScheduleError,
    SuiteError,
)

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
