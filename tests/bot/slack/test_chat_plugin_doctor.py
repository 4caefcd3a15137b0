"""`council doctor` on Slack: tokens, workspace, scopes; and never a token in what it prints."""

from collections.abc import AsyncIterator

import pytest

from bot.slack.client import FEATURES_BY_SCOPE
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


async def run_doctor(home: Home, slack: FakeSlack, **settings: str) -> Result:
    """Run the doctor with a bot token and an app token, or with other settings."""
    tokens = {**slack_environment(slack, "socket"), **settings}
    result = await home.with_settings(**tokens).invoke_in_thread("doctor")
    assert not any(secret in result.out + result.err for secret in (BOT, APP, SECRET))
    return result


def of_slack(result: Result) -> list[str]:
    return [line for line in result.out.splitlines() if "Slack" in line]


async def test_valid_tokens_are_reported_with_their_workspace(home: Home, slack: FakeSlack) -> None:
    result = await run_doctor(home, slack)

    assert result.code == 0
    assert of_slack(result) == [
        "ok   Slack: council in Home, over Socket Mode",
        "ok   Slack: Socket Mode works",
    ]


async def test_over_http_no_socket_is_opened(home: Home, slack: FakeSlack) -> None:
    result = await run_doctor(home, slack, SLACK_APP_TOKEN="", SLACK_SIGNING_SECRET=SECRET)

    assert result.code == 0
    assert of_slack(result)[0] == "ok   Slack: council in Home, over HTTP at /slack/events"
    assert slack.called("apps.connections.open") == []


async def test_both_invalid_tokens_are_reported_at_once(home: Home, slack: FakeSlack) -> None:
    result = await run_doctor(
        home, slack, SLACK_BOT_TOKEN="xoxb-wrong", SLACK_APP_TOKEN="xapp-wrong"
    )

    assert result.code == 1
    bot, app = of_slack(result)
    assert bot.startswith("FAIL Slack: SLACK_BOT_TOKEN does not work (invalid_auth)")
    assert app.startswith("FAIL Slack: SLACK_APP_TOKEN does not work (invalid_auth)")
    assert "xoxb-wrong" not in result.out
    assert "xapp-wrong" not in result.out


async def test_every_missing_scope_is_reported(home: Home) -> None:
    scopes = tuple(sorted({*SCOPES} - {"chat:write", "commands", "users:read", "files:write"}))
    async with FakeSlack(app=Installation(scopes=scopes)) as slack:
        result = await run_doctor(home, slack)

    lines = of_slack(result)
    assert result.code == 1
    assert sum(line.startswith("FAIL Slack: The scope ") for line in lines) == 2
    for scope in ("files:write", "users:read"):
        assert f"Slack: {FEATURES_BY_SCOPE[scope]}: {scope} is missing" in "\n".join(lines)


async def test_a_distributed_app_needs_no_bot_token(home: Home, slack: FakeSlack) -> None:
    app = slack.state.app
    own = {"SLACK_CLIENT_ID": app.client_id, "SLACK_CLIENT_SECRET": app.client_secret}
    redirect = "https://council.example.com/slack/oauth_redirect"

    result = await run_doctor(home, slack, SLACK_BOT_TOKEN="", SLACK_REDIRECT_URI=redirect, **own)

    assert result.code == 0
    assert of_slack(result) == [
        "     Slack: workspaces install the app at https://council.example.com/slack/install",
        "ok   Slack: Socket Mode works",
        "ok   Slack: 0 workspaces installed the app",
    ]
    assert app.client_secret not in result.out + result.err


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        pytest.param({}, "     Slack: no token", id="none"),
        pytest.param(
            {"SLACK_BOT_TOKEN": BOT},
            "FAIL Slack: SLACK_APP_TOKEN is missing, or SLACK_SIGNING_SECRET for HTTP",
            id="bot-token-alone",
        ),
        ({"SLACK_APP_TOKEN": APP}, "FAIL Slack: SLACK_BOT_TOKEN is missing"),
        (
            {"SLACK_APP_TOKEN": APP, "SLACK_CLIENT_ID": "11.22"},
            "FAIL Slack: SLACK_CLIENT_SECRET is missing",
        ),
        pytest.param(
            {"SLACK_SIGNING_SECRET": SECRET, "SLACK_BOT_TOKEN": "  "},
            "FAIL Slack: SLACK_BOT_TOKEN is missing",
            id="blank-bot-token",
        ),
    ],
)
def test_missing_tokens_are_reported(home: Home, settings: dict[str, str], line: str) -> None:
    result = home.with_settings(**settings).invoke("doctor")

    assert of_slack(result) == [line]
    assert result.code == (1 if "FAIL" in line else 0)


def test_an_unreachable_slack_is_a_failure(home: Home) -> None:
    tokens = {"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP, "SLACK_API_URL": NOWHERE}

    result = home.with_settings(**tokens).invoke("doctor")

    assert result.code == 1
    assert len(of_slack(result)) == 1
    assert (
        f"The connection to Slack was lost (ClientConnectorError). Its address is {NOWHERE}."
        in (of_slack(result)[0])
    )
