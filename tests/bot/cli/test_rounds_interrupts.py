"""Ctrl-C stops a round, which can be resumed; tests/council/pipeline stops it in every stage."""

import asyncio
from collections import Counter

from tests.bot.homes import TIMEOUT_SECONDS, Home, interrupt, served_config
from tests.wire.models import ModelServer, Request, by_role, hang

NAMES = ("one", "two", "slow")


def is_judge_call(request: Request) -> bool:
    return "\nNonce: " in request.user


async def wait_for_ballots(home: Home, server: ModelServer) -> None:
    """Wait until the slow judge is asked, and the ballots of the others are stored."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        # The other process gives no sign but its requests and its rows.
        while not any(is_judge_call(one) and one.model == "slow" for one in server.requests):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        while home.sql("SELECT count(*) FROM ballot") != [(2,)]:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_stopped_round_is_resumed_and_no_reply_is_requested_twice(home: Home) -> None:
    async with ModelServer() as server:
        home = home.with_config(served_config(server.api_base, NAMES, chairman=["openai/one"]))
        server.script["slow"] = by_role(judge=hang())
        process = await home.started("ask", "Why?", fresh=True)
        try:
            await wait_for_ballots(home, server)
            stopped = await interrupt(process)
        except TimeoutError:
            process.kill()
            raise
        [(round_id,)] = home.sql("SELECT id FROM round")
        server.script.clear()
        closed = await home.invoke_in_thread("ask", "--resume", round_id, "--json")
        judge_calls = Counter(one.model for one in server.requests if is_judge_call(one))

    assert stopped.code == 1
    assert [f"--resume {round_id}" in line for line in stopped.lines] == [True]
    assert (closed.code, closed.json["stage"]) == (0, "closed")
    assert (len(closed.json["answers"]), len(closed.json["ballots"])) == (3, 3)
    # Three answers and one synthesis; asked twice is only the judge that Ctrl-C cut off.
    assert judge_calls == {"one": 1, "two": 1, "slow": 2}
    assert len(server.requests) == 3 + judge_calls.total() + 1
    assert (await home.invoke_in_thread("verify", round_id)).code == 0
