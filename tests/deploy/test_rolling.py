"""Old and new processes on one database for the length of a deployment, with real processes."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

from tests.bot.homes import Home, scripted_config
from tests.postgres import Server
from tests.soak.cluster.fleet import Copy, Owners, homes
from tests.soak.visiting import Visitor

Execute = Callable[[str], list[Any]]
COMES = "UPDATE alembic_version SET version_num = '9999'"


@pytest.fixture
def execute(postgres: Server, migrated_url: str) -> Execute:
    """Change the database, as a newer program would."""
    name = make_url(migrated_url).database or ""
    return lambda statement: postgres.execute(statement, name=name)


@pytest.fixture
def home(tmp_path: Path, migrated_url: str) -> Home:
    [one] = homes(tmp_path, {"COUNCIL_DATABASE_URL": migrated_url}, scripted_config(3), 1)
    return one


@asynccontextmanager
async def serving(home: Home) -> AsyncIterator[Visitor]:
    copy = Copy(home, Owners())
    visitor = Visitor(copy.address)
    await copy.start()
    try:
        await copy.ready()
        yield visitor
    finally:
        await visitor.close()
        assert await copy.stop() == 0, copy.said


async def ask(visitor: Visitor) -> str:
    document = await visitor.closed(await visitor.ask("Which queue?"))
    return str(document["stage"])


async def test_an_older_version_keeps_working_after_a_compatible_upgrade(
    home: Home, execute: Execute
) -> None:
    async with serving(home) as visitor:
        before = await ask(visitor)
        execute("ALTER TABLE round ADD COLUMN novelty text")
        execute(COMES)
        meanwhile = await ask(visitor)
    async with serving(home) as visitor:
        restarted = await ask(visitor)

    assert (before, meanwhile, restarted) == ("closed", "closed", "closed")
    assert execute("SELECT version_num FROM alembic_version") == [("9999",)]
    assert execute("SELECT count(*) FROM round WHERE novelty IS NULL") == [(3,)]


def test_an_older_version_stops_after_an_incompatible_upgrade(home: Home, execute: Execute) -> None:
    execute(COMES)
    execute("UPDATE compatible SET oldest = '9999'")

    result = home.council("serve", fresh=True)

    assert (result.code, result.out, len(result.lines)) == (1, "", 1)
    assert "belongs to a newer version of the program (schema 9999" in result.err
