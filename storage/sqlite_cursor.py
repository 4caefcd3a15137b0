"""A driver connection for SQLite that needs one visit to its thread for a statement, not four.

SQLAlchemy's adapter of aiosqlite visits the thread to open a cursor, to execute, to fetch and to
close. Each visit costs more than most statements do.
"""

from collections import deque
from collections.abc import Callable, Sequence
from sqlite3 import Cursor
from typing import Any

from sqlalchemy import Dialect
from sqlalchemy.dialects.sqlite.aiosqlite import (
    AsyncAdapt_aiosqlite_connection,
    AsyncAdapt_aiosqlite_cursor,
)


class _OneVisitCursor(AsyncAdapt_aiosqlite_cursor):
    """A cursor whose statement is over, with all its rows, once it was executed."""

    __slots__ = ("_description", "_lastrowid", "_rowcount")

    def __init__(self, adapt_connection: Any) -> None:  # noqa: ANN401
        self._adapt_connection = adapt_connection
        self._connection = adapt_connection._connection
        self._cursor: Any = None
        self._soft_closed_memoized: Any = {}
        self._rows: deque[Any] = deque()
        self._description: Any = None
        self._rowcount, self._lastrowid = -1, None

    @property
    def description(self) -> Any:  # noqa: ANN401
        """The columns of the result; None if the statement returns no rows."""
        return self._description

    @property
    def rowcount(self) -> int:
        """How many rows were changed; −1 if unknown."""
        return self._rowcount

    @property
    def lastrowid(self) -> Any:  # noqa: ANN401
        """The id of the row inserted last."""
        return self._lastrowid

    async def _async_soft_close(self) -> None:
        """Do nothing: the statement is over."""

    async def _execute_async(self, operation: Any, parameters: Any) -> Any:  # noqa: ANN401
        await self._visit(lambda cursor: cursor.execute(operation, parameters or ()))

    async def _executemany_async(self, operation: Any, seq_of_parameters: Sequence[Any]) -> Any:  # noqa: ANN401
        await self._visit(lambda cursor: cursor.executemany(operation, seq_of_parameters))

    async def _visit(self, execute: Callable[[Cursor], object]) -> None:
        def run() -> tuple[Any, ...]:
            cursor = self._connection._conn.cursor()
            try:
                execute(cursor)
                rows = cursor.fetchall() if cursor.description else ()
                return cursor.description, cursor.rowcount, cursor.lastrowid, rows
            finally:
                cursor.close()

        async with self._adapt_connection._execute_mutex:
            done = await self._connection._execute(run)
        self._description, self._rowcount, self._lastrowid, rows = done
        self._rows = deque(rows)


class _OneVisitConnection(AsyncAdapt_aiosqlite_connection):
    __slots__ = ()
    _cursor_cls = _OneVisitCursor

    def rollback(self) -> None:
        """Roll back; the pool asks for it even where no transaction is open."""
        if self._connection.in_transaction:
            super().rollback()


def connect(dialect: Dialect, _: object, arguments: list[Any], options: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return a connection, for the event "do_connect" of an engine."""
    adapted: Any = dialect.connect(*arguments, **options)
    return _OneVisitConnection(adapted.dbapi, adapted._connection)
