"""The pictures in the documents: a round with sensible words, as the page shows it.

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
PHONE: ViewportSize = {"width": 360, "height": 1260}  # a screenful and a half


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
    """Run one round and take its pictures, while it runs and when it is closed."""
    page = await browser.new_page(base_url=address, viewport=WIDE, locale="en-GB")
    await page.goto("/")
    await page.get_by_label("Question").fill(QUESTION)
    await page.get_by_role("button", name="Ask").click()
    await expect(page.get_by_role("button", name="Mark as best").first).to_be_visible(
        timeout=60_000
    )
    await page.locator("#vote summary").click()
    await page.screenshot(path=PICTURES / "page-vote.png")
    await expect(page.locator("#draft")).to_contain_text("autovacuum", timeout=60_000)
    await page.screenshot(path=PICTURES / "page-running.png")
    await expect(page.locator("#answers")).to_be_attached(timeout=60_000)
    await page.evaluate("document.activeElement.blur()")
    await page.screenshot(path=PICTURES / "page.png")
    await page.emulate_media(color_scheme="dark")
    await page.screenshot(path=PICTURES / "page-dark.png")
    await on_a_phone(browser, page)


async def on_a_phone(browser: Browser, page: Page) -> None:
    """Take the first screenfuls of the same round on a phone."""
    phone = await browser.new_page(viewport=PHONE, device_scale_factor=2, locale="en-GB")
    await phone.goto(page.url)
    await phone.screenshot(path=PICTURES / "page-phone.png")


async def main() -> None:
    found = shutil.which("chromium")
    if not found:
        raise SystemExit("There is no chromium here: apt-get install chromium.")
    with TemporaryDirectory(prefix="council-pictures-") as folder:
        async with ModelServer() as models, async_playwright() as playwright:
            models.script |= {seat: playing(seat) for seat in SEATS}
            home = Home(Path(folder), {"OPENAI_API_KEY": "sk-none"})
            browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            async with serve_product(home.with_config(config(models.api_base))) as product:
                await taken(browser, product.address)
            await browser.close()
    for picture in sorted(PICTURES.glob("page*.png")):
        print(f"{picture.name}: {picture.stat().st_size // 1000} KB")


if __name__ == "__main__":
    asyncio.run(main())
