"""The picture of a round on the page.

Drives Debian's chromium; the models are scripted, the page is the product's own.
"""

import asyncio
import json
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

from tests.bench.ours import QUESTION
from tests.bench.pictures.words import (
    ANSWERS,
    MEMBERS,
    OUTSIDE,
    PRICES,
    REASONS,
    SEATS,
    chair_reply,
)
from tests.bot.homes import Home, seat_toml
from tests.bot.web.browser.product import serve_product
from tests.wire.models import Behaviour, ModelServer, Request, Say, by_role, fences
from tests.wire.models.behaviours import nonce_of

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
WIDE: ViewportSize = {"width": 1440, "height": 1000}
PACE = 2  # slow enough for progress to be seen: Slack shows it every three seconds


def authors_in(request: Request) -> dict[str, str]:
    """Return whose answer has which letter, recognised by its first words."""
    by_text = {text[:40]: author for author, text in ANSWERS.items()}
    return {letter: by_text[text[:40]] for letter, text in fences(request.user)}


def playing(seat: str) -> Behaviour:
    """Answer, rank and write as this seat does."""
    nth = list(SEATS).index(seat)

    def vote(request: Request) -> Say:
        shown = authors_in(request)
        order, reason = REASONS[seat]
        missing = tuple(f"{{{author}}}" for author in MEMBERS if author not in shown.values())
        sentences = re.split(r"(?<=\.) (?=Response)", reason)
        reason = " ".join(s for s in sentences if not any(name in s for name in missing))
        ranking = sorted(shown, key=lambda letter: order.index(shown[letter]))
        letters = {author: letter for letter, author in shown.items()}
        ballot = {
            "nonce": nonce_of(request.user),
            "reason": reason.format(**letters),
            "ranking": [[letter] for letter in ranking],
        }
        return Say(json.dumps(ballot), seconds=PACE * (1.1 + 0.3 * nth))

    def write(request: Request) -> Say:
        letters = {author: letter for letter, author in authors_in(request).items()}
        return Say(chair_reply(letters), seconds=0.5, drip_seconds=0.02)

    return by_role(
        lambda _: Say(ANSWERS.get(seat, ""), seconds=PACE * (1.4 + 0.6 * nth)), vote, write
    )


def config(api_base: str) -> str:
    """Return a council.toml whose seats have well-known names and are served locally."""
    sections = (
        seat_toml(
            f"openai/{seat}",
            api_base=api_base,
            display=name,
            family=family,
            input_usd_per_million=PRICES[seat][0],
            output_usd_per_million=PRICES[seat][1],
        )
        for seat, (name, family) in SEATS.items()
    )
    members = json.dumps([f"openai/{seat}" for seat in MEMBERS])
    panel = f'members = {members}\noutside_judges = ["openai/{OUTSIDE}"]\naudit_share = 0.0\n'
    return f"[panels.house]\n{panel}" + "".join(sections)


async def taken(browser: Browser, address: str) -> None:
    """Run one round and take the picture of its answer."""
    page = await browser.new_page(base_url=address, viewport=WIDE, locale="en-GB")
    await page.goto("/")
    await page.get_by_label("Question").fill(QUESTION)
    await page.get_by_role("button", name="Ask").click()
    await expect(page.locator("#answers")).to_be_attached(timeout=60_000)
    await page.evaluate("document.activeElement.blur()")
    await save(page, "page")


async def save(page: Page, name: str) -> None:
    """Save what a page shows as a picture of the documents."""
    path = PICTURES / f"{name}.png"
    await page.screenshot(path=path)
    print(f"{path.name}: {path.stat().st_size // 1000} KB")


def chromium_path() -> str:
    """Return where Debian's chromium is; stop the program if it is not installed."""
    found = shutil.which("chromium")
    if not found:
        raise SystemExit("There is no chromium here: apt-get install chromium.")
    return found


async def main() -> None:
    found = chromium_path()
    with TemporaryDirectory(prefix="council-pictures-") as folder:
        async with ModelServer() as models, async_playwright() as playwright:
            models.script |= {seat: playing(seat) for seat in SEATS}
            home = Home(Path(folder), {"OPENAI_API_KEY": "sk-none"})
            browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            async with serve_product(home.with_config(config(models.api_base))) as product:
                await taken(browser, product.address)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
