"""`council doctor` and `council discord invite`: who the token is, and never the token itself."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.bot.homes import Home, Result
from tests.wire.discord import BOT, Fail, FakeDiscord, Installation, Permission, Storm

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


async def ran(home: Home, discord: FakeDiscord, *arguments: str, **settings: str) -> Result:
    """Run a command of a home that has a token."""
    ran = await home.with_settings(**{**discord.settings, **settings}).invoke_in_thread(*arguments)
    assert discord.token not in ran.out + ran.err
    return ran


def of_discord(ran: Result) -> list[str]:
    return [line for line in ran.out.splitlines() if "Discord" in line]


def an_app(**settings: object) -> FakeDiscord:
    return FakeDiscord(app=Installation(token=TOKEN, **settings))  # type: ignore[arg-type]


async def test_a_sound_token_is_told_with_bot_and_servers(home: Home) -> None:
    async with an_app(servers=3) as discord:
        told = await ran(home, discord, "doctor")

    assert told.code == 0
    assert of_discord(told) == [
        "ok   Discord: council#0001, in 3 servers",
        "ok   Discord: anybody may invite it; `council discord invite` prints the link",
    ]
    assert told.err == ""
    assert discord.gateway.identifies == []


async def test_a_bot_of_its_owners_own_is_told(home: Home) -> None:
    async with an_app(servers=0, is_public=False) as discord:
        told = await ran(home, discord, "doctor")

    bot, invitation = of_discord(told)
    assert bot.endswith("in no server yet")
    assert "its owner alone may invite it" in invitation


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        pytest.param(
            {"needs_code_grant": True}, "switch off Requires OAuth2 Code Grant", id="code-grant"
        ),
        pytest.param(
            {"interactions_url": "https://example.com/"},
            "empty Interactions Endpoint URL under General Information",
            id="endpoint",
        ),
    ],
)
async def test_what_its_owner_has_to_change_is_a_finding(
    home: Home, settings: dict[str, object], told: str
) -> None:
    async with an_app(**settings) as discord:
        found = await ran(home, discord, "doctor")

    assert found.code == 1
    assert [line for line in of_discord(found) if line.startswith("FAIL") and told in line]


async def test_a_token_that_does_not_work_is_a_finding(home: Home) -> None:
    async with an_app() as discord:
        told = await ran(home, discord, "doctor", DISCORD_TOKEN="MTAw.wrong.secret")

    assert told.code == 1
    assert of_discord(told) == [
        "FAIL Discord: DISCORD_TOKEN does not work: choose Reset Token on the Bot page of your "
        "application, and copy the new one."
    ]
    assert "wrong" not in told.out + told.err


@pytest.mark.parametrize("command", ["doctor", "discord invite"])
async def test_a_discord_at_fault_is_told(home: Home, command: str) -> None:
    async with an_app() as discord:
        discord.trouble("GET /users/@me", Fail(503))
        told = await ran(home, discord, *command.split())

    assert told.code == 1
    assert "Discord is at fault itself just now (503)." in told.out + told.err


async def test_a_ban_by_cloudflare_is_told(home: Home) -> None:
    async with an_app() as discord:
        discord.storm("GET /users/@me", Storm(600, from_cloudflare=True))
        told = await ran(home, discord, "doctor")

    assert "Discord is asked too often just now." in of_discord(told)[0]


@pytest.mark.parametrize("token", ["", "   "], ids=["none", "blank"])
def test_without_a_token_nothing_is_wrong(home: Home, token: str) -> None:
    told = home.with_settings(DISCORD_TOKEN=token).invoke("doctor")

    assert of_discord(told) == ["     Discord: no token"]
    assert told.code == 0


def test_a_discord_that_cannot_be_reached_is_a_finding(home: Home) -> None:
    told = home.with_settings(DISCORD_TOKEN=TOKEN, DISCORD_API_URL=NOWHERE).invoke("doctor")

    assert told.code == 1
    (line,) = of_discord(told)
    lost = "The connection to Discord was lost (ClientConnectorError)."
    assert line == f"FAIL Discord: {lost} Its address is {NOWHERE}."


async def test_the_invitation_asks_for_what_is_used_and_no_more(home: Home) -> None:
    async with an_app() as discord:
        told = await ran(home, discord, "discord", "invite")

    (line,) = told.out.splitlines()
    asked = parse_qs(urlsplit(line).query)
    assert line.startswith("https://discord.com/oauth2/authorize?")
    assert asked["client_id"] == [BOT]
    assert asked["scope"] == ["bot applications.commands"]
    assert Permission(int(asked["permissions"][0])) == NEEDED


async def test_no_link_is_printed_that_nobody_could_use(home: Home) -> None:
    async with an_app(needs_code_grant=True) as discord:
        told = await ran(home, discord, "discord", "invite")

    assert (told.code, told.out) == (1, "")
    assert "switch off Requires OAuth2 Code Grant" in told.err


def test_without_a_token_there_is_nobody_to_invite(home: Home) -> None:
    told = home.invoke("discord", "invite")

    assert told.code == 2
    assert told.err == "DISCORD_TOKEN is missing: docs/discord.md says where it is found.\n"
