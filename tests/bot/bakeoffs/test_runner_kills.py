"""A bake-off whose process is killed goes on with the next one: nothing is asked or paid twice."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from tests.bot.homes import TIMEOUT_SECONDS, Home, interrupt, served_config
from tests.ports import free_port
from tests.soak.paid import PaidServer

MEMBERS = ("a", "b", "c")
QUESTIONS = 6
MARGIN_SECONDS = 0.05  # what a reply takes from the wire to the database


def at_home(folder: Path, server: PaidServer) -> Home:
    terms = {"chairman": ["openai/a"], "audit_share": 0.0}
    home = Home(folder, {"COUNCIL_PORT": str(free_port())})
    suite = "\n".join(f"What now? [round {n}]" for n in range(1, QUESTIONS + 1))
    (folder / "sql.txt").write_text(suite)
    return home.with_tables().with_config(served_config(server.api_base, MEMBERS, **terms))


async def until_calls(server: PaidServer, calls: int) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while server.bill.total < calls:  # noqa: ASYNC110 - a process of its own asks
            await asyncio.sleep(0.005)


async def killed_after(home: Home, server: PaidServer, calls: int, *arguments: str) -> float:
    process = await home.started("bakeoff", "run", *arguments, fresh=True)
    await until_calls(server, server.bill.total + calls)
    process.kill()
    at = time.time()
    await process.communicate()
    return at


async def until_ended(home: Home) -> None:
    """Wait until the product has noted the end of the bake-off."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not home.sql("SELECT 1 FROM bakeoff WHERE ended_at IS NOT NULL"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    "resumed_calls", [(), pytest.param((5, 8), marks=pytest.mark.nightly, id="three-kills")]
)
async def test_a_killed_bakeoff_asks_nothing_twice_and_comes_to_its_end(
    tmp_path: Path, resumed_calls: tuple[int, ...]
) -> None:
    async with PaidServer(latency=0.08) as server:
        home = at_home(tmp_path, server)
        kills = [
            await killed_after(home, server, 9, "sql.txt", "--yes"),
            *[await killed_after(home, server, n, "--resume", "last") for n in resumed_calls],
        ]

        served = await home.started("serve")
        await until_ended(home)
        served.terminate()
        await served.communicate()

    again = server.bill.again(kills)
    assert max(again, default=0.0) <= MARGIN_SECONDS
    # At each kill, the calls of two rounds are in flight: two rankings by each judge.
    assert len(again) <= len(kills) * 2 * 2 * len(MEMBERS)
    assert len(server.bill.calls) == QUESTIONS * (3 * len(MEMBERS) + 1)
    rows = home.sql("SELECT count(*), count(seconds) FROM round WHERE bakeoff LIKE 'bo:%'")
    assert rows == [(QUESTIONS, QUESTIONS)]


@pytest.mark.nightly
async def test_an_interrupted_bakeoff_is_ended_until_it_is_resumed(tmp_path: Path) -> None:
    async with PaidServer(latency=0.08) as server:
        home = at_home(tmp_path, server)
        process = await home.started("bakeoff", "run", "sql.txt", "--yes", fresh=True)
        await until_calls(server, 9)
        ran = await interrupt(process)
        assert home.sql("SELECT 1 FROM bakeoff WHERE ended_at IS NOT NULL")  # no start resumes it
        resumed = await home.beside("bakeoff", "run", "--resume", "last", "--json")

    assert ran.code == 1
    assert (
        "Stopped. Your progress is saved. Resume with: council bakeoff run --resume bo:" in ran.err
    )
    assert resumed.code == 0
    document = json.loads(resumed.out)
    assert (document["over"], document["questions"]) == (QUESTIONS, QUESTIONS)
    assert len(server.bill.calls) == QUESTIONS * (3 * len(MEMBERS) + 1)


async def test_two_processes_do_not_hold_the_same_one(tmp_path: Path) -> None:
    async with PaidServer(latency=20) as server:
        home = at_home(tmp_path, server)
        first = await home.started("bakeoff", "run", "sql.txt", "--yes")
        await until_calls(server, 2)

        second = await home.invoke_in_thread("bakeoff", "run", "--resume", "last")
        first.kill()
        await first.communicate()

    assert second.code == 1
    assert "is already running in another process on this machine" in second.err
