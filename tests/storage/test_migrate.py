"""Migrations: up from nothing, down again, and never on a newer schema or on no database."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError
from council.feedback import Feedback
from council.integrity.erasure import forget
from council.integrity.verification import verify
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.places import NOWHERE
from council.ports import RoundQuery
from council.rounds import Round, Stage
from storage import migrate as schema
from storage.engine import open_engine, schema_transaction
from storage.migrate import HEAD_REVISION, current_revision, upgrade
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from storage.row_mapping import PANEL
from storage.tables import RoundRow, import_all_tables
from storage.views import create_views, drop_views
from tests.builders import ASKED_AT, a_panel, a_round, an_answer
from tests.fakes.gateway import FakeGateway
from tests.fakes.memory_store import MemoryStore
from tests.sqlite import address
from tests.storage.builders import BOTH, a_closed_round, on_sqlite

MIGRATIONS = Path(schema.__file__).parent / "migrations"
DATABASES = BOTH
HAS_ALL_PACKAGES = import_all_tables()


@pytest.fixture
def empty_url(database: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Return the URL of a database without tables."""
    if database == "sqlite":
        return address(tmp_path)
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture
async def empty(empty_url: str) -> AsyncIterator[AsyncEngine]:
    """Yield the engine of a database without tables."""
    engine = open_engine(empty_url)
    yield engine
    await engine.dispose()


def config(connection: Connection | None = None) -> Config:
    found = Config()
    found.set_main_option("script_location", str(MIGRATIONS))
    found.attributes["connection"] = connection
    return found


async def run_in_schema(engine: AsyncEngine, act: Callable[[Connection], Any]) -> Any:  # noqa: ANN401
    async with schema_transaction(engine) as connection:
        return await connection.run_sync(act)


def tables(connection: Connection) -> set[str]:
    found = inspect(connection).get_table_names()
    return {name for name in found if is_ours(name, "table", None)}


def is_ours(name: str | None, kind: str, _: object) -> bool:
    """Return whether a table is declared here; those of a plug-in that is absent are not."""
    if kind != "table" or HAS_ALL_PACKAGES:
        return kind != "table" or not (name or "").startswith("procrastinate_")
    return name in {*RoundRow.metadata.tables, "alembic_version"}


async def foreign_keys(engine: AsyncEngine) -> object:
    if engine.dialect.name != "sqlite":  # none can be switched off there
        return 1
    async with engine.connect() as connection:
        return (await connection.execute(text("PRAGMA foreign_keys"))).scalar_one()


async def test_an_empty_database_gets_every_table(empty: AsyncEngine) -> None:
    before = await upgrade(empty)

    assert before is None
    assert await current_revision(empty) == HEAD_REVISION
    assert await run_in_schema(empty, tables) == {*RoundRow.metadata.tables, "alembic_version"}


async def test_a_second_upgrade_changes_nothing(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    await store.open(a_closed_round())

    assert await upgrade(engine) == HEAD_REVISION
    assert await store.load("r1") == a_closed_round()


async def test_programs_that_start_at_once_upgrade_once(empty: AsyncEngine, empty_url: str) -> None:
    other = open_engine(empty_url)

    before = await asyncio.gather(upgrade(empty), upgrade(other))
    await other.dispose()

    assert None in before
    assert await upgrade(empty) == HEAD_REVISION


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(config()).get_current_head() == HEAD_REVISION


async def test_the_migrations_lead_to_the_declared_tables(engine: AsyncEngine) -> None:
    def differences(connection: Connection) -> object:
        opts = {"compare_type": True, "include_name": is_ours}
        context = MigrationContext.configure(connection, opts=opts)
        return compare_metadata(context, RoundRow.metadata)

    assert await run_in_schema(engine, differences) == []


async def test_the_migrations_and_the_tables_have_the_same_keys(engine: AsyncEngine) -> None:
    def keys(connection: Connection) -> dict[str, list[str]]:
        found = inspect(connection)
        return {
            name: found.get_pk_constraint(name)["constrained_columns"]
            for name in RoundRow.metadata.tables
        }

    declared = {
        name: [column.name for column in table.primary_key]
        for name, table in RoundRow.metadata.tables.items()
    }
    assert await run_in_schema(engine, keys) == declared


async def test_the_schema_can_be_taken_down_and_brought_up_again(engine: AsyncEngine) -> None:
    await run_in_schema(engine, lambda connection: command.downgrade(config(connection), "base"))

    assert await run_in_schema(engine, tables) == {"alembic_version"}
    assert await upgrade(engine) is None
    await SqlRoundStore(engine).open(a_closed_round())


async def test_a_round_stored_under_the_first_schema_can_be_read(empty: AsyncEngine) -> None:
    await run_in_schema(empty, lambda connection: command.upgrade(config(connection), "0001"))
    panel = PANEL.dump_json(a_panel()).decode()
    values = f"'r1', 'Why?', 'U1', '', '2026-11-21 09:00:00', 'house', '{panel}', 's', '{{}}'"
    async with empty.begin() as connection:
        await connection.exec_driver_sql(
            "INSERT INTO round (id, question, asked_by, context, asked_at, panel_name, panel, "  # noqa: S608 - ours
            f"seed, versions) VALUES ({values})"
        )

    await upgrade(empty)

    store = SqlRoundStore(empty)
    (line,) = await store.list_summaries(
        wanted=RoundQuery(chats=("web", "terminal", ""), asker="U2")
    )
    assert (line.question, line.stage, line.place) == ("Why?", Stage.OPEN, NOWHERE)
    assert (await store.load("r1")).panel == a_panel()
    await store.save("r1", an_answer())
    assert (await store.load("r1")).answers == (an_answer(),)


async def claim_messages(engine: AsyncEngine, *round_ids: str) -> list[bool]:
    """Claim a message of each; return which had not been claimed before."""
    outgoing = SqlOutbox(engine)
    claims = [await outgoing.claim(f"key-{key}", key, ASKED_AT) for key in round_ids]
    return [claim.is_new for claim in claims]


async def test_rows_from_before_bakeoffs_are_unchanged(engine: AsyncEngine) -> None:
    store, before = SqlRoundStore(engine), await run_a_round()
    await store.open(before)
    await store.rate(Feedback("r1", "U1", helpful=True, reason="So clear.", at=ASKED_AT))
    await claim_messages(engine, "r1")
    await run_in_schema(engine, lambda connection: command.downgrade(config(connection), "0006"))
    old = await run_in_schema(engine, tables)

    assert await upgrade(engine) == "0006"

    assert "bakeoff" not in old
    assert await store.load("r1") == before
    assert [*verify(await store.load("r1"))] == []
    assert len(await store.ratings("r1")) == 1
    assert await claim_messages(engine, "r1", "bo:1") == [False, True]
    assert await foreign_keys(engine) == 1


async def test_rounds_from_before_the_chain_have_no_link_and_later_ones_begin_it(
    engine: AsyncEngine,
) -> None:
    store = SqlRoundStore(engine)
    await store.open(a_closed_round("old"))
    gone = replace(a_closed_round("gone"), closing=None)
    await store.open(gone)
    await store.forget("gone", ASKED_AT, "salt")
    await run_in_schema(engine, lambda connection: command.downgrade(config(connection), "0007"))

    await upgrade(engine)
    await store.open(a_closed_round("new"))

    new = await store.seal("new")
    assert await store.seal("old") is None
    assert await store.load("old") == a_closed_round("old")
    assert await store.load("gone") == forget(gone, ASKED_AT, "salt")
    assert new is not None
    assert new.link is not None
    assert new.link.number == 1


async def run_a_round() -> Round:
    """Return a round that was run without a place, as all were before places."""
    store = MemoryStore()
    await store.open(a_round())
    return await run_round("r1", RoundServices(FakeGateway(), store))


async def test_a_database_of_a_newer_program_is_refused_unchanged(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    await store.open(a_closed_round())
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        await connection.execute(text("UPDATE compatible SET oldest = '9998'"))

    with pytest.raises(StoreError, match=r"newer version of the program \(schema 9999") as refused:
        await upgrade(engine)

    assert "Install the newer version" in str(refused.value)
    assert await current_revision(engine) == "9999"
    assert await store.load("r1") == a_closed_round()


async def make_schema_newer(engine: AsyncEngine, oldest: str) -> None:
    """Change the schema to a newer one, compatible with programs from `oldest` on."""
    async with engine.begin() as connection:
        await connection.execute(text("CREATE TABLE of_the_future (x INTEGER)"))
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        await connection.execute(text("UPDATE compatible SET oldest = :it"), {"it": oldest})


async def test_a_program_works_on_a_newer_schema_that_is_compatible(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    await store.open(a_round())
    await make_schema_newer(engine, HEAD_REVISION)

    assert await upgrade(engine) == "9999"
    await store.save("r1", an_answer())

    assert await current_revision(engine) == "9999"
    assert (await store.load("r1")).answers == (an_answer(),)


async def test_a_newer_schema_that_names_no_compatible_one_is_refused(engine: AsyncEngine) -> None:
    await make_schema_newer(engine, HEAD_REVISION)
    async with engine.begin() as connection:
        await connection.execute(text("DELETE FROM compatible"))

    with pytest.raises(StoreError, match="newer version"):
        await upgrade(engine)


async def test_an_upgrade_by_a_newer_program_in_the_meantime_is_left_alone(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_schema_newer(engine, HEAD_REVISION)
    looked: list[AsyncEngine] = []

    async def seen_before(asked: AsyncEngine) -> str | None:
        looked.append(asked)
        return "0011" if len(looked) == 1 else await current_revision(asked)

    monkeypatch.setattr(schema, "current_revision", seen_before)

    assert await upgrade(engine) == "0011"
    assert await current_revision(engine) == "9999"


async def test_an_upgrade_that_fails_leaves_nothing_behind(empty: AsyncEngine) -> None:
    async with empty.begin() as connection:
        await connection.execute(text("CREATE TABLE verdict (x INTEGER)"))

    with pytest.raises(StoreError):
        await upgrade(empty)

    assert await run_in_schema(empty, tables) == {"verdict"}
    assert await foreign_keys(empty) == 1


@on_sqlite
async def test_a_table_is_rebuilt_without_losing_what_points_at_it(engine: AsyncEngine) -> None:
    store = SqlRoundStore(engine)
    await store.open(a_closed_round())

    def rebuild(connection: Connection) -> None:
        drop_views(connection)
        operations = Operations(MigrationContext.configure(connection))
        with operations.batch_alter_table("round", recreate="always"):
            pass
        create_views(connection)

    await run_in_schema(engine, rebuild)

    assert await store.load("r1") == a_closed_round()
    assert await foreign_keys(engine) == 1
