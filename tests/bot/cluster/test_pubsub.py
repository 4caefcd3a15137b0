"""Publish/subscribe on Postgres: every process gets a message; after a gap, an empty one."""

import asyncio

import pytest

from bot.cluster.pubsub import MAX_PAYLOAD_BYTES, decode, encode
from tests.bot.cluster.processes import Process, next_item
from tests.postgres import Server


async def test_every_process_gets_a_message_even_its_sender(one: Process, other: Process) -> None:
    with (
        one.pubsub.subscription("round r1") as here,
        other.pubsub.subscription("round r1") as there,
    ):
        await one.pubsub.publish("round r1", "so far")

        assert [await next_item(here), await next_item(there)] == ["so far", "so far"]


async def test_messages_arrive_in_order_at_the_subscribers_of_their_topic(
    one: Process, other: Process
) -> None:
    with other.pubsub.subscription("a") as received, other.pubsub.subscription("b") as elsewhere:
        for number in range(50):
            await one.pubsub.publish("a", str(number))

        assert [await next_item(received) for _ in range(50)] == [
            str(number) for number in range(50)
        ]
        assert elsewhere.empty()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("Yes, “use” Postgres.\x00", id="signs"),
        pytest.param("\ud800", id="half-a-sign"),
        pytest.param("A long answer, with a plan. " * 400, id="long"),
    ],
)
def test_a_text_arrives_unchanged(text: str) -> None:
    payload = encode("round r1", text)

    assert decode(payload) == ("round r1", text)
    assert len(payload.encode()) <= MAX_PAYLOAD_BYTES


def test_a_text_that_is_too_long_is_left_out() -> None:
    text = "".join(chr(0x4E00 + 7919 * number % 20_000) for number in range(9_000))

    assert decode(encode("round r1", text)) == ("round r1", "")


@pytest.mark.parametrize("payload", ["", "7", "{}", "[]", '{"topic": "a", "packed": "?"}'])
def test_a_foreign_payload_is_ignored(payload: str) -> None:
    assert decode(payload) is None


async def test_after_a_restart_subscribers_are_notified_and_get_messages_again(
    one: Process, other: Process, postgres: Server
) -> None:
    with other.pubsub.subscription("round r1") as received:
        await asyncio.to_thread(postgres.restart)
        missed = await next_item(received)
        await one.pubsub.publish("round r1", "again")

        assert missed == ""
        while (text := await next_item(received)) == "":
            pass
        assert text == "again"
