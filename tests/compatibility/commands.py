"""Run commands of the installed program, one after another, in one process: a line for each.

Started as a script. The program is found by its entry point, as pip's own script finds it; a
command gets its own arguments, environment and folder, and writes to this process's own stdout and
stderr.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def exit_code(program: Callable[[], object]) -> int:
    """Run the program, and return its exit code."""
    try:
        program()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - as the interpreter would
        traceback.print_exc()
        return 1
    return 0


def run(program: Callable[[], object], request: dict[str, Any], outputs: list[Path]) -> int:
    """Run one command, its stdout and stderr in two files."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["council", *request["arguments"]]
    for number, path in enumerate(outputs, start=1):
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, number)
        os.close(opened)
    code = exit_code(program)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def main() -> None:
    """Run a command for each line of stdin, a request, and write a line for each, its result."""
    (script,) = entry_points(group="console_scripts", name="council")
    program = script.load()
    with (
        os.fdopen(os.dup(0)) as requests,
        os.fdopen(os.dup(1), "w") as results,
        Path(os.devnull).open("rb") as nothing,
        TemporaryDirectory() as folder,
    ):
        os.dup2(nothing.fileno(), 0)
        outputs = [Path(folder, "out"), Path(folder, "err")]
        for line in requests:
            code = run(program, json.loads(line), outputs)
            texts = [path.read_text(encoding="utf-8") for path in outputs]
            print(json.dumps([code, *texts]), file=results, flush=True)


if __name__ == "__main__":
    main()
