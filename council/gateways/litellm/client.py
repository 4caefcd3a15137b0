"""The litellm library: settings of a seat, the lazy import, its warm-up, and its price map."""

import asyncio
import gc
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from ipaddress import ip_address
from threading import RLock
from types import ModuleType
from urllib.parse import urlsplit

from council.gateways.throttling.provider import ProviderAddress
from council.money import Price

Tighten = Callable[[Mapping[str, object]], dict[str, object]]

# The most that a web search before an answer may add: the provider's fees, and the tokens it finds.
SEARCH_USD = 0.05
SEARCH_TOKENS = 20_000
_PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class SeatSettings:
    """The address, the limits and the prices of a seat's model.

    `tighten` narrows a JSON schema to what a local server enforces; a seat that has it is assumed
    to enforce schemas. The seat's own prices take precedence over litellm's, which are not used
    for a private server. `vision` None is what litellm knows. With `web_search`, the provider
    searches before the model answers. `splits_turns`: an earlier exchange is sent as turns.
    """

    model: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    max_tokens: int | None = None
    context_tokens: int | None = None
    stream: bool = False
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    tighten: Tighten | None = None
    splits_turns: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    vision: bool | None = None
    web_search: bool = False

    @property
    def route(self) -> str:
        """The provider in the model id; "" if the id has none."""
        return self.model.partition("/")[0] if "/" in self.model else ""

    @property
    def name(self) -> str:
        """The model's name at its provider."""
        return self.model.partition("/")[2] or self.model

    @property
    def address(self) -> ProviderAddress:
        """The address of its provider."""
        return ProviderAddress(self.route, self.api_base)

    @property
    def is_private(self) -> bool:
        """Whether the model is on this machine or in a private network."""
        host = (urlsplit(self.api_base).hostname or "") if self.api_base else ""
        try:
            return ip_address(host).is_private
        except ValueError:
            return bool(host) and "." not in host  # "localhost", or a container's name

    @property
    def own_price(self) -> Price | None:
        """The seat's own price per token; None unless it has both prices."""
        price_in, price_out = self.input_usd_per_million, self.output_usd_per_million
        if price_in is None or price_out is None:
            return None
        usd_in = price_in / _PER_MILLION
        return Price(
            usd_in=usd_in,
            usd_out=price_out / _PER_MILLION,
            max_tokens_out=self.max_tokens,
            usd_search=SEARCH_USD + SEARCH_TOKENS * usd_in if self.web_search else 0.0,
        )

    def own_cost(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """Return the cost in USD at the seat's own prices; None without prices or counts."""
        price = self.own_price
        if price is None:
            return None
        if price.usd_in == price.usd_out == 0:
            return 0.0
        if tokens_in is None or tokens_out is None:
            return None
        return price.usd_in * tokens_in + price.usd_out * tokens_out


_SWITCHES = {
    "suppress_debug_info": True,  # it would print its list of providers to stdout
    "disable_hf_tokenizer_download": True,  # counting "llama" tokens would wait for a hub
    "telemetry": False,
    "disable_token_counter": True,  # it would read its tables, for a count that is a guess
}
_WARM_SECONDS = 20
_MAX_WARMED = 10
_WARM_MODEL = "openai/warm"
_JSON = (
    b'{"id":"1","object":"chat.completion","created":1,"model":"warm","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'
)
_EVENTS = (
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"warm","choices":'
    b'[{"index":0,"delta":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


# An import during another thread's warm-up would share connections that the warm-up closes.
_IMPORT_LOCK = RLock()


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Pause the collector, a quarter of the import's time, then exclude what was imported."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.enable()


def load_warm(models: Iterable[str] = ()) -> ModuleType:
    """Import litellm and make its slow first calls, in a new event loop: call it in a thread.

    The first call of each model is slow too, so each model of OpenAI's API is called once, on a
    local server with canned replies.
    """
    with _IMPORT_LOCK, _gc_paused():
        is_loaded = "litellm" in sys.modules
        # It logs every call at INFO and whole prompts at DEBUG; the stored round has both.
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
        library = import_module("litellm")
        from council.gateways.litellm.transport import limit_replies

        limit_replies()
        # Pydantic warns about a type of the OpenAI SDK on stderr, at the first stream.
        warnings.filterwarnings("ignore", "Item .* using the `ReadOnly` qualifier", UserWarning)
        for name, value in _SWITCHES.items():
            setattr(library, name, value)
        # If it was loaded already, another loop may be using its connections.
        if not is_loaded:
            # If the warm-up fails, only the first call is slower.
            with suppress(Exception):
                asyncio.run(_warm_up(library, models))
        return library


async def _warm_up(library: ModuleType, models: Iterable[str]) -> None:
    server = await asyncio.start_server(_serve_canned_reply, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, asyncio.timeout(_WARM_SECONDS):
        ours = sorted({model for model in models if model.startswith("openai/")})[:_MAX_WARMED]
        for model in ours or [_WARM_MODEL]:
            await library.acompletion(**_warm_request(f"http://127.0.0.1:{port}/json", model))
        stream = await library.acompletion(
            **_warm_request(f"http://127.0.0.1:{port}/events", _WARM_MODEL),
            stream=True,
            stream_options={"include_usage": True},
        )
        async for _ in stream:
            pass
        await close(library)


def _warm_request(api_base: str, model: str) -> dict[str, object]:
    message = {"role": "user", "content": "Hello"}
    return {
        "model": model,
        "messages": [message],
        "api_base": api_base,
        "api_key": "unused",
        "num_retries": 0,
        "max_retries": 0,
    }


async def _serve_canned_reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    kind, body = (
        (b"application/json", _JSON) if b" /json" in head else (b"text/event-stream", _EVENTS)
    )
    writer.write(
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s"
        % (kind, len(body), body)
    )
    await writer.drain()
    writer.close()


def context_tokens(library: ModuleType, seat: SeatSettings) -> int | None:
    """Return the context size in litellm's price map, without its lookups on servers."""
    tokens = _model_info(library, seat).get("max_input_tokens")
    return tokens if isinstance(tokens, int) else None


def price(library: ModuleType, seat: SeatSettings) -> Price | None:
    """Return the model's price according to litellm; None if unknown or 0."""
    info = _model_info(library, seat)
    costs = info.get("input_cost_per_token"), info.get("output_cost_per_token")
    usd_in, usd_out = (float(cost) if isinstance(cost, int | float) else 0.0 for cost in costs)
    if not (usd_in or usd_out):
        return None
    search = SEARCH_USD + SEARCH_TOKENS * usd_in if seat.web_search else 0.0
    return Price(usd_in, usd_out, seat.max_tokens, search)


def searches(library: ModuleType, seat: SeatSettings) -> bool:
    """Return whether the provider can search the web for this model, as far as litellm knows."""
    return bool(library.supports_web_search(model=seat.model))


def _model_info(library: ModuleType, seat: SeatSettings) -> Mapping[str, object]:
    own: Mapping[str, object] | None = library.model_cost.get(seat.model)
    if own is not None:
        return own
    named: Mapping[str, object] = library.model_cost.get(seat.name, {})
    return {} if seat.route and named.get("litellm_provider") != seat.route else named


async def close(library: ModuleType) -> None:
    """Close all of litellm's connections, which all gateways share, and drop its clients."""
    await library.close_litellm_async_clients()
    library.in_memory_llm_clients_cache.flush_cache()
    # One client is also a module attribute, which litellm creates again when it is missing.
    vars(library).pop("module_level_aclient", None)
