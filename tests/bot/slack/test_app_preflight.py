"""Preflight and reconnection: tokens that do not work, missing scopes, and Slack out of reach.

Slack runs in this process; that its page stays up meanwhile is a story of a process.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

import pytest

from bot.slack.app import Slack
from bot.slack.client import FEATURES_BY_SCOPE
from bot.slack.config import Tokens
from bot.slack.installations import REVOKED
from tests.bot.app_fakes import an_app
from tests.bot.slack.in_process import FAST_LIMITS, make_fake_slack, run_slack
from tests.fakes.gateway import BlockedGateway
from tests.ports import free_port
from tests.wire.faults import until
from tests.wire.slack import DropBefore, Fail, FakeSlack, Installation, Slow
from tests.wire.slack.state import SCOPES

TIMEOUT_SECONDS = 30.0
BOT, APP = "xoxb-9-mine", "xapp-9-mine"
OPEN = "apps.connections.open"


@dataclass(slots=True)
class Started:
    """A started Slack and the sentences about its state."""

    reports: list[str]
    running: asyncio.Task[None]

    async def reported(self, words: str) -> str:
        """Wait for a sentence with these words, and return it."""

        def found() -> list[str]:
            return [line for line in self.reports if words in line]

        await until(found, TIMEOUT_SECONDS, lambda: self.reports)
        return found()[0]

    async def ended(self) -> None:
        """Wait until Slack has given up; everything else of the product goes on."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await self.running


@asynccontextmanager
async def start(api_url: str, bot: str = BOT, app: str = APP) -> AsyncIterator[Started]:
    """Start Slack with these tokens; no sentence about its state may contain one."""
    reports: list[str] = []
    slack = Slack(an_app(BlockedGateway()), Tokens(bot, app, "", api_url), reports.append, LIMITS)
    running = asyncio.create_task(slack.run())
    try:
        yield Started(reports, running)
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    assert not any(secret in line for line in reports for secret in (BOT, APP, bot, app))


LIMITS = replace(FAST_LIMITS, ping_seconds=0.2)


def a_slack(*without: str, port: int = 0) -> FakeSlack:
    scopes = tuple(scope for scope in SCOPES if scope not in without)
    return FakeSlack(app=Installation(BOT, APP, scopes=scopes), port=port)


@pytest.mark.parametrize(
    ("bot", "app", "reason", "calls"),
    [
        pytest.param("xoxb-wrong", APP, "SLACK_BOT_TOKEN does not work (inv", 1, id="bot"),
        pytest.param(APP, APP, "SLACK_BOT_TOKEN does not work", 1, id="app-token-for-the-bot"),
        pytest.param(BOT, "xapp-no", "SLACK_APP_TOKEN does not work (invalid_auth)", 2, id="app"),
        pytest.param(BOT, BOT, "(not_allowed_token_type)", 2, id="bot-token-for-the-app"),
    ],
)
async def test_an_invalid_token_is_reported_once_and_not_retried(
    bot: str, app: str, reason: str, calls: int
) -> None:
    async with a_slack() as slack, start(slack.api_url, bot, app) as started:
        await started.ended()

    (line,) = started.reports
    assert line.startswith("Slack: not started. ")
    assert reason in line
    assert [call.method for call in slack.calls] == ["auth.test", OPEN][:calls]


@pytest.mark.parametrize("scope", ["chat:write", "commands"])
async def test_slack_does_not_start_without_a_required_scope(scope: str) -> None:
    async with a_slack(scope) as slack, start(slack.api_url) as started:
        await started.ended()

    assert f"The scope {scope} is missing" in started.reports[0]
    assert slack.called(OPEN) == []


async def test_slack_starts_without_optional_scopes_and_lists_what_is_off() -> None:
    without = ("files:write", "users:read", "channels:history")
    scopes = [scope for scope in SCOPES if scope not in without]
    async with make_fake_slack(scopes) as slack, run_slack(slack) as bot:
        root = await bot.ask()
        bot.release_models()
        await bot.wait_until_delivered()

        assert len(slack.thread("C1", root.ts)) == 1
        assert not slack.called("files.getUploadURLExternal")
        _, *warnings = bot.reports
        for scope, line in zip(sorted(without), warnings, strict=True):
            assert line.startswith(f"Slack: {FEATURES_BY_SCOPE[scope]}: {scope} is missing")


async def test_slack_connects_when_it_becomes_reachable_after_the_start() -> None:
    port = free_port()
    async with start(f"http://127.0.0.1:{port}/api/") as started:
        lost = await started.reported("Slack: The connection to Slack was lost")
        async with a_slack(port=port) as slack:
            await slack.connected(seconds=TIMEOUT_SECONDS)
            await started.reported("Slack: in Home over Socket Mode")

    assert lost.endswith("The next try is in 1 s.")


async def test_a_rate_limit_at_the_start_is_retried() -> None:
    async with a_slack() as slack:
        slack.storm("auth.test", 600, retry_after=60)
        slack.trouble(OPEN, Fail(503))
        async with start(slack.api_url) as started:
            await started.reported("The next try is in 1 s.")
            slack.storm("auth.test", 0)
            await started.reported("(503). The next try is in")
            await slack.connected(seconds=TIMEOUT_SECONDS)

    assert not any("does not work" in line for line in started.reports)


async def test_a_failed_socket_handshake_is_retried_and_an_expired_url_not_forever() -> None:
    async with a_slack() as slack:
        slack.trouble(OPEN, Slow(0.0))
        slack.trouble(OPEN, DropBefore())
        slack.links.turned_away = 1
        async with start(slack.api_url):
            await slack.connected(seconds=TIMEOUT_SECONDS)

    assert 3 <= len(slack.called(OPEN)) <= 6


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "cut"])
async def test_an_app_token_revoked_at_run_time_ends_slack(*, announced: bool) -> None:
    async with a_slack() as slack, start(slack.api_url) as started:
        await slack.connected()
        before = len(slack.called(OPEN))
        slack.state.tokens[APP].trouble = "token_revoked"
        if announced:
            await slack.links.say_disconnect("link_disabled")
        else:
            slack.links.cut()
        await started.ended()

        assert len(slack.called(OPEN)) <= before + 3

    (line,) = [line for line in started.reports if "SLACK_APP_TOKEN" in line]
    assert line.startswith("Slack: stopped. ")
    assert "(token_revoked)" in line


async def test_a_bot_token_revoked_at_run_time_is_reported_once() -> None:
    async with a_slack() as slack, start(slack.api_url) as started:
        await slack.connected()
        await slack.revokes(bot=False)
        event = await slack.revokes()
        await started.reported(REVOKED)

    assert event.accepted
    assert started.reports[1:] == [f"Slack: {REVOKED}"]


async def test_what_bolt_would_read_from_the_environment_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("ID", "1.2"), ("SECRET", "abc")):
        monkeypatch.setenv(f"SLACK_CLIENT_{name}", value)
    monkeypatch.setenv("SLACK_SIGNING_SECRET", "9f742231b10e8888")
    async with a_slack() as slack, start(slack.api_url) as started:
        await slack.connected()
        action = await slack.command("U1", "C1", "/council", "help")

    assert action.message
    assert started.reports == ["Slack: in Home over Socket Mode."]
