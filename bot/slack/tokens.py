"""What Slack is reached with: tokens, and the client of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.calls import TIMEOUT_SECONDS


@dataclass(frozen=True, slots=True)
class Tokens:
    """What Slack is reached with; with `app` over a socket, else `signing` checks what it posts."""

    bot: str = field(repr=False)
    app: str = field(repr=False)
    signing: str = field(repr=False)
    api_url: str

    @property
    def transport(self) -> str:
        """Give the way events come in."""
        return "Socket Mode" if self.app else "HTTP at /slack/events"


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
