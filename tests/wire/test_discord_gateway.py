"""The fake's gateway against a stock bot: resume, refusals, and events of the world."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import discord
import pytest

from tests.wire.discord import FakeDiscord, Installation, Rules
from tests.wire.discord_bot import RULES, Bot, Interaction, council, judged, running


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with judged(Rules(ack_seconds=8, identify_seconds=0, rates=RULES.rates)) as discord_:
        yield discord_


async def say_hello(interaction: Interaction) -> None:
    await interaction.response.send_message("Hello")


def a_bot() -> Bot:
    bot = Bot()
    bot.tree.add_command(council(say_hello))
    return bot


@pytest.mark.parametrize("code", [4000, 1012])
async def test_a_resumed_session_receives_missed_events(fake: FakeDiscord, code: int) -> None:
    async with running(fake, a_bot()):
        await fake.gateway.close(code)
        result = await fake.slash("U1", "C1", "council ask", question="Why?")

    assert result.accepted
    assert len(fake.gateway.resumes) == 1
    assert fake.gateway.sessions == 1


async def test_a_request_to_reconnect_is_followed(fake: FakeDiscord) -> None:
    async with running(fake, a_bot()):
        await fake.gateway.ask_to_reconnect()
        await fake.until(lambda: fake.gateway.resumes)
        result = await fake.slash("U1", "C1", "council ask", question="Why?")

    assert result.accepted


async def test_a_lost_connection_is_resumed(fake: FakeDiscord) -> None:
    async with running(fake, a_bot()):
        fake.gateway.cut()
        result = await fake.slash("U1", "C1", "council ask", question="Why?")

    assert result.accepted
    assert fake.gateway.sessions == 1


async def test_a_session_that_timed_out_begins_anew(fake: FakeDiscord) -> None:
    async with running(fake, a_bot()):
        await fake.gateway.close(4009)
        await fake.until(lambda: fake.gateway.sessions == 2, 15)
        await fake.connected()
        result = await fake.slash("U1", "C1", "council ask", question="Why?")

    assert result.accepted


async def test_heartbeats_are_acknowledged() -> None:
    rules = Rules(heartbeat_seconds=0.05, identify_seconds=0, rates=RULES.rates)
    async with judged(rules) as fake, running(fake, bot := a_bot()):
        await fake.until(lambda: fake.gateway.heartbeats > 3)

        assert bot.latency < 1
        assert fake.gateway.sessions == 1


async def test_a_wrong_token_is_refused(fake: FakeDiscord) -> None:
    fake.state.app = Installation(token="another")
    bot = a_bot()
    other = Installation(token="mine")

    async with running(fake, bot):
        fake.state.app = other
        fake.gateway.forget_sessions()
        await fake.gateway.close()
        await fake.until(lambda: not fake.gateway.links and bot.is_closed(), 10)

    assert fake.gateway.hang_ups == [4004]


async def test_an_intent_its_owner_did_not_switch_on_is_refused(fake: FakeDiscord) -> None:
    bot = Bot(discord.Intents(guilds=True, message_content=True))
    with pytest.raises(discord.PrivilegedIntentsRequired):
        async with running(fake, bot, sync=False):
            pass


async def test_two_identifies_in_a_row_are_refused() -> None:
    async with judged(Rules(rates=RULES.rates)) as fake, running(fake, a_bot()):
        told = {"op": 2, "d": {"token": fake.token, "intents": 1, "properties": {}}}
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(fake.gateway_url + "?v=10") as socket,
        ):
            hello = await socket.receive_json()
            await socket.send_json(told)
            refused = await socket.receive_json()

    assert hello["op"] == 10
    assert (refused["op"], refused["d"]) == (9, False)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        pytest.param("no json", 4002, id="no-json"),
        pytest.param("x" * 4097, 4002, id="too-long"),
        pytest.param('{"op": 99}', 4001, id="unknown-opcode"),
        pytest.param('{"op": 3, "d": {}}', 4003, id="before-identify"),
        pytest.param('{"op": 2, "d": {"token": "x", "intents": 1}}', 4004, id="wrong-token"),
    ],
)
async def test_an_invalid_payload_closes_the_connection(
    fake: FakeDiscord, sent: str, code: int
) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(fake.gateway_url + "?v=10") as socket,
    ):
        await socket.receive()
        await socket.send_str(sent)
        await socket.receive()

        assert socket.close_code == code


async def test_deletions_are_dispatched_to_the_bot(fake: FakeDiscord) -> None:
    bot = a_bot()
    async with running(fake, bot):
        said = fake.message("U1", "C1", "Soon gone")
        thread = fake.open_thread("U1", "C1", "Soon gone too")
        fake.delete_message(said)
        fake.set_thread(thread, archived=True, locked=True)
        fake.delete_channel(thread)
        fake.delete_channel("C3")
        fake.remove_bot("G2")
        await fake.until(lambda: "GUILD_DELETE" in bot.events)
        await asyncio.sleep(0)

    wanted = ["MESSAGE_DELETE", "THREAD_CREATE", "THREAD_UPDATE", "THREAD_DELETE"]
    wanted += ["CHANNEL_DELETE", "GUILD_DELETE"]
    assert set(wanted) <= set(bot.events)
    assert [guild.name for guild in bot.guilds] == ["Home"]
