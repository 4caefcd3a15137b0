"""Interaction responses in time and too late, and the faults that a test can order."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import discord
import pytest

from tests.wire.discord import (
    DropAfter,
    DropBefore,
    Fail,
    FailAfter,
    FakeDiscord,
    Interaction,
    Permission,
    Rates,
    Refuse,
    Rules,
    Slow,
    Storm,
)
from tests.wire.discord_bot import RULES, Bot, council, judged, running
from tests.wire.discord_bot import Interaction as Asked
from tests.wire.discord_http import Client, client_of
from tests.wire.test_discord_rest import Clock

C1 = "/channels/C1/messages"
HI = {"content": "Hi"}
APP = "/webhooks/100000000000000001"


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with judged() as discord_:
        yield discord_


@pytest.fixture
async def client(fake: FakeDiscord) -> AsyncIterator[Client]:
    async with client_of(fake) as client_:
        yield client_


def a_bot(do: Callable[[Asked], Awaitable[None]]) -> Bot:
    bot = Bot()
    bot.tree.add_command(council(do))
    return bot


async def asked(fake: FakeDiscord, client: Client) -> tuple[Interaction, asyncio.Task[Any]]:
    """Register a command, let somebody use it, and give the interaction with nobody behind it."""
    command = {"name": "ask", "description": "x"}
    await client.ask("POST /applications/100000000000000001/commands", command)
    work = asyncio.create_task(fake.slash("U1", "C1", "ask"))
    await fake.until(lambda: fake.state.interactions)
    (interaction,) = fake.state.interactions.values()
    return interaction, work


def callback(interaction: Interaction) -> str:
    return f"POST /interactions/{interaction.id}/{interaction.token}/callback"


async def test_an_answer_comes_once_and_what_follows_only_after_it(
    fake: FakeDiscord, client: Client
) -> None:
    interaction, work = await asked(fake, client)
    original = f"{APP}/{interaction.token}/messages/@original"

    early = await client.ask(f"PATCH {original}", HI)
    wrong = await client.ask(callback(interaction), {"type": 7, "data": HI})
    first = await client.ask(callback(interaction) + "?with_response=1", {"type": 5})
    second = await client.ask(callback(interaction), {"type": 5})
    follow_up = await client.ask(f"POST {APP}/{interaction.token}?wait=true", HI)
    await work

    assert (early.code, wrong.code, second.code) == (10015, 50035, 40060)
    assert first.body["interaction"]["response_message_loading"]
    # The first followup after thinking is the answer itself.
    assert follow_up.body["id"] == first.body["interaction"]["response_message_id"]
    assert [one.content for one in fake.messages("C1")] == ["Hi"]
    assert (await client.ask(f"DELETE {original}")).status == 204
    assert (await client.ask(f"PATCH {original}", HI)).code == 10008


async def test_an_answer_after_its_time_is_too_late(fake: FakeDiscord, client: Client) -> None:
    interaction, work = await asked(fake, client)
    result = await work
    late = await client.ask(callback(interaction), {"type": 5})

    assert not result.accepted
    assert late.code == 10062


async def test_a_token_dies_after_fifteen_minutes() -> None:
    clock = Clock()
    rules = Rules(now=clock, ack_seconds=5, rates=RULES.rates)
    async with judged(rules) as fake, client_of(fake) as client:
        interaction, work = await asked(fake, client)
        await client.ask(callback(interaction), {"type": 4, "data": HI})
        result = await work
        original = f"PATCH {APP}/{interaction.token}/messages/@original"
        clock.seconds += 900
        assert (await client.ask(original, HI)).status == 200
        clock.seconds += 1
        assert (await client.ask(original, HI)).code == 50027
        assert result.message
        by_id = f"PATCH {C1}/{result.message.id}"
        assert (await client.ask(by_id, {"content": "Still here"})).status == 200


async def test_an_ephemeral_message_is_not_in_the_channel(
    fake: FakeDiscord, client: Client
) -> None:
    interaction, work = await asked(fake, client)
    data = {**HI, "flags": 64}
    await client.ask(callback(interaction), {"type": 4, "data": data})
    message = (await work).message
    assert message

    assert fake.messages("C1") == []
    assert fake.ephemerals("U1") == [message]
    assert (await client.ask(f"GET {C1}/{message.id}")).code == 10008
    assert (await client.ask(f"PATCH {C1}/{message.id}", HI)).code == 10008


async def test_each_route_has_its_own_rate_limit() -> None:
    clock = Clock()
    async with judged(Rules(now=clock)) as fake, client_of(fake) as client:
        answers = [await client.ask(f"POST {C1}", HI) for _ in range(6)]
        elsewhere = await client.ask("POST /channels/C3/messages", HI)
        clock.seconds += 5
        later = await client.ask(f"POST {C1}", HI)

    assert [answer.status for answer in answers] == [200] * 5 + [429]
    assert answers[0].headers["X-RateLimit-Remaining"] == "4"
    assert answers[5].body["retry_after"] == 5.0
    assert "Via" in answers[5].headers
    assert (elsewhere.status, later.status) == (200, 200)
    assert fake.invalid_requests == 1


async def test_all_routes_share_one_limit() -> None:
    rates = Rates(everywhere=(2, 1.0))
    async with judged(Rules(now=Clock(), rates=rates)) as fake, client_of(fake) as client:
        answers = [await client.ask("GET /users/@me") for _ in range(3)]

    assert answers[2].body["global"]
    assert answers[2].headers["X-RateLimit-Scope"] == "global"


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        pytest.param(Fail(500), 1, id="500"),
        pytest.param(FailAfter(500), 1, id="500-after"),
        pytest.param(Slow(0.05), 1, id="slow"),
    ],
)
async def test_discord_py_sends_once_despite_errors(
    fake: FakeDiscord, trouble: Fail | FailAfter | Slow, said: int
) -> None:
    async with running(fake, bot := Bot()):
        fake.trouble("POST /channels/*/messages", trouble)
        place = bot.get_partial_messageable(int(fake.channel("C1").id))
        await place.send("Once")

    assert len(fake.messages("C1")) == said


async def test_a_dropped_request_was_done_or_not(fake: FakeDiscord) -> None:
    async with running(fake, bot := Bot()):
        place = bot.get_partial_messageable(int(fake.channel("C1").id))
        for trouble, count in ((DropBefore(), 0), (DropAfter(), 1)):
            fake.trouble("POST /channels/*/messages", trouble)
            with pytest.raises(aiohttp.ServerDisconnectedError):
                await place.send("Twice", nonce=7)
            assert len(fake.messages("C1")) == count
        await place.send("Twice", nonce=7)

    assert len(fake.messages("C1")) == 1


async def test_a_503_is_not_retried(fake: FakeDiscord) -> None:
    async with running(fake, bot := Bot()):
        fake.trouble("POST *", Fail(503))
        place = bot.get_partial_messageable(int(fake.channel("C1").id))
        with pytest.raises(discord.DiscordServerError):
            await place.send("Never")


async def test_a_storm_is_waited_out_unless_cloudflare_sends_it(fake: FakeDiscord) -> None:
    async with running(fake, bot := Bot()):
        place = bot.get_partial_messageable(int(fake.channel("C1").id))
        fake.storm("POST /channels/*", Storm(0.1, retry_after=0.11))
        await place.send("In the end")
        fake.storm("POST /channels/*", Storm(0.1, from_cloudflare=True))
        with pytest.raises(discord.HTTPException):
            await place.send("Never")

    assert [one.content for one in fake.messages("C1")] == ["In the end"]


async def test_any_refusal_can_be_ordered(fake: FakeDiscord, client: Client) -> None:
    fake.trouble("POST /channels/*/messages", Refuse(50013))

    assert (await client.ask(f"POST {C1}", HI)).code == 50013
    assert (await client.ask(f"POST {C1}", HI)).status == 200


async def test_a_bot_without_send_permission_answers_commands(fake: FakeDiscord) -> None:
    async def answer(interaction: Asked) -> None:
        await interaction.response.send_message("Here")
        place = interaction.client.get_partial_messageable(int(fake.channel("C4").id))
        await place.send("And here?")

    async with running(fake, bot := a_bot(answer)):
        result = await fake.slash("U1", "C4", "council ask", question="Why?")
        await fake.until(lambda: bot.errors)

    assert [one.content for one in fake.messages("C4")] == ["Here"]
    assert isinstance(bot.errors[0], discord.Forbidden)
    assert not int(result.sent["app_permissions"]) & Permission.SEND_MESSAGES
