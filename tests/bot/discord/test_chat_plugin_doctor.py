"""`council doctor` and `council discord invite`: whose the token is, and never the token."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.bot.homes import Home, Result
from tests.wire.discord import BOT, Fail, FakeDiscord, Installation, Permission

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


@pytest.mark.parametrize("command", ["doctor", "discord invite"])
async def test_an_error_of_discord_is_a_failure(home: Home, command: str) -> None:
    async with an_app() as discord:
        discord.trouble("GET /users/@me", Fail(503))
        result = await run_command(home, discord, *command.split())

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


async def test_the_invitation_asks_for_no_permission_too_many(home: Home) -> None:
    async with an_app() as discord:
        result = await run_command(home, discord, "discord", "invite")

    line, for_oneself = result.out.splitlines()
    asked = parse_qs(urlsplit(line).query)
    assert line.startswith("https://discord.com/oauth2/authorize?")
    assert asked["client_id"] == [BOT]
    assert asked["scope"] == ["bot applications.commands"]
    assert Permission(int(asked["permissions"][0])) == NEEDED
    assert f"client_id={BOT}&scope=applications.commands" in for_oneself
    assert for_oneself.endswith("&integration_type=1")


async def test_no_unusable_invitation_is_printed(home: Home) -> None:
    async with an_app(needs_code_grant=True) as discord:
        result = await run_command(home, discord, "discord", "invite")

    assert (result.code, result.out) == (1, "")
    assert "Switch off Requires OAuth2 Code Grant on the Bot page of your application" in result.err


def test_an_invitation_needs_a_token(home: Home) -> None:
    result = home.invoke("discord", "invite")

    assert result.code == 2
    assert result.err == "DISCORD_TOKEN is missing: docs/discord.md says where it is found.\n"
