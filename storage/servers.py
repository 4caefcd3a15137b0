"""The engine for a database server: bounded, and never waiting for ever."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import URL, event, make_url, text
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from council.errors import StoreError
from storage.nul import document_given_back, kept_document

POOL_SIZE, POOL_OVERFLOW, POOL_SECONDS = 10, 5, 10.0


@dataclass(frozen=True, slots=True)
class Pool:
    """How many connections there are, how many more for a while, and how long one is waited for."""

    size: int = POOL_SIZE
    overflow: int = POOL_OVERFLOW
    seconds: float = POOL_SECONDS


USUAL = Pool()
# A process that is frozen, or cut off, holds up the others for so long at most.
SESSION = {
    "timezone": "UTC",
    "statement_timeout": "30s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "10s",
}
DRIVER = {
    "application_name": "council",
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}
UNREADABLE = (
    "COUNCIL_DATABASE_URL cannot be read: write postgresql://USER:PASSWORD@HOST:PORT/NAME, with "
    "what is no letter or digit of the password as %XX."
)


def open_server(url: str | URL, pool: Pool = USUAL) -> AsyncEngine:
    """Give the engine for a server's address; nothing is connected yet.

    What the address itself says of timeouts and the like stands.
    """
    try:
        engine = create_async_engine(
            url,
            pool_size=pool.size,
            max_overflow=pool.overflow,
            pool_timeout=pool.seconds,
            pool_pre_ping=True,
            # An error must not quote what people wrote.
            hide_parameters=True,
            json_serializer=kept_document,
            json_deserializer=document_given_back,
            connect_args=_connect_args(make_url(url)),
        )
    except ModuleNotFoundError as error:
        raise StoreError(
            f"The database in COUNCIL_DATABASE_URL needs the Python package {error.name!r}: "
            "install it, or name an SQLite file."
        ) from error
    # What cannot be read is not quoted either: it may be the password.
    except (ArgumentError, ValueError):
        raise StoreError(UNREADABLE) from None
    if engine.dialect.driver == "psycopg":
        event.listen(engine.sync_engine, "connect", _prepare)
    return engine


def _connect_args(url: URL) -> dict[str, Any]:
    session = " ".join(f"-c {name}={value}" for name, value in SESSION.items())
    said = url.query.get("options", "")
    options = f"{session} {said if isinstance(said, str) else ' '.join(said)}".rstrip()
    own = {name: value for name, value in DRIVER.items() if name not in url.query}
    return {**own, "options": options}


def _prepare(connection: Any, _: object) -> None:  # noqa: ANN401
    # Whoever keeps all in SQLite does not wait for the driver.
    from storage.texts import register

    register(connection.adapters)


async def check_letters(connection: AsyncConnection) -> None:
    """Raise StoreError for a server's database that cannot hold the letters of every language."""
    if connection.dialect.name != "postgresql":
        return
    encoding = (await connection.execute(text("SHOW server_encoding"))).scalar_one()
    if encoding != "UTF8":
        raise StoreError(
            "The database keeps its texts in another way than UTF-8: make it anew with "
            "CREATE DATABASE council ENCODING 'UTF8' TEMPLATE template0."
        )
