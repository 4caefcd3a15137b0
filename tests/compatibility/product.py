"""The installed product: a folder with its files, and the `council` command.

Nothing of the product is imported: what is in these files and on these wires stays, wherever the
code moves.
"""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data" / "release_0_1"
COUNCIL = Path(sys.executable).with_name("council")
TIMEOUT_SECONDS = 60
UNREACHABLE = "http://127.0.0.1:9/v1"  # where council.toml looks for the models that never answer
SETTINGS = ("*.toml", "*.csv", "muddled.json", "silent.json")


@dataclass(frozen=True, slots=True)
class Result:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - a test knows the shape it asks for
        """The one document on stdout."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class CommandRunner:
    """A process that runs the program's commands, one after another."""

    process: subprocess.Popen[str]

    def run(self, folder: Path, environment: Mapping[str, str], *arguments: str) -> Result:
        """Run a command to its end."""
        assert self.process.stdin
        assert self.process.stdout
        request = {"folder": str(folder), "environment": environment, "arguments": arguments}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return Result(*json.loads(self.process.stdout.readline()))


@contextmanager
def command_runner(
    python: str | Path = sys.executable, program: Path | None = None
) -> Iterator[CommandRunner]:
    """Start the product once for many commands: an interpreter's own, or a copy in a folder."""
    with subprocess.Popen(
        [python, str(Path(__file__).with_name("commands.py"))],
        env={**os.environ, "PYTHONPATH": str(program)} if program else None,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield CommandRunner(process)


@dataclass(frozen=True, slots=True)
class Installation:
    """A folder that holds the release's files; `settings` are added to its environment."""

    folder: Path
    runner: CommandRunner | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{COUNCIL.parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "COUNCIL_CONFIG": str(self.folder / "council.toml"),
            "COUNCIL_DATA_DIR": str(self.folder),
            "COUNCIL_PORT": "0",
            "OLLAMA_API_BASE": "http://127.0.0.1:9",
            "PATIENT_KEY": "any",
            "OPENAI_API_KEY": "any",
            **self.settings,
        }

    def council(self, *arguments: str) -> Result:
        """Run a command to its end."""
        assert self.runner
        return self.runner.run(self.folder, self.environment, *arguments)

    def sql(self, statement: str, *values: object) -> list[Any]:
        """Run a statement on the database, without the program."""
        with closing(sqlite3.connect(self.folder / "council.db")) as connection, connection:
            return connection.execute(statement, values).fetchall()

    @asynccontextmanager
    async def serve(self) -> AsyncIterator["Serving"]:
        """Serve until the block ends."""
        process = await asyncio.create_subprocess_exec(
            str(COUNCIL),
            "serve",
            cwd=self.folder,
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        serving = Serving(process)
        reading = asyncio.create_task(serving.read())
        try:
            yield serving
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
            await reading


@dataclass(slots=True)
class Serving:
    """A running `council serve`, and every line it has written."""

    process: asyncio.subprocess.Process
    lines: list[str] = field(default_factory=list)

    async def read(self) -> None:
        """Store its lines until it ends."""
        assert self.process.stderr
        async for line in self.process.stderr:
            self.lines.append(line.decode().rstrip())

    async def wait_for_line(self, words: str) -> None:
        """Wait for a line with these words."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not any(words in line for line in self.lines):
                assert self.process.returncode is None, self.lines
                await asyncio.sleep(0.01)

    def errors(self) -> list[str]:
        """Return the lines about anything that went wrong."""
        signs = ("Traceback", '"level": "error"', "Something went wrong")
        return [line for line in self.lines if any(sign in line for sign in signs)]


def install(folder: Path, *, database: bool = True, models: str = UNREACHABLE) -> Installation:
    """Copy the release's settings, and its database if wanted, into a folder."""
    files = [path for pattern in SETTINGS for path in DATA.glob(pattern)]
    for path in [*files, *([DATA / "council.db"] if database else [])]:
        shutil.copy(path, folder)
    config = folder / "council.toml"
    config.write_text(config.read_text().replace(UNREACHABLE, models))
    return Installation(folder)
