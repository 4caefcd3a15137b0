"""Attachments are downloaded from Slack only, or the error says why not."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot.slack.client import RotatingClient, open_client
from bot.slack.files import parse_attachment
from bot.slack.workspace import Workspace
from council.errors import CouncilError
from council.files import MAX_TOTAL_BYTES
from tests.wire.slack import FakeSlack, Rates, Rules
from tests.wire.slack.methods.files import sent

OURS = "xoxb-1-home"


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(rules=Rules(rates=Rates(off=True))) as running:
        yield running


def workspace(client: RotatingClient, *scopes: str) -> Workspace:
    return Workspace(client, "T0HOME", "U0BOT", frozenset(scopes))


async def read(slack: FakeSlack, file: dict[str, Any], token: str = OURS, *scopes: str) -> bytes:
    async with open_client(slack.api_url, token) as client:
        found = parse_attachment(workspace(client, *scopes), file)
        return await found.read()


async def test_a_file_is_fetched_with_our_token(slack: FakeSlack) -> None:
    file = sent(slack.state, "U1", "sql.csv", b"question\nWhy?\n")

    assert await read(slack, file) == b"question\nWhy?\n"


async def test_the_token_is_sent_to_slack_only(slack: FakeSlack) -> None:
    file = sent(slack.state, "U1", "sql.csv", b"x")

    for address in ("https://slack.com.example.org/x", "http://files.slack.com/x", ""):
        with pytest.raises(CouncilError, match=r"Slack did not give me sql\.csv"):
            await read(slack, file | {"url_private_download": address})


@pytest.mark.parametrize(("token", "scopes"), [("xoxb-other", ()), (OURS, ("chat:write",))])
async def test_without_the_scope_the_error_names_it(
    slack: FakeSlack, token: str, scopes: tuple[str, ...]
) -> None:
    file = sent(slack.state, "U1", "sql.csv", b"x")

    with pytest.raises(CouncilError, match="add the scope files:read"):
        await read(slack, file, token, *scopes)


async def test_a_file_that_is_larger_than_announced_is_not_read_to_its_end(
    slack: FakeSlack,
) -> None:
    file = sent(slack.state, "U1", "sql.csv", b"x" * (MAX_TOTAL_BYTES + 1)) | {"size": 9}

    with pytest.raises(CouncilError, match=r"sql\.csv is larger than 10,000,000 bytes"):
        await read(slack, file)


async def test_the_error_for_a_missing_file_asks_to_send_it_again(slack: FakeSlack) -> None:
    file = sent(slack.state, "U1", "sql.csv", b"x")
    slack.state.sent.clear()

    with pytest.raises(CouncilError, match="Send it once more"):
        await read(slack, file)
