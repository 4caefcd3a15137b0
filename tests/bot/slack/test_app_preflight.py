"""Preflight and reconnection: tokens that do not work, missing scopes, and Slack out of reach.

The product runs as a process next to the fake Slack. Whatever happens to Slack, its page stays
available, and its output contains no token.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.bot.homes import TIMEOUT_SECONDS, Home
from tests.bot.running import RunningServer, holds_for
from tests.bot.running import running_server as watched
from tests.bot.slack.serving import serve_slack, slack_environment
from tests.ports import free_port
from tests.wire.slack import DropBefore, Fail, FakeSlack, Installation, Slow
from tests.wire.slack.state import SCOPES

BOT, APP, SECRET = "xoxb-9-mine", "xapp-9-mine", "9f742231b10e8888"
SECRETS = re.compile("xo|xa|9f7")
STILL_SECONDS = 0.3
MINE = Installation(bot_token=BOT, app_token=APP, signing_secret=SECRET)


@asynccontextmanager
async def running(folder: Path, settings: dict[str, str]) -> AsyncIterator[RunningServer]:
    """Serve until the block ends; no token may be in what was said by then."""
    secrets = (BOT, APP, SECRET, *filter(SECRETS.match, settings.values()))
    async with watched(Home(folder, settings), secrets) as run:
        yield run


def a_slack(*without: str, port: int = 0) -> FakeSlack:
    """Give a Slack in which the app lacks some scopes."""
    scopes = tuple(scope for scope in SCOPES if scope not in without)
    return FakeSlack(app=Installation(BOT, APP, MINE.config_token, SECRET, scopes), port=port)


@pytest.mark.parametrize(
    ("settings", "told", "asked"),
    [
        pytest.param(
            {"SLACK_BOT_TOKEN": "xoxb-wrong"},
            "SLACK_BOT_TOKEN does not work (invalid_auth): copy the Bot User OAuth Token",
            {"auth.test": 1, "apps.connections.open": 0},
            id="bot-token",
        ),
        pytest.param(
            {"SLACK_BOT_TOKEN": APP},
            "SLACK_BOT_TOKEN does not work (it is no bot's)",
            {"auth.test": 1, "apps.connections.open": 0},
            id="an-app-token-for-the-bot",
        ),
        pytest.param(
            {"SLACK_APP_TOKEN": "xapp-wrong"},
            "SLACK_APP_TOKEN does not work (invalid_auth): make an App-Level Token",
            {"auth.test": 1, "apps.connections.open": 1},
            id="app-token",
        ),
        pytest.param(
            {"SLACK_APP_TOKEN": BOT},
            "SLACK_APP_TOKEN does not work (not_allowed_token_type)",
            {"auth.test": 1, "apps.connections.open": 1},
            id="a-bot-token-for-the-app",
        ),
    ],
)
async def test_an_invalid_token_is_reported_once_and_not_retried(
    tmp_path: Path, settings: dict[str, str], told: str, asked: dict[str, int]
) -> None:
    async with a_slack() as slack:
        given = {**slack_environment(slack, "socket"), **settings}
        async with running(tmp_path, given) as run:
            line = await run.says("Slack: not started. ")
            assert await run.page_is_up()
            assert await holds_for(lambda: len(slack.calls) == sum(asked.values()), STILL_SECONDS)

    assert told in line
    assert run.of("Slack") == [line]
    assert {method: len(slack.called(method)) for method in asked} == asked


@pytest.mark.parametrize("scope", ["chat:write", "commands"])
async def test_slack_does_not_start_without_a_required_scope(tmp_path: Path, scope: str) -> None:
    async with (
        a_slack(scope) as slack,
        running(tmp_path, slack_environment(slack, "socket")) as run,
    ):
        line = await run.says("Slack: not started. ")
        assert await run.page_is_up()

    assert f"The scope {scope} is missing: add it under OAuth & Permissions" in line
    assert slack.called("apps.connections.open") == []


async def test_slack_starts_without_optional_scopes_and_lists_what_is_off(tmp_path: Path) -> None:
    without = ("files:write", "users:read", "channels:history")
    async with (
        a_slack(*without) as slack,
        running(tmp_path, slack_environment(slack, "socket")) as run,
    ):
        await slack.connected()
        await slack.command("U1", "C1", "/council", "Why?")
        await slack.until(lambda: len(_thread(slack)) >= 6, TIMEOUT_SECONDS)
        assert await holds_for(
            lambda: not slack.called("files.getUploadURLExternal"), STILL_SECONDS
        )

    said = "\n".join(run.of("Slack"))
    assert "Slack: no files are posted: files:write is missing" in said
    assert "Slack: guests cannot be told from members, and names are not shown: users:read" in said
    assert len(run.of("Slack")) == 1 + len(without)


def _thread(slack: FakeSlack) -> list[object]:
    roots = [message for message in slack.messages("C1") if message.payload.get("bot_id")]
    return [*slack.thread("C1", roots[0].ts)] if roots else []


async def test_slack_connects_when_it_becomes_reachable_after_the_start(tmp_path: Path) -> None:
    port = free_port()
    told = {"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP}
    told |= {"SLACK_API_URL": f"http://127.0.0.1:{port}/api/"}

    async with running(tmp_path, told) as run:
        lost = await run.says("Slack: The connection to Slack was lost")
        assert await run.page_is_up()
        async with a_slack(port=port) as slack:
            await slack.connected(seconds=TIMEOUT_SECONDS)
            await run.says("Slack: in Home over Socket Mode")

    assert lost.endswith("The next try is in 1 s.")


async def test_a_rate_limit_at_the_start_is_retried(tmp_path: Path) -> None:
    async with a_slack() as slack:
        slack.storm("auth.test", 600, retry_after=60)
        slack.trouble("apps.connections.open", Fail(503))
        async with running(tmp_path, slack_environment(slack, "socket")) as run:
            await run.says("Slack: Slack is asked too often just now. The next try is in 1 s.")
            slack.storm("auth.test", 0)
            await run.says("Slack: Slack is at fault itself just now (503). The next try is in")
            await slack.connected(seconds=TIMEOUT_SECONDS)

    assert not any("does not work" in line for line in run.lines)


async def test_a_failed_socket_handshake_is_retried(tmp_path: Path) -> None:
    async with a_slack() as slack:
        slack.trouble("apps.connections.open", Slow(0.0))
        slack.trouble("apps.connections.open", DropBefore())
        async with running(tmp_path, slack_environment(slack, "socket")):
            await slack.connected(seconds=TIMEOUT_SECONDS)

    assert len(slack.called("apps.connections.open")) == 3


async def test_an_expired_socket_url_is_not_retried_forever(tmp_path: Path) -> None:
    async with a_slack() as slack:
        slack.links.turned_away = 1
        async with running(tmp_path, slack_environment(slack, "socket")):
            await slack.connected(seconds=TIMEOUT_SECONDS)

    assert len(slack.called("apps.connections.open")) <= 4


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "cut"])
async def test_an_app_token_revoked_at_run_time_ends_slack_and_nothing_else(
    tmp_path: Path, *, announced: bool
) -> None:
    async with a_slack() as slack, running(tmp_path, slack_environment(slack, "socket")) as run:
        await slack.connected()
        before = len(slack.called("apps.connections.open"))
        slack.state.tokens[APP].trouble = "token_revoked"
        await _end_links(slack, announced=announced)
        line = await run.says("SLACK_APP_TOKEN no more")
        assert await holds_for(
            lambda: len(slack.called("apps.connections.open")) <= before + 3, 1.0
        )
        assert await run.page_is_up()

    assert (
        line
        == "Slack: stopped. Slack takes SLACK_APP_TOKEN no more (token_revoked): make a new one."
    )
    assert sum("no more" in line for line in run.lines) == 1


async def _end_links(slack: FakeSlack, *, announced: bool) -> None:
    if announced:
        await slack.links.say_disconnect("link_disabled")
    else:
        slack.links.cut()


async def test_a_bot_token_revoked_at_run_time_is_reported_once(tmp_path: Path) -> None:
    async with a_slack() as slack, running(tmp_path, slack_environment(slack, "socket")) as run:
        await slack.connected()
        await slack.revokes(bot=False)
        event = await slack.revokes()
        line = await run.says("SLACK_BOT_TOKEN was revoked")
        assert await run.page_is_up()

    assert event.accepted
    assert [told for told in run.of("Slack") if "revoked" in told] == [line]
    assert "install the app again, set its new token" in line


async def test_what_bolt_would_read_from_the_environment_changes_nothing(tmp_path: Path) -> None:
    others = {"SLACK_CLIENT_ID": "1.2", "SLACK_CLIENT_SECRET": "abc"}
    async with a_slack() as slack:
        told = {**slack_environment(slack, "socket"), "SLACK_SIGNING_SECRET": SECRET, **others}
        async with running(tmp_path, told) as run:
            await slack.connected()
            deed = await slack.command("U1", "C1", "/council", "help")

    assert "QUESTION" in str(deed.payload)
    assert run.lines[-1] == "Slack: in Home over Socket Mode."


async def test_over_http_slack_may_try_the_address_once_it_runs(tmp_path: Path) -> None:
    async with FakeSlack("http") as slack, serve_slack(tmp_path, slack, "http"):
        assert await slack.request_url.verify()
