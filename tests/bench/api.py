"""What the HTTP API adds to a round asked on the page, and how soon its stream begins.

The models are scripted; the product runs as a process of its own. Rounds by API and on the page
alternate, so that the machine is equally busy. A single model asked directly with litellm, without
any council, is next to them.
"""

import argparse
import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from bot.settings import load_settings
from tests.bot.homes import Home
from tests.bot.web.browser.product import Product, panels_of, serve_product
from tests.bot.web.browser.streams import read_events
from tests.wire.models import Behaviour, ModelServer, Request, Say, answer, by_role, judge

SEATS = ("a", "b", "c", "d")
LATENCY_SECONDS = 0.05  # of each call
SYNTHESIS = "Use Postgres: a jobs table read with SKIP LOCKED carries that load on one node. " * 4
DRIP_SECONDS = 0.02  # between two words of the chairman
MAX_ADDED_MS, MAX_FIRST_MS = 50, 100
WARM_UP = 3


class Chairman:
    """Writes word by word, and remembers when its first one was due."""

    def __init__(self) -> None:
        self.began_at = 0.0

    def behaviour(self) -> Behaviour:
        def write(request: Request) -> Say:
            self.began_at = request.at + LATENCY_SECONDS
            return Say(SYNTHESIS, drip_seconds=DRIP_SECONDS)

        return by_role(answer("Use Postgres."), judge(), write)


def now() -> float:
    """Return the event loop's time, by which the model server goes as well."""
    return asyncio.get_running_loop().time()


async def ask_on_page(client: httpx.AsyncClient, question: str) -> float:
    """Return the seconds from sending the form to the event that closes the round."""
    fields = dict(re.findall(r'name="(token|round)" value="([^"]*)"', (await client.get("/")).text))
    started = now()
    asked = await client.post("/ask", data={**fields, "question": question})
    events = await read_events(client, asked.headers["location"])
    assert events.closed
    return events.at - started


async def ask_by_api(client: httpx.AsyncClient, question: str) -> float:
    """Return the seconds from sending the request to its whole answer."""
    started = now()
    asked = await client.post("/v1/chat/completions", json=_body(question))
    asked.raise_for_status()
    return now() - started


async def stream_by_api(client: httpx.AsyncClient, question: str) -> tuple[float, int]:
    """Return when the first piece of the answer arrived, and how many pieces there were."""
    first_at, pieces = 0.0, 0
    body = _body(question) | {"stream": True}
    async with client.stream("POST", "/v1/chat/completions", json=body) as stream:
        async for line in stream.aiter_lines():
            if not line.startswith("data: {"):
                continue
            chunk = json.loads(line.removeprefix("data: "))
            if any(choice["delta"].get("content") for choice in chunk["choices"]):
                first_at, pieces = first_at or now(), pieces + 1
    return first_at, pieces


def _body(question: str) -> dict[str, Any]:
    return {"model": "council", "messages": [{"role": "user", "content": question}]}


async def ask_directly(api_base: str, question: str) -> float:
    """Return the seconds of one call of litellm to one model."""
    import litellm  # only once the settings have made it work offline

    started = now()
    messages = [{"role": "user", "content": question}]
    await litellm.acompletion(
        model="openai/a", messages=messages, api_base=api_base, api_key="sk-none"
    )
    return now() - started


def format_row(what: str, seconds: Sequence[float], aim: str = "") -> str:
    ordered = sorted(one * 1000 for one in seconds)
    last = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return (
        f"{what:<52}{len(ordered):>4}{median(ordered):>9.0f}{last:>8.0f}{ordered[-1]:>8.0f}  {aim}"
    )


async def measure(product: Product, models: ModelServer, rounds: int) -> bool:
    """Print every figure; return whether the targets were met."""
    chairman = Chairman()
    models.script |= {
        seat: by_role(answer("Use it."), judge(), answer(SYNTHESIS)) for seat in SEATS
    }
    limits = httpx.Timeout(120)
    async with httpx.AsyncClient(
        base_url=product.address, trust_env=False, timeout=limits
    ) as client:
        page, whole, direct = list[float](), list[float](), list[float]()
        for n in range(-WARM_UP, rounds):
            took = (
                await ask_on_page(client, f"Question {n} on the page?"),
                await ask_by_api(client, f"Question {n} by API?"),
                await ask_directly(models.api_base, f"Question {n} alone?"),
            )
            if n >= 0:
                for seconds, one in zip((page, whole, direct), took, strict=True):
                    seconds.append(one)
        models.script |= {seat: chairman.behaviour() for seat in SEATS}
        firsts, pieces = list[float](), list[int]()
        for n in range(-WARM_UP, rounds):
            first_at, count = await stream_by_api(client, f"Question {n} as a stream?")
            if n >= 0:
                firsts.append(first_at - chairman.began_at)
                pieces.append(count)
    added = (median(whole) - median(page)) * 1000
    first = median(firsts) * 1000
    print(f"{'':<52}{'n':>4}{'median':>9}{'p95':>8}{'max':>8}  aim")
    print(format_row("one model, asked directly with litellm (ms)", direct))
    print(format_row("a round of four models, asked on the page (ms)", page))
    print(format_row("the same round, asked by API (ms)", whole))
    ratio = median(whole) / median(page)
    aim = f"aim on an idle machine: at most {MAX_ADDED_MS} ms"
    print(f"added by the API: {added:.0f} ms, {ratio:.2f} times the page's ({aim})")
    print(format_row("from the chairman's first word to the stream's (ms)", firsts, "under 100"))
    print(f"pieces of a streamed answer: {median(pieces):.0f}")
    return added <= MAX_ADDED_MS and first <= MAX_FIRST_MS


async def run(rounds: int) -> bool:
    load_settings(Path("/nonexistent/.env"))
    with TemporaryDirectory(prefix="council-bench-") as folder:
        async with ModelServer(latency=LATENCY_SECONDS) as models:
            home = Home(Path(folder), {"OPENAI_API_KEY": "sk-none"})
            home.with_config(panels_of(models.api_base, house=SEATS))
            async with serve_product(home, fresh=True) as product:
                return await measure(product, models, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.api", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="of each kind (default 30)")
    if not asyncio.run(run(parser.parse_args().rounds)):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
