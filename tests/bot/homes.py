"""Run the program in a temporary home folder with its own configuration.

The machine's settings do not reach it: no keys, no Ollama, no data folder.
"""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import chdir, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
from typer.testing import CliRunner

from bot.cli.main import app
from tests import fork_server
from tests.sqlite import new_file

TIMEOUT_SECONDS = 60
PROGRAM = (sys.executable, "-m", "bot")
LETTERS = ("north", "south", "east", "west", "middle")


@dataclass(frozen=True, slots=True)
class Result:
    """The exit code and output of the program."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - a test knows the shape it asks for
        """The one document on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """The lines on stderr that are not blank."""
        return [line for line in self.err.splitlines() if line.strip()]


@dataclass(frozen=True, slots=True)
class Home:
    """The folder where the program runs; `settings` are added to its environment."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def database(self) -> Path:
        return self.data / "council.db"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "COUNCIL_CONFIG": str(self.folder / "council.toml"),
            "COUNCIL_DATA_DIR": str(self.data),
            "OLLAMA_API_BASE": "http://127.0.0.1:9",
            **self.settings,
        }

    def with_config(self, text: str) -> "Home":
        """Write council.toml."""
        (self.folder / "council.toml").write_text(text, encoding="utf-8")
        return self

    def with_tables(self) -> "Home":
        """Write a database with the current schema unless there is one, to make a start faster."""
        if not self.database.exists():
            self.data.mkdir(exist_ok=True)
            new_file(self.data)
        return self

    def with_settings(self, **settings: str) -> "Home":
        """Return the same home with more variables in its environment."""
        return Home(self.folder, {**self.settings, **settings})

    def council(self, *arguments: str | bytes, said: str = "", fresh: bool = False) -> Result:
        """Run the program to its end, in a forked process or in a fresh one."""
        if not fresh and fork_server.CAN_FORK:
            code, out, err = fork_server.run(
                arguments, self.folder, self.environment, said.encode(), TIMEOUT_SECONDS
            )
            return Result(code, out.decode(), err.decode())
        ended = subprocess.run(
            [*PROGRAM, *arguments],
            cwd=self.folder,
            env=self.environment,
            input=said.encode(),
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        return Result(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def invoke(self, *arguments: str, stdin: str = "") -> Result:
        """Run a command inside this process, which is faster than starting the program.

        It reads the same environment, folder and standard input as the program would. Where an
        event loop runs, use `invoke_in_thread`.
        """
        others = {name: None for name in os.environ if name not in self.environment}
        logging = structlog.get_config()
        with chdir(self.folder):
            ran = CliRunner().invoke(
                app, arguments, env={**others, **self.environment}, input=stdin
            )
        structlog.configure(**logging)  # the command's log stream is closed now
        if ran.exception and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        return Result(ran.exit_code, ran.stdout, ran.stderr)

    async def invoke_in_thread(self, *arguments: str) -> Result:
        """Run a command inside this process while the caller's event loop serves its models."""
        return await asyncio.to_thread(self.invoke, *arguments)

    async def started(self, *arguments: str, fresh: bool = False) -> asyncio.subprocess.Process:
        """Start the program, forked or fresh, without waiting for its end.

        Tests about kills, signals, start-up, imports, exit codes and the environment need a fresh
        process.
        """
        if not fresh and fork_server.CAN_FORK:
            return await fork_server.start(arguments, self.folder, self.environment)
        return await asyncio.create_subprocess_exec(
            *PROGRAM,
            *arguments,
            cwd=self.folder,
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    def launched(
        self, *arguments: str, output: int, fresh: bool = False
    ) -> subprocess.Popen[bytes] | fork_server.ForkedProcess:
        """Start the program, its stdout and stderr in an open file; no event loop has to run."""
        if not fresh and fork_server.CAN_FORK:
            with Path(os.devnull).open("rb") as nothing:
                streams = (nothing.fileno(), output, output)
                return fork_server.fork_server().fork(
                    arguments, self.folder, self.environment, streams
                )
        return subprocess.Popen(
            [*PROGRAM, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )

    async def beside(self, *arguments: str, fresh: bool = False) -> Result:
        """Run the program to its end while this loop serves its models."""
        return await wait_for_exit(await self.started(*arguments, fresh=fresh))

    def sql(self, statement: str, *values: object) -> list[Any]:
        """Run a statement on the database, without the program."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def stored_bytes(self) -> bytes:
        """Return the bytes of every file in the data folder, including the write-ahead log."""
        files = (path for path in self.data.rglob("*") if path.is_file())
        return b"".join(path.read_bytes() for path in files)


async def wait_for_exit(process: asyncio.subprocess.Process) -> Result:
    """Wait for the program's end; kill it after the timeout."""
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        raise
    return Result(process.returncode or 0, out.decode(), err.decode())


async def interrupt(process: asyncio.subprocess.Process) -> Result:
    """Send what Ctrl-C sends, and wait for the program's end."""
    process.send_signal(signal.SIGINT)
    return await wait_for_exit(process)


def panel_toml(seats: Iterable[str], **terms: object) -> str:
    """Return the section of panel "house" with these seats; without audits by default."""
    listed = ", ".join(json.dumps(seat) for seat in seats)
    terms = {"audit_share": 0} | terms
    lines = [f"{name} = {json.dumps(value)}" for name, value in terms.items()]
    return "\n".join(["[panels.house]", f"members = [{listed}]", *lines, ""])


def seat_toml(key: str, **section: object) -> str:
    """Return the [models] section of a seat."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in section.items()]
    return "\n".join([f"[models.{json.dumps(key)}]", *lines, ""])


def scripted_config(seats: int = 5, **terms: object) -> str:
    """Return a council.toml whose members answer and vote at random."""
    keys = LETTERS[:seats]
    return panel_toml(keys, **terms) + "".join(
        seat_toml(key, model="scripted/random") for key in keys
    )


def served_config(api_base: str, names: Iterable[str], **terms: object) -> str:
    """Return a council.toml whose members are models of an OpenAI-compatible server."""
    keys = [f"openai/{name}" for name in names]
    return panel_toml(keys, **terms) + "".join(seat_toml(key, api_base=api_base) for key in keys)


SERVED = ("up", "down", "left")


def two_panels_config(api_base: str, extra: str = "") -> str:
    """Return a council.toml: three scripted members, and a panel "served" by a model server."""
    listed = ", ".join(f'"openai/{name}"' for name in SERVED)
    seats = "".join(seat_toml(f"openai/{name}", api_base=api_base) for name in SERVED)
    served = f"[panels.served]\nmembers = [{listed}]\naudit_share = 0\n"
    return f'default_panel = "house"\n{scripted_config(3)}{served}{seats}{extra}'
