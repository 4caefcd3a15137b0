"""Samples of all messages and modals, checked as Slack checks them."""

import json

import pytest

from bot.chat import DeliveryUnknownError
from bot.slack.client import open_client
from tests.bench.slack_samples import Sample, find_faults, main, samples
from tests.wire.faults import Refuse
from tests.wire.slack import FakeSlack

NOWHERE = "http://127.0.0.1:9/api/"
TWO_BAD = json.dumps({"text": "t", "blocks": [{"type": "divider"}, {"type": "section"}]})


def test_the_samples_hold_every_block_that_we_post() -> None:
    everything = "".join(sample.payload for sample in samples())

    for kind in ("data_table", "table", "plan", "context_actions", "actions", "rich_text", "input"):
        assert f'"type": "{kind}"' in everything, kind
    assert sum(sample.kind == "view" for sample in samples()) >= 5


async def test_all_samples_are_valid_and_need_no_token(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with FakeSlack() as slack:
        are_valid = await main(slack.api_url)

    assert are_valid
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(list(samples()))
    assert all(line.startswith("ok   ") for line in lines)
    assert [call.token for call in slack.calls] == [None] * len(list(samples()))


async def test_a_refused_sample_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    async with FakeSlack() as slack:
        slack.trouble("blocks.validate", Refuse("invalid_blocks"))
        are_valid = await main(slack.api_url)

    assert not are_valid
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("FAIL a round that begins")
    assert second.strip() == "invalid_blocks"


async def test_a_fault_says_where_it_is() -> None:
    async with FakeSlack() as slack, open_client(slack.api_url) as client:
        faults = await find_faults(client, Sample("bad", "message", TWO_BAD))

    assert len(faults) == 1
    assert faults[0].startswith("/blocks/1")


async def test_an_unreachable_slack_is_not_a_finding() -> None:
    async with open_client(NOWHERE) as client:
        with pytest.raises(DeliveryUnknownError):
            await find_faults(client, Sample("any", "message", TWO_BAD))
