"""The client of Slack's Web API, open for as long as it is used."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.calls import TIMEOUT_SECONDS


@asynccontextmanager
async def opened_client(
    api_url: str, bot_token: str | None = None, seconds: float = TIMEOUT_SECONDS
) -> AsyncIterator[AsyncWebClient]:
    """Give a client of Slack's Web API; without a token, for the few calls that need none."""
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        yield AsyncWebClient(
            token=bot_token,
            base_url=api_url,
            timeout=TIMEOUT_SECONDS,
            session=session,
            retry_handlers=[],  # the SDK's own would send a message twice
        )
