"""The engine for a server: bounded pools, timeouts, and errors without the password."""

import asyncio
import traceback

import pytest
from sqlalchemy import text

from council.errors import StoreError
from storage.engine import SESSION_SETTINGS, UNREADABLE_URL, open_engine
from storage.migrate import upgrade
from storage.rounds import SqlRoundStore
from tests.builders import a_round, an_answer
from tests.postgres import Server, a_database

SECRET = "hunter2"
WRITTEN = "noissefnoc A"[::-1]  # tracebacks quote what is written here


async def error_of(url: str) -> str:
    """Return the error of a database that cannot be opened, with its causes."""
    try:
        engine = open_engine(url)
    except StoreError as error:
        return all_of(error)
    with pytest.raises(StoreError) as refused:
        await upgrade(engine)
    await engine.dispose()
    return all_of(refused.value)


def all_of(error: StoreError) -> str:
    return f"{error}\n{error!r}\n{''.join(traceback.format_exception(error))}"


@pytest.mark.parametrize("name", SESSION_SETTINGS)
async def test_every_wait_has_a_limit(migrated_url: str, name: str) -> None:
    engine = open_engine(migrated_url)
    async with engine.connect() as connection:
        found = (await connection.execute(text(f"SHOW {name}"))).scalar_one()
    await engine.dispose()

    assert found == SESSION_SETTINGS[name]


async def test_settings_in_the_url_take_precedence(migrated_url: str) -> None:
    settings = "options=-c%20lock_timeout%3D7s&application_name=ours"
    engine = open_engine(f"{migrated_url}?{settings}")
    async with engine.connect() as connection:
        shown = [
            (await connection.execute(text(f"SHOW {name}"))).scalar_one()
            for name in ("lock_timeout", "statement_timeout", "application_name")
        ]
    await engine.dispose()

    assert shown == ["7s", "30s", "ours"]


async def test_no_more_than_fifteen_connections_are_open_at_once(
    postgres: Server, migrated_url: str
) -> None:
    engine = open_engine(migrated_url)
    await asyncio.gather(*(SqlRoundStore(engine).list_summaries() for _ in range(60)))

    (count,) = postgres.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = %s", engine.url.database
    )[0]
    await engine.dispose()

    assert 1 <= count <= 15


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        pytest.param(
            "council:{}@127.0.0.1:1/x", "Can't reach the database server", id="nobody-there"
        ),
        pytest.param(
            "council:{}@nowhere.invalid/x", "Can't reach the database server", id="no-such-host"
        ),
        pytest.param("council:{}@127.0.0.1:x/{}", UNREADABLE_URL[:40], id="no-port"),
        pytest.param(
            "council:ab/{}@127.0.0.1:1/x", "Can't reach the database server", id="slash-in-it"
        ),
        pytest.param("council:{}@127.0.0.1:1/x?foo=1", "does not know", id="unknown-option"),
    ],
)
async def test_no_error_quotes_the_password(address: str, expected: str) -> None:
    found = await error_of(f"postgresql+psycopg://{address.format(SECRET, SECRET)}")

    assert expected in found
    assert SECRET not in found


@pytest.mark.parametrize("name", ["nowhere", "postgres?user=nobody_of_us"])
async def test_a_refused_connection_fails_at_once(postgres: Server, name: str) -> None:
    async with asyncio.timeout(20):
        message = await error_of(postgres.url(name))

    assert message.startswith("The database server refused the login")


async def test_a_database_in_another_encoding_is_refused(postgres: Server) -> None:
    with a_database(postgres, "template0 ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'") as url:
        message = await error_of(url)

    assert message.startswith("The database does not store text as UTF-8")


async def test_no_error_quotes_what_people_wrote(migrated_url: str) -> None:
    engine = open_engine(migrated_url)
    with pytest.raises(StoreError) as refused:
        await SqlRoundStore(engine).save("nowhere", an_answer(text=WRITTEN))
    await engine.dispose()

    assert WRITTEN not in "".join(traceback.format_exception(refused.value))


async def test_a_number_that_is_too_large_is_an_error_in_one_sentence(migrated_url: str) -> None:
    engine = open_engine(migrated_url)
    store = SqlRoundStore(engine)
    await store.open(a_round())
    answer = an_answer()
    object.__setattr__(answer.reply, "tokens_in", 2**40)

    with pytest.raises(StoreError, match=r"^A number is too large for the database\."):
        await store.save("r1", answer)
    await engine.dispose()


async def test_a_read_only_server_can_be_read_and_a_write_names_the_reason(
    postgres: Server, migrated_url: str
) -> None:
    engine = open_engine(migrated_url)
    await SqlRoundStore(engine).open(a_round())
    postgres.execute(f"ALTER DATABASE {engine.url.database} SET default_transaction_read_only = on")
    await engine.dispose()

    with pytest.raises(StoreError, match=r"^The database server is read-only\. Set"):
        await SqlRoundStore(engine).save("r1", an_answer())

    assert await SqlRoundStore(engine).load("r1") == a_round()
    await engine.dispose()
