"""`council serve` and `council ask` as processes on one database server."""

from pathlib import Path

from tests.bot.cli.test_serve_lifetimes import NAMES, SLOWLY_SECONDS, asked, serving, stopped
from tests.bot.homes import TIMEOUT_SECONDS, Home, served_config
from tests.ports import free_port
from tests.wire.models import ModelServer


def at_home(folder: Path, server: ModelServer, url: str) -> Home:
    config = served_config(server.api_base, NAMES, audit_share=0.0)
    return Home(folder, {"COUNCIL_DATABASE_URL": url}).with_config(config)


def with_a_port(home: Home) -> Home:
    return home.with_settings(COUNCIL_PORT=str(free_port()))


async def test_another_process_finishes_a_round_and_no_call_is_made_twice(
    tmp_path: Path, migrated_url: str
) -> None:
    async with ModelServer(latency=SLOWLY_SECONDS) as server:
        home = at_home(tmp_path, server, migrated_url)
        async with serving(with_a_port(home), fresh=True) as (leaving, visitor):
            round_id = await visitor.ask("Now?")
            await asked(server, len(NAMES))
            async with serving(with_a_port(home)) as (_, elsewhere):
                await elsewhere.page("nothing")  # it answers, so it is there
                ran = await stopped(leaving)
                document = await elsewhere.closed(round_id)

    assert (ran.code, "Traceback" in ran.err) == (0, False)
    assert document["stage"] == "closed"
    assert len(server.requests) == 2 * len(NAMES) + 1


async def test_a_command_cannot_resume_a_round_that_the_cluster_runs(
    tmp_path: Path, migrated_url: str
) -> None:
    async with ModelServer(latency=TIMEOUT_SECONDS) as server:
        home = at_home(tmp_path, server, migrated_url)
        async with serving(with_a_port(home)) as (_, visitor):
            round_id = await visitor.ask("Now?")
            await asked(server, len(NAMES))

            refused = await home.invoke_in_thread("ask", "--resume", round_id)

    assert refused.code == 1
    assert "is running in another process" in refused.err
    assert len(server.requests) == len(NAMES)


def test_a_command_asks_by_itself(home: Home, migrated_url: str) -> None:
    ran = home.with_settings(COUNCIL_DATABASE_URL=migrated_url).invoke("ask", "Why?", "--json")

    assert (ran.code, ran.json["stage"]) == (0, "closed")
