"""`council serve` beside itself, told to stop in the middle of a call, and copied while it runs."""

import asyncio
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from tests.bot.homes import TIMEOUT_SECONDS, Home, Result, served_config, wait_for_exit
from tests.ports import free_port
from tests.soak.visiting import Visitor
from tests.wire.models import ModelServer

NAMES = ("a", "b", "c")
SLOWLY_SECONDS = 0.6
LONGER_THAN_A_START_SECONDS = 30.0  # however busy the machine is


@asynccontextmanager
async def serving(
    home: Home, *, fresh: bool = False
) -> AsyncIterator[tuple[asyncio.subprocess.Process, Visitor]]:
    process = await home.started("serve", fresh=fresh)
    visitor = Visitor(f"http://127.0.0.1:{home.settings['COUNCIL_PORT']}")
    try:
        yield process, visitor
    finally:
        await visitor.close()
        if process.returncode is None:
            process.kill()
            await process.communicate()


def at_home(folder: Path, server: ModelServer) -> Home:
    config = served_config(server.api_base, NAMES, audit_share=0.0)
    return Home(folder, {"COUNCIL_PORT": str(free_port())}).with_config(config).with_tables()


async def asked(server: ModelServer, calls: int) -> None:
    """Wait until the models have been asked so often."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while len(server.requests) < calls:  # noqa: ASYNC110 - a process of its own asks
            await asyncio.sleep(0.01)


async def stopped(process: asyncio.subprocess.Process) -> Result:
    process.send_signal(signal.SIGTERM)
    return await wait_for_exit(process)


async def test_a_second_process_is_refused_the_database_and_a_running_round(
    tmp_path: Path,
) -> None:
    async with ModelServer(latency=LONGER_THAN_A_START_SECONDS) as server:
        home = at_home(tmp_path, server)
        async with serving(home) as (_, visitor):
            round_id = await visitor.ask("Now?")
            await asked(server, len(NAMES))

            served = await home.with_settings(COUNCIL_PORT="0").beside("serve", fresh=True)
            resumed = await home.invoke_in_thread("ask", "--resume", round_id)

    assert (served.code, resumed.code) == (1, 1)
    assert [
        line
        for line in served.lines
        if "Another process already serves the same chats with this database" in line
    ]
    assert "is already running in another process" in resumed.err
    assert "Traceback" not in served.err + resumed.err


@pytest.mark.parametrize("stage", [pytest.param("answers", marks=pytest.mark.nightly), "ballots"])
async def test_a_running_call_ends_before_shutdown_and_is_not_repeated(
    tmp_path: Path, stage: str
) -> None:
    calls = len(NAMES) if stage == "answers" else 2 * len(NAMES)
    async with ModelServer(latency=SLOWLY_SECONDS) as server:
        home = at_home(tmp_path, server)
        async with serving(home, fresh=True) as (process, visitor):
            round_id = await visitor.ask("Now?")
            await asked(server, calls)
            ran = await stopped(process)
        assert (ran.code, "Traceback" in ran.err) == (0, False)
        assert len(server.requests) == calls

        async with serving(home) as (_, visitor):
            document = await visitor.closed(round_id)

    assert document["stage"] == "closed"
    assert len(server.requests) == 2 * len(NAMES) + 1


def backed_up(database: Path, copy: Path) -> None:
    with closing(sqlite3.connect(database)) as running, closing(sqlite3.connect(copy)) as backup:
        running.backup(backup, pages=5)


@pytest.mark.nightly
async def test_a_copy_made_while_it_runs_is_whole(tmp_path: Path) -> None:
    async with ModelServer(latency=0.05) as server:
        home = at_home(tmp_path, server)
        async with serving(home) as (_, visitor):
            await visitor.closed(await visitor.ask("Before?"))
            asking = asyncio.create_task(visitor.ask("Meanwhile?"))
            copy = tmp_path / "copy.db"
            await asyncio.to_thread(backed_up, home.database, copy)
            await visitor.closed(await asking)
        there = home.with_settings(COUNCIL_DATABASE_URL=f"sqlite:///{copy}")

        ran = await there.invoke_in_thread("verify", "--all")

    assert ran.code == 0
    assert ": verified: " in ran.out
