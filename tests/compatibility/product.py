"""The product as whoever installed it meets it: a folder with its files, and the `council` command.

Nothing of the product is imported: what is in these files and said on these wires stays, wherever
its code goes.
"""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data" / "release_0_1"
COUNCIL = Path(sys.executable).with_name("council")
PATIENCE_SECONDS = 60
NOBODY = "http://127.0.0.1:9/v1"  # where council.toml looks for the models that never answer
SETTINGS = ("*.toml", "*.csv", "muddled.json", "silent.json")


@dataclass(frozen=True, slots=True)
class Ran:
    """How the command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - a test knows the shape it asks for
        """The one document on stdout."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Installed:
    """A folder that holds the release's files, and what is in the environment beside."""

    folder: Path
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

    def council(self, *arguments: str) -> Ran:
        """Run a command to its end."""
        ended = subprocess.run(
            [str(COUNCIL), *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def sql(self, statement: str, *values: object) -> list[Any]:
        """Do something to the database behind the program's back."""
        with closing(sqlite3.connect(self.folder / "council.db")) as connection, connection:
            return connection.execute(statement, values).fetchall()

    @asynccontextmanager
    async def serve_queue(self) -> AsyncIterator["Serving"]:
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
    """A product that serves, and every line it has written."""

    process: asyncio.subprocess.Process
    lines: list[str] = field(default_factory=list)

    async def read(self) -> None:
        """Keep what it says, until it ends."""
        assert self.process.stderr
        async for line in self.process.stderr:
            self.lines.append(line.decode().rstrip())

    async def says(self, words: str) -> str:
        """Wait for a line with these words, and give it."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (found := [line for line in self.lines if words in line]):
                assert self.process.returncode is None, self.lines
                await asyncio.sleep(0.01)
        return found[0]

    def troubles(self) -> list[str]:
        """Give what it said of anything that went wrong."""
        signs = ("Traceback", '"level": "error"', "Something went wrong")
        return [line for line in self.lines if any(sign in line for sign in signs)]


def installed(folder: Path, *, database: bool = True, models: str = NOBODY) -> Installed:
    """Copy the release's settings, and its database if it is wanted; give where they are."""
    files = [path for pattern in SETTINGS for path in DATA.glob(pattern)]
    for path in [*files, *([DATA / "council.db"] if database else [])]:
        shutil.copy(path, folder)
    config = folder / "council.toml"
    config.write_text(config.read_text().replace(NOBODY, models))
    return Installed(folder)
