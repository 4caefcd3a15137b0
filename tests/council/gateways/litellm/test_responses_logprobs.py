"""The log-probabilities of numbers in a reply; a provider that has none loses no reply."""

import json
from dataclasses import replace
from math import log
from typing import Any

import pytest

from council.answers import Logprobs
from council.gateways.litellm.responses import MAX_ALTERNATIVES, MAX_NUMBERS
from tests.council.gateways.litellm.harness import CALL, KEY, GatewayHarness
from tests.wire.models import Say, answer, logprobs_of, rejects_logprobs

ASKING = replace(CALL, top_logprobs=8)
TEXT = '{"reason": "Zürich, née 3.", "grades": {"A": 4}}'
ODDS = {"4": 0.5, "5": 0.25, " 5": 0.125, "}": 0.0625}
AT = TEXT.index("4}")


def rounded(p: float) -> float:
    return round(log(p), 6)


FOUND: Logprobs = (
    (TEXT.index("3."), (("3", 0.0),)),
    (AT, (("4", rounded(0.5)), ("5", rounded(0.25)), ("5", rounded(0.125)))),
)


@pytest.mark.parametrize("stream", [False, True])
async def test_the_numbers_that_could_have_stood_there_come_with_their_offset(
    harness: GatewayHarness, stream: bool
) -> None:
    harness.sit(stream=stream)
    said = Say(TEXT, logprobs=logprobs_of(TEXT, [ODDS]))

    reply = await harness.says(lambda _: said, ASKING)

    assert reply.logprobs == FOUND
    [request] = harness.server.requests
    assert (request.body["logprobs"], request.body["top_logprobs"]) == (True, 8)


async def test_nobody_is_asked_for_them_without_need(harness: GatewayHarness) -> None:
    reply = await harness.says(lambda _: Say(TEXT, logprobs=logprobs_of(TEXT, [ODDS])))

    assert reply.logprobs == ()
    assert not {"logprobs", "top_logprobs"} & harness.server.requests[0].body.keys()


async def test_a_model_that_litellm_knows_to_have_none_is_not_asked(
    harness: GatewayHarness,
) -> None:
    harness.sit(model="openai/o3-mini")
    harness.server.script["o3-mini"] = answer(TEXT)

    assert (await harness.gateway.complete(ASKING)).logprobs == ()
    assert "logprobs" not in harness.server.requests[0].body


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [400, 403, 422])
async def test_a_provider_that_refuses_them_is_asked_without(
    harness: GatewayHarness, status: int, stream: bool
) -> None:
    harness.sit(stream=stream)

    reply = await harness.says(rejects_logprobs(status, answer(TEXT)), ASKING)

    assert (reply.text, reply.logprobs, reply.attempts) == (TEXT, (), 2)
    assert not {"logprobs", "top_logprobs"} & harness.server.requests[1].body.keys()
    assert harness.waits == []


def changed(**token: object) -> dict[str, Any]:
    """Return log-probabilities whose last number has other values."""
    found: dict[str, Any] = logprobs_of(TEXT, [ODDS])
    found["content"][-2] |= token
    return found


def listing(*pairs: tuple[str, object]) -> list[dict[str, object]]:
    return [{"token": token, "logprob": value, "bytes": None} for token, value in pairs]


HOSTILE: dict[str, object] = {
    "null": None,
    "text": "high",
    "list": [1, 2],
    "no-content": {"content": None},
    "content-is-text": {"content": "4"},
    "tokens-are-numbers": {"content": [4]},
    "of-another-text": logprobs_of(TEXT.replace("née", "nee"), [ODDS]),
    "text-twice": logprobs_of(TEXT + TEXT, [ODDS]),
    "too-many-bytes": changed(bytes=[52, 52]),
    "no-byte": changed(bytes=[400]),
    "bytes-is-a-size": changed(bytes=10**15),
    "text-for-a-number": changed(logprob="high"),
    "huge": {"content": [], "padding": "x" * 10_000_000},
}


@pytest.mark.parametrize("found", HOSTILE.values(), ids=HOSTILE)
async def test_what_cannot_be_right_is_ignored_and_the_reply_is_kept(
    harness: GatewayHarness, found: object
) -> None:
    reply = await harness.says(lambda _: Say(TEXT, logprobs=found), ASKING)

    assert (reply.text, reply.logprobs) == (TEXT, ())
    assert KEY not in repr(reply)


@pytest.mark.parametrize("token", [{"bytes": 10**15}, {"logprob": "high"}, {"top_logprobs": 7}])
async def test_a_stream_that_cannot_be_read_with_them_is_read_without(
    harness: GatewayHarness, token: dict[str, object]
) -> None:
    harness.sit(stream=True)

    reply = await harness.says(lambda _: Say(TEXT, logprobs=changed(**token)), ASKING)

    assert (reply.text, reply.logprobs) == (TEXT, ())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
async def test_a_place_with_a_value_that_no_store_takes_is_left_out(
    harness: GatewayHarness, value: float
) -> None:
    found = changed(top_logprobs=listing(("4", -0.1), ("5", value)))

    reply = await harness.says(lambda _: Say(TEXT, logprobs=found), ASKING)

    assert reply.logprobs == FOUND[:1]


async def test_a_token_that_is_not_among_its_alternatives_is_added(
    harness: GatewayHarness,
) -> None:
    found = changed(logprob=-3.0, top_logprobs=listing(("5", -0.1), ("٤", -1.0), ("4,", -2.0)))

    reply = await harness.says(lambda _: Say(TEXT, logprobs=found), ASKING)

    assert reply.logprobs[-1] == (AT, (("5", -0.1), ("4", -3.0)))


async def test_thinking_and_fences_around_the_text_move_no_offset(
    harness: GatewayHarness,
) -> None:
    found: dict[str, Any] = logprobs_of(f"<think>2 é</think>```json\n{TEXT}\n```", [ODDS])

    reply = await harness.says(lambda _: Say(TEXT, logprobs=found), ASKING)

    assert reply.logprobs == FOUND


async def test_a_character_split_over_two_tokens_moves_no_offset(
    harness: GatewayHarness,
) -> None:
    found: dict[str, Any] = logprobs_of(TEXT, [ODDS])
    first, *others = found["content"]
    at = bytes(first["bytes"]).index(b"\xc3") + 1
    halves = [
        first | {"token": "�", "bytes": part} for part in (first["bytes"][:at], first["bytes"][at:])
    ]

    reply = await harness.says(lambda _: Say(TEXT, logprobs={"content": halves + others}), ASKING)

    assert reply.logprobs == FOUND


async def test_tokens_without_bytes_are_their_text(harness: GatewayHarness) -> None:
    found: dict[str, Any] = logprobs_of(TEXT, [ODDS])
    for token in found["content"]:
        token["bytes"] = None

    reply = await harness.says(lambda _: Say(TEXT, logprobs=found), ASKING)

    assert reply.logprobs == FOUND


async def test_the_last_numbers_and_their_first_alternatives_are_kept(
    harness: GatewayHarness,
) -> None:
    text = "1," * 100
    many = {f"{n}": 0.001 for n in range(50)} | {"1": 0.5}

    reply = await harness.says(
        lambda _: Say(text, logprobs=logprobs_of(text, [many] * 100)), ASKING
    )

    assert [offset for offset, _ in reply.logprobs] == [*range(200 - 2 * MAX_NUMBERS, 200, 2)]
    assert {len(alternatives) for _, alternatives in reply.logprobs} == {MAX_ALTERNATIVES}
    assert len(json.dumps(reply.logprobs)) < 40_000


async def test_a_text_that_is_stored_otherwise_has_none(harness: GatewayHarness) -> None:
    text = "1\0 2"

    reply = await harness.says(lambda _: Say(text, logprobs=logprobs_of(text)), ASKING)

    assert (reply.text, reply.logprobs) == ("1 2", ())
