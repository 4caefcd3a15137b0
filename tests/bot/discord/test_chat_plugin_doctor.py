"""`council doctor` and `council discord invite`: whose the token is, and never the token."""

from urllib.parse import parse_qs, urlsplit

import pytest

from bot.discord.cli import WHERE_IT_IS
from tests.bot.homes import Home, Result
from tests.wire.discord import Fail, FakeDiscord, Installation, Permission

NOWHERE = "http://127.0.0.1:9/api/v10"
TOKEN = "MTAw.mine.secret"
NEEDED = (
    Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.SEND_MESSAGES_IN_THREADS
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.ATTACH_FILES
    | Permission.READ_MESSAGE_HISTORY
)


async def run_command(home: Home, discord: FakeDiscord, *arguments: str, **settings: str) -> Result:
    """Run a command with a token."""
    result = await home.with_settings(**{**discord.settings, **settings}).invoke_in_thread(
        *arguments
    )
    assert discord.token not in result.out + result.err
    return result


def of_discord(result: Result) -> list[str]:
    return [line for line in result.out.splitlines() if "Discord" in line]


def an_app(**settings: object) -> FakeDiscord:
    return FakeDiscord(app=Installation(token=TOKEN, **settings))  # type: ignore[arg-type]


async def test_a_valid_token_is_reported_with_its_bot_and_servers(home: Home) -> None:
    async with an_app(servers=3) as discord:
        result = await run_command(home, discord, "doctor")

    assert result.code == 0
    assert of_discord(result) == [
        "ok   Discord: council#0001, in 3 servers",
        "ok   Discord: anyone may invite it; `council discord invite` prints the link",
    ]
    assert result.err == ""
    assert discord.gateway.identifies == []


async def test_a_private_bot_is_reported(home: Home) -> None:
    async with an_app(servers=0, is_public=False) as discord:
        result = await run_command(home, discord, "doctor")

    bot, invitation = of_discord(result)
    assert bot.endswith("in no server yet")
    assert "only its owner may invite it" in invitation


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"needs_code_grant": True},
            "Switch off Requires OAuth2 Code Grant on the Bot page of your application",
        ),
        pytest.param(
            {"interactions_url": "https://example.com/"},
            "Empty Interactions Endpoint URL under General Information of your application",
            id="endpoint",
        ),
    ],
)
async def test_settings_that_the_owner_must_change_are_failures(
    home: Home, settings: dict[str, object], message: str
) -> None:
    async with an_app(**settings) as discord:
        found = await run_command(home, discord, "doctor")

    assert found.code == 1
    assert [line for line in of_discord(found) if line.startswith("FAIL") and message in line]


async def test_an_invalid_token_is_a_failure(home: Home) -> None:
    async with an_app() as discord:
        result = await run_command(home, discord, "doctor", DISCORD_TOKEN="MTAw.wrong.secret")

    assert result.code == 1
    assert of_discord(result) == [
        "FAIL Discord: DISCORD_TOKEN does not work. Choose Reset Token on the Bot page of your "
        "application, and copy the new one."
    ]
    assert "wrong" not in result.out + result.err


async def test_an_error_of_discord_is_a_failure(home: Home) -> None:
    async with an_app() as discord:
        discord.trouble("GET /users/@me", Fail(503))
        result = await run_command(home, discord, "doctor")

    assert result.code == 1
    assert "Discord has a problem right now (503)." in result.out + result.err


def test_no_token_is_no_failure(home: Home) -> None:
    result = home.with_settings(DISCORD_TOKEN="   ").invoke("doctor")

    assert of_discord(result) == ["     Discord: no token"]
    assert result.code == 0


def test_an_unreachable_discord_is_a_failure(home: Home) -> None:
    result = home.with_settings(DISCORD_TOKEN=TOKEN, DISCORD_API_URL=NOWHERE).invoke("doctor")

    assert result.code == 1
    (line,) = of_discord(result)
    lost = "The connection to Discord was lost (ClientConnectorError)."
    assert line == f"FAIL Discord: {lost} Its address is {NOWHERE}."


def test_the_invitation_works_offline_and_asks_for_no_permission_too_many(home: Home) -> None:
    settings = {"DISCORD_TOKEN": TOKEN, "DISCORD_API_URL": NOWHERE}

    result = home.with_settings(**settings).invoke("discord", "invite")

    line, for_oneself = result.out.splitlines()
    asked = parse_qs(urlsplit(line).query)
    assert TOKEN not in result.out
    assert line.startswith("https://discord.com/oauth2/authorize?")
    assert asked["client_id"] == ["100"]
    assert asked["scope"] == ["bot applications.commands"]
    assert Permission(int(asked["permissions"][0])) == NEEDED
    assert "client_id=100&scope=applications.commands" in for_oneself
    assert for_oneself.endswith("&integration_type=1")


@pytest.mark.parametrize(
    ("token", "fault"),
    [
        ("", "DISCORD_TOKEN is missing."),
        ("a client secret", "DISCORD_TOKEN is not the token of a bot."),
        ("bWluZQ.mine.secret", "DISCORD_TOKEN is not the token of a bot."),
    ],
)
def test_without_a_bots_token_it_says_where_to_get_one(home: Home, token: str, fault: str) -> None:
    result = home.with_settings(DISCORD_TOKEN=token).invoke("discord", "invite")

    assert result.code == 2
    assert result.err == f"{fault} {WHERE_IT_IS}\n"
