"""With every package: an export, imported into an empty database, has every row that is data."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import make_url, select
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import SQLModel

from bot.api_keys import KEY_KIND, list_keys, new_key, save_key
from bot.context import PICKED_PANEL
from council.answers import Exchange, LateReply, Prompt, Reply, Role
from council.bakeoffs.models import Ending
from council.budget_caps import Account
from council.feedback import Feedback, HumanVote
from council.rounds import Question
from storage.engine import open_engine
from storage.key_value import SqlKeyValueStore
from storage.ledger import SqlLedger
from storage.outbox import SqlOutbox
from storage.research.experiments import SqlExperiments
from storage.rounds import SqlRoundStore
from storage.tables import import_all_tables
from tests.bot.homes import Home
from tests.builders import CLAUDE, a_round
from tests.council.bakeoffs.builders import a_schedule
from tests.council.research.experiment_builders import a_mark, a_work, an_experiment
from tests.disputes import a_decision, a_disputed_round
from tests.storage.bakeoffs.benches import SUITE, a_bakeoff, a_record, sql_bakeoff_stores, suite_of
from tests.storage.bakeoffs.test_records import a_votes
from tests.storage.builders import T1, a_closed_round
from tests.storage.tampering import a_full_round

import_all_tables()
AT = datetime(2025, 11, 21, 9, tzinfo=UTC)
# What stays where it is: secrets, locks, queues, and what a process remembers for a while.
NOT_DATA = {"compatible", "slack_installation", "turn", "admitted", "settled"}
# Columns that an import sets itself: numbers of rows, the time of the import, the place in a chain.
OWN_COLUMNS = {
    "round": {"delivered"},
    "link": {"hash", "previous", "origin", "number", "version"},
    "memo": {"at"},
    "outgoing": {"claimed_by"},
    "spending": {"reserved_micro"},
    "record": {"source_id"},
    "votes": {"source_id"},
    "source": {"id"},
}


async def store_everything(engine: AsyncEngine) -> None:
    """Store something in every table that has data."""
    store = SqlRoundStore(engine)
    odd = Question("Why \\u0000 at 👩\u200d💻 all?", "U1", place=T1, instructions="Be brief.")
    prompt, reply = Prompt("Be brief.", "Why?"), Reply("At last.", seconds=9, cost_usd=0.5)
    solved = replace(a_closed_round("odd"), question=odd)
    solved = replace(solved, exchanges=(Exchange("critique", CLAUDE, prompt, reply, "K"),))
    solved = replace(solved, late=(LateReply(CLAUDE, Role.BALLOT, prompt, reply),))
    for round_ in (a_full_round("full"), a_closed_round("gone"), a_round(), solved):
        await store.open(round_)
    await store.open(replace(a_disputed_round(), id="disputed"))
    assert await store.decide("disputed", a_decision(), 1)
    full = await store.load("full")
    assert full.draw
    author, label = full.draw.labels.pairs[0]
    await store.rate(Feedback("full", "U1", helpful=False, reason="Too long.", at=AT))
    await store.vote(HumanVote("full", "U1", label, author, AT))
    outbox = SqlOutbox(engine)
    await outbox.claim("slack/T1/C1/full/0", "full", AT)
    await outbox.mark("slack/T1/C1/full/0", "17.5")
    await SqlLedger(engine).settle(Account("full", date(2025, 11, 21), "U1"), 2**40, None)
    await store_bakeoffs(engine)
    await store.forget("gone", AT + timedelta(days=90), "salt")
    experiments = SqlExperiments(engine)
    await experiments.open(an_experiment(suite=SUITE))
    for part in (a_work(), a_mark()):
        await experiments.save("bx:1", part)
    memos = SqlKeyValueStore(engine)
    key, _ = new_key("laptop", AT, ("house",), 2.5)
    await save_key(memos, replace(key, digest=""))
    await memos.put(PICKED_PANEL, "slack/T1/C1", "house")
    await memos.put("baseline", "slack/T1/sql/house", "bo:1")
    chosen = {"guests": {"value": "on", "by": "U1", "name": "Ada", "at": AT.isoformat()}}
    await memos.put("settings", "slack/T1/", json.dumps(chosen))


async def store_bakeoffs(engine: AsyncEngine) -> None:
    stores = sql_bakeoff_stores(engine)
    await stores.suites.save(suite_of("Before?"), "U1", AT)
    await stores.suites.save(SUITE, "U1", AT)
    await stores.bakeoffs.open(a_bakeoff(ending=Ending(AT)))
    await stores.schedules.save(a_schedule(paused=True))
    await stores.records.save([a_record("gone")])
    await stores.votes.save([a_votes("gone")])


async def rows_of(engine: AsyncEngine) -> dict[str, list[str]]:
    """Return the rows of every table with data, as sorted texts."""
    found = {}
    async with engine.connect() as connection:
        for table in SQLModel.metadata.sorted_tables:
            if table.name not in NOT_DATA:
                left_out = OWN_COLUMNS.get(table.name, set())
                columns = [column for column in table.columns if column.name not in left_out]
                rows = (await connection.execute(select(*columns))).mappings()
                found[table.name] = sorted(
                    json.dumps(dict(row), sort_keys=True, default=str) for row in rows
                )
    return found


def run(url: str, act: Callable[[AsyncEngine], Any]) -> Any:  # noqa: ANN401
    async def opened() -> Any:  # noqa: ANN401
        engine = open_engine(url)
        found = await act(engine)
        await engine.dispose()
        return found

    return asyncio.run(opened())


def file_url(home: Home) -> str:
    return f"sqlite+aiosqlite:///{home.database}"


@pytest.fixture
def full(home: Home) -> Home:
    """Return a home with something in every table."""
    home.with_tables()
    run(file_url(home), store_everything)
    return home


@pytest.fixture(params=["sqlite", "postgres"])
def empty(request: pytest.FixtureRequest, other_home: Home) -> tuple[Home, str]:
    """Return a home with an empty database, and the address of that."""
    if request.param == "sqlite":
        return other_home, file_url(other_home)
    url: str = request.getfixturevalue("migrated_url")
    plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    return other_home.with_settings(COUNCIL_DATABASE_URL=plain), url


def test_an_import_into_an_empty_database_has_every_row(
    full: Home, empty: tuple[Home, str]
) -> None:
    target, url = empty
    path = str(full.folder / "all.jsonl")
    exported = full.invoke("export", "--to", path)
    before: Mapping[str, list[str]] = run(file_url(full), rows_of)

    first, second = target.invoke("import", path), target.invoke("import", path)

    assert [name for name, rows in before.items() if not rows] == []
    assert (exported.err, first.err, second.err) == ("", "", "")
    assert run(url, rows_of) == before
    assert second.out.startswith("0 rounds imported")
    assert target.invoke("export").out.count("\n") == full.invoke("export").out.count("\n")


def test_no_key_works_until_it_is_added_again(full: Home, other_home: Home) -> None:
    key, text = new_key("phone", AT)
    run(file_url(full), lambda engine: save_key(SqlKeyValueStore(engine), key))
    path = full.folder / "all.jsonl"
    full.invoke("export", "--to", str(path))

    other_home.invoke("import", str(path))

    assert key.digest not in path.read_text(encoding="utf-8")
    assert "imported: add it again" in other_home.invoke("key", "list").out
    assert other_home.invoke("key", "add", "phone").out.strip() not in {"", text}
    keys = run(file_url(other_home), lambda engine: list_keys(SqlKeyValueStore(engine)))
    assert [bool(one.digest) for one in keys if one.name == "phone"] == [True]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param({"store": "key", "name": "page", "text": "secret"}, id="secret"),
        pytest.param({"store": KEY_KIND, "name": "a", "text": "{}"}, id="no-key"),
        pytest.param({"store": "settings", "name": "slack/T1/", "text": "[1]"}, id="no-setting"),
    ],
)
def test_a_setting_that_is_none_is_not_imported(home: Home, line: dict[str, str]) -> None:
    home.with_tables()
    path = home.folder / "one.jsonl"
    path.write_text(json.dumps({"format": 1, "kind": "setting", **line}), encoding="utf-8")

    result = home.invoke("import", str(path))

    assert (result.code, len(result.lines)) == (1, 1)
    assert "is not one that this program stores" in result.err
    assert home.sql("SELECT count(*) FROM memo WHERE kind <> 'probe'") == [(0,)]
