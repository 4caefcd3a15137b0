"""Ctrl-C stops a round in any stage; going on asks nobody again who has answered."""

import asyncio
from collections import Counter
from collections.abc import Callable

from tests.bot.homes import TIMEOUT_SECONDS, Home, Result, interrupt, served_config
from tests.wire.models import ModelServer, Request, by_role, fences, hang

NAMES = ("one", "two", "slow")
# What is stored when only the slow model's part of each stage is still open.
STORED = {"answer": ("answer", 2), "judge": ("ballot", 2), "chairman": ("verdict", 1)}


def role_of(request: Request) -> str:
    if "\nNonce: " in request.user:
        return "judge"
    return "chairman" if fences(request.user) else "answer"


def asked(server: ModelServer) -> Counter[tuple[str, str]]:
    """Count what each model was asked, by role."""
    return Counter((role_of(request), request.model) for request in server.requests)


async def until(holds: Callable[[], bool]) -> None:
    """Wait for the other process, which gives no sign but its requests and its rows."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not holds():  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.02)


async def reached(home: Home, server: ModelServer, role: str) -> None:
    """Wait until the slow model was asked in this role, and all that can be saved is."""
    table, rows = STORED[role]
    before = asked(server)[role, "slow"]
    await until(lambda: asked(server)[role, "slow"] > before)
    await until(lambda: home.sql(f"SELECT count(*) FROM {table}")[0][0] >= rows)  # noqa: S608 - ours


async def stopped_in(role: str, home: Home, server: ModelServer, *arguments: str) -> Result:
    """Press Ctrl-C when the slow model alone is awaited in this role."""
    server.script["slow"] = by_role(**{role: hang()})
    waiting = asyncio.create_task(reached(home, server, role))
    process = await home.started("ask", *arguments)
    try:
        await waiting
    except TimeoutError:
        process.kill()
        raise
    return await interrupt(process)


async def test_a_round_stopped_in_every_stage_goes_on_and_asks_nobody_twice(home: Home) -> None:
    async with ModelServer() as server:
        home = home.with_config(served_config(server.api_base, NAMES, chairman=["openai/slow"]))
        stops = [await stopped_in("answer", home, server, "Why?")]
        [(round_id,)] = home.sql("SELECT id FROM round")
        stops.append(await stopped_in("judge", home, server, "--resume", round_id))
        stops.append(await stopped_in("chairman", home, server, "--resume", round_id))
        server.script.clear()
        closed = await home.invoke_in_thread("ask", "--resume", round_id, "--json")
        calls = asked(server)

    for stop in stops:
        assert stop.code == 1
        assert [f"--resume {round_id}" in line for line in stop.lines] == [True]
    assert (closed.code, closed.json["stage"]) == (0, "closed")
    assert (len(closed.json["answers"]), len(closed.json["ballots"])) == (3, 3)
    # Asked twice is only what was awaited when Ctrl-C came.
    assert {call for call, times in calls.items() if times != 1} == {
        (role, "slow") for role in STORED
    }
    assert (await home.invoke_in_thread("verify", round_id)).code == 0
