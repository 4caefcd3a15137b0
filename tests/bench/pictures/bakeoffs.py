"""Pictures of a bake-off on the page: its headline, the leaderboard, judges' bias, schedules.

Drives Debian's chromium; the models are scripted: the judges prefer the model that is wrong most
often.
"""

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Browser, ViewportSize, async_playwright, expect

from tests.bench.pictures.page import chromium_path, save
from tests.bot.homes import Home, seat_toml
from tests.bot.web.browser.product import serve_product
from tests.wire.models import Behaviour, ModelServer, Request, Say, by_role, fences
from tests.wire.models.behaviours import nonce_of

VIEW: ViewportSize = {"width": 1100, "height": 1000}
QUESTIONS = 48
SEATS = {  # display name, family, dollars a million tokens, of how many questions it is right
    "claude": ("Claude Sonnet 4.6", "claude", 15.0, 37),
    "gpt": ("GPT-5.1", "gpt", 10.0, 12),
    "gemini": ("Gemini 3 Pro", "gemini", 12.0, 20),
}
MEMBERS = [f"openai/{seat}" for seat in SEATS]
LIKED = "I am sure"  # how the answer begins that judges prefer


def number_in(request: Request) -> int:
    """Return the number of the question that a request is about."""
    return int(request.user.partition("What is ")[2].split(" ", maxsplit=1)[0])


def playing(seat: str) -> Behaviour:
    """Answer so many questions right, and prefer the answer that sounds sure."""
    right = SEATS[seat][3]

    def answer(request: Request) -> Say:
        number = number_in(request)
        result = number + 7 if number * 29 % QUESTIONS < right else number + 8
        begins = LIKED if seat == "gpt" else "It is"
        return Say(f"{begins}: {number} plus 7 makes {result}", seconds=0.3)

    def vote(request: Request) -> Say:
        shown = fences(request.user)
        ranking = sorted(shown, key=lambda one: not one[1].startswith(LIKED))
        order = [[letter] for letter, _ in ranking]
        return Say(
            json.dumps({"nonce": nonce_of(request.user), "reason": "Sure.", "ranking": order})
        )

    def write(request: Request) -> Say:
        return Say(max(text for _, text in fences(request.user)))

    return by_role(answer, vote, write)


def config(api_base: str) -> str:
    """Return a council.toml with a graded suite."""
    sections = (
        seat_toml(
            f"openai/{seat}",
            api_base=api_base,
            display=name,
            family=family,
            input_usd_per_million=price / 5,
            output_usd_per_million=price,
        )
        for seat, (name, family, price, _) in SEATS.items()
    )
    asked = (
        f'{{question = "What is {number} plus 7?", answer = "{number + 7}"}}'
        for number in range(1, QUESTIONS + 1)
    )
    panel = f"[panels.house]\nmembers = {json.dumps(MEMBERS)}\naudit_share = 0.0\n"
    return f"{panel}[suites.sums]\nquestions = [{', '.join(asked)}]\n" + "".join(sections)


async def taken(browser: Browser, address: str) -> None:
    """Run the suite on the page, and take the pictures of what comes of it."""
    page = await browser.new_page(base_url=address, viewport=VIEW, locale="en-GB")
    await page.goto("/bakeoffs")
    await page.get_by_role("button", name="Estimate cost").click()
    await page.get_by_role("button", name="Start").click()
    await expect(page.locator("article[aria-label=Result]")).to_be_attached(timeout=120_000)
    await save(page, "bakeoff-grades")
    await page.goto("/schedules")
    await page.get_by_label("Name").fill("nightly")
    await save(page, "schedules")
    for name, path in (("leaderboard", "/leaderboard?suite=sums"), ("bias", "/bias?suite=sums")):
        await page.goto(path)
        await save(page, name)


async def main() -> None:
    found = chromium_path()
    with TemporaryDirectory(prefix="council-pictures-") as folder:
        async with ModelServer() as models, async_playwright() as playwright:
            models.script |= {seat: playing(seat) for seat in SEATS}
            home = Home(Path(folder), {"OPENAI_API_KEY": "sk-none"})
            home = home.with_config(config(models.api_base))
            browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            async with serve_product(home) as product:
                await taken(browser, product.address)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
