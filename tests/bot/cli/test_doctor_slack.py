"""`council doctor` on Slack: tokens, workspace, scopes; and never a token in what it prints."""

from collections.abc import AsyncIterator

import pytest

from tests.bot.homes import Home, Result
from tests.bot.slack.process import slack_environment
from tests.wire.slack import FakeSlack, Installation
from tests.wire.slack.state import SCOPES

BOT, APP, SECRET = "xoxb-9-mine", "xapp-9-mine", "9f742231b10e8888"
NOWHERE = "http://127.0.0.1:9/api/"


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    app = Installation(bot_token=BOT, app_token=APP, signing_secret=SECRET)
    async with FakeSlack(app=app) as slack:
        yield slack


async def examined(home: Home, slack: FakeSlack, **settings: str) -> Result:
    """Look at a home that has a bot token and an app token, or others."""
    told = {**slack_environment(slack, "socket"), **settings}
    ran = await home.with_settings(**told).invoke_in_thread("doctor")
    assert not any(secret in ran.out + ran.err for secret in (BOT, APP, SECRET))
    return ran


def of_slack(ran: Result) -> list[str]:
    return [line for line in ran.out.splitlines() if "Slack" in line]


async def test_sound_tokens_are_told_with_workspace_and_bot(home: Home, slack: FakeSlack) -> None:
    ran = await examined(home, slack)

    assert ran.code == 0
    assert of_slack(ran) == [
        "ok   Slack: council in Home, over Socket Mode",
        "ok   Slack: a socket can be opened",
    ]


async def test_over_http_no_socket_is_tried(home: Home, slack: FakeSlack) -> None:
    ran = await examined(home, slack, SLACK_APP_TOKEN="", SLACK_SIGNING_SECRET=SECRET)

    assert ran.code == 0
    assert of_slack(ran)[0] == "ok   Slack: council in Home, over HTTP at /slack/events"
    assert slack.called("apps.connections.open") == []


async def test_both_bad_tokens_are_told_at_once(home: Home, slack: FakeSlack) -> None:
    ran = await examined(home, slack, SLACK_BOT_TOKEN="xoxb-wrong", SLACK_APP_TOKEN="xapp-wrong")

    assert ran.code == 1
    bot, app = of_slack(ran)
    assert bot.startswith("FAIL Slack: SLACK_BOT_TOKEN does not work (invalid_auth)")
    assert app.startswith("FAIL Slack: SLACK_APP_TOKEN does not work (invalid_auth)")
    assert "xoxb-wrong" not in ran.out
    assert "xapp-wrong" not in ran.out


async def test_tokens_in_each_others_place_are_told(home: Home, slack: FakeSlack) -> None:
    ran = await examined(home, slack, SLACK_BOT_TOKEN=APP, SLACK_APP_TOKEN=BOT)

    bot, app = of_slack(ran)
    assert "SLACK_BOT_TOKEN does not work (it is no bot's)" in bot
    assert "SLACK_APP_TOKEN does not work (not_allowed_token_type)" in app


async def test_every_missing_scope_is_a_finding(home: Home) -> None:
    scopes = tuple(sorted({*SCOPES} - {"chat:write", "commands", "users:read", "files:write"}))
    async with FakeSlack(app=Installation(scopes=scopes)) as slack:
        ran = await examined(home, slack)

    lines = of_slack(ran)
    assert ran.code == 1
    assert sum(line.startswith("FAIL Slack: The scope ") for line in lines) == 2
    assert "     Slack: no files are posted: files:write is missing" in "\n".join(lines)
    assert "     Slack: guests cannot be told from members" in "\n".join(lines)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        pytest.param({}, "     Slack: no token", id="none"),
        pytest.param(
            {"SLACK_BOT_TOKEN": BOT},
            "FAIL Slack: SLACK_APP_TOKEN is missing, or SLACK_SIGNING_SECRET for HTTP",
            id="bot-token-alone",
        ),
        pytest.param(
            {"SLACK_APP_TOKEN": APP}, "FAIL Slack: SLACK_BOT_TOKEN is missing", id="app-token-alone"
        ),
        pytest.param(
            {"SLACK_SIGNING_SECRET": SECRET, "SLACK_BOT_TOKEN": "  "},
            "FAIL Slack: SLACK_BOT_TOKEN is missing",
            id="blank-bot-token",
        ),
    ],
)
def test_what_is_missing_is_told(home: Home, settings: dict[str, str], line: str) -> None:
    ran = home.with_settings(**settings).invoke("doctor")

    assert of_slack(ran) == [line]
    assert ran.code == (1 if "FAIL" in line else 0)


def test_a_slack_that_cannot_be_reached_is_a_finding(home: Home) -> None:
    told = {"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP, "SLACK_API_URL": NOWHERE}

    ran = home.with_settings(**told).invoke("doctor")

    assert ran.code == 1
    assert len(of_slack(ran)) == 1
    assert (
        f"The connection to Slack was lost (ClientConnectorError). Its address is {NOWHERE}."
        in (of_slack(ran)[0])
    )
