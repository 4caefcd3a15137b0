"""How quick the page is: its first page, its progress, and many tabs on many rounds at once.

The models are scripted; the product runs as a process of its own.
"""

import argparse
import asyncio
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import httpx
from playwright.async_api import Browser, async_playwright, expect

from tests.bot.homes import Home
from tests.bot.web.browser.product import Product, panels_of, serve_product
from tests.bot.web.browser.streams import ReceivedEvents, open_stream, read_events
from tests.wire.models import Behaviour, ModelServer, Request, Say, by_role, judge

SEATS = ("a", "b", "c", "d")
# Says when the page's progress changed, by the clock that the model server goes by as well.
CHANGES = """
window.changes = [];
new MutationObserver(() => {
  const text = document.querySelector("#progress .summary")?.textContent;
  if (text && changes.at(-1)?.[0] !== text) changes.push([text, Date.now() / 1000]);
}).observe(document, { subtree: true, childList: true });
"""


class Replies:
    """Has members answer one after the other, and remembers when each reply was due."""

    def __init__(self) -> None:
        self.due: list[float] = []

    def behaviour(self, nth: int) -> Behaviour:
        seconds = 1.0 + 0.4 * nth

        def answer(_: Request) -> Say:
            self.due.append(time.time() + seconds)
            return Say("Measure it first.", seconds=seconds)

        def vote(request: Request) -> Say:
            cast = judge()(request)
            assert isinstance(cast, Say)
            return Say(cast.text, seconds=0.3)

        return by_role(answer, vote)


def format_row(what: str, milliseconds: Sequence[float], aim: str) -> str:
    ordered = sorted(milliseconds)
    last = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return (
        f"{what:<46}{len(ordered):>5}{median(ordered):>10.0f}{last:>8.0f}{ordered[-1]:>8.0f}  {aim}"
    )


async def first_page(product: Product, when: str, times: int = 50) -> str:
    """Time the first page from the request to its last byte."""
    took = []
    async with httpx.AsyncClient(base_url=product.address, trust_env=False) as client:
        for _ in range(times + 5):
            started = time.perf_counter()
            (await client.get("/")).raise_for_status()
            took.append((time.perf_counter() - started) * 1000)
    return format_row(f"first page, {when} (ms)", took[5:], "under 200")


async def progress(product: Product, browser: Browser, replies: Replies, rounds: int) -> list[str]:
    """Time from a member's reply to its line on the page."""
    took: list[float] = []
    for _ in range(rounds):
        replies.due.clear()
        page = await browser.new_page(base_url=product.address)
        await page.add_init_script(CHANGES)
        await page.goto("/")
        await page.get_by_label("Question").fill("How quick is it?")
        await page.get_by_role("button", name="Ask").click()
        await expect(page.locator("#answers")).to_be_attached(timeout=60_000)
        changes = await page.evaluate("changes")
        shown = [at for text, at in changes if text.endswith("answered") and text[0] != "0"]
        took += [(at - due) * 1000 for at, due in zip(shown, sorted(replies.due), strict=False)]
        await page.context.close()
    seats = len(SEATS)
    return [
        format_row(
            "from a reply to its line, first round (ms)", took[:seats], "none: libraries load"
        ),
        format_row("from a reply to its line, warm (ms)", took[seats:], "under 300"),
    ]


async def crowd(product: Product, browser: Browser, tabs: int, rounds: int) -> list[str]:
    """Run many rounds at once with many open tabs; raise if a tab misses the end."""
    async with httpx.AsyncClient(
        base_url=product.address, trust_env=False, timeout=120, limits=httpx.Limits()
    ) as client:
        paths = [await open_stream(client, f"Round {nth} of the crowd?") for nth in range(rounds)]
        context = await browser.new_context(base_url=product.address)
        pages = [await context.new_page() for _ in range(8)]
        hearing = [asyncio.create_task(read_events(client, paths[n % rounds])) for n in range(tabs)]
        for page, path in zip(pages, paths, strict=False):
            await page.goto(path)
        heard: list[ReceivedEvents] = await asyncio.gather(*hearing)
        for page in pages:
            await expect(page.locator("#answers")).to_be_attached(timeout=60_000)
        await context.close()
    closed = sum(one.closed for one in heard)
    ends = [max(one.at for one in heard) - one.at for one in heard]
    states = json.dumps(sorted({one.states for one in heard}))
    return [
        f"{tabs} streams on {rounds} rounds: {closed} saw the closing state, "
        f"the last {max(ends):.1f} s after the first; states heard each: {states}",
        f"{len(pages)} tabs of one browser beside them: all showed their answer",
    ]


async def measure(tabs: int, rounds: int) -> list[str]:
    found = shutil.which("chromium")
    if not found:
        return ["There is no chromium here (apt-get install chromium): nothing was measured."]
    replies = Replies()
    with TemporaryDirectory(prefix="council-bench-") as folder:
        async with ModelServer() as models, async_playwright() as playwright:
            models.script |= {seat: replies.behaviour(nth) for nth, seat in enumerate(SEATS)}
            home = Home(Path(folder), {"OPENAI_API_KEY": "sk-none"})
            home.with_config(panels_of(models.api_base, house=SEATS))
            browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            async with serve_product(home, fresh=True) as product:
                lines = [await first_page(product, "just started")]
                lines += await progress(product, browser, replies, rounds=6)
                lines.insert(1, await first_page(product, "warm"))
                lines += await crowd(product, browser, tabs, rounds)
            await browser.close()
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.page", description=__doc__)
    parser.add_argument("--tabs", type=int, default=100, help="event streams (default 100)")
    parser.add_argument("--rounds", type=int, default=20, help="rounds at once (default 20)")
    wanted = parser.parse_args()

    print(f"{'':<46}{'n':>5}{'median':>10}{'p95':>8}{'max':>8}  aim")
    for said in asyncio.run(measure(wanted.tabs, wanted.rounds)):
        print(said)


if __name__ == "__main__":
    main()
