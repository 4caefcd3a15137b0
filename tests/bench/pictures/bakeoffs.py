"""Pictures of bake-offs on the page: a headline by right answers, a running matrix, a trial.

Drives Debian's chromium; the models are scripted: the judges prefer the model that is wrong most
often. Then the forms of schedules and suites, the leaderboard and the bias of these judges; last
the comment on a pull request, as a page shows its Markdown.
"""

import asyncio
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from markdown_it import MarkdownIt
from playwright.async_api import Browser, ViewportSize, async_playwright, expect

from tests.bot.homes import Home, seat_toml
from tests.bot.web.browser.product import serve_product
from tests.wire.models import Behaviour, ModelServer, Request, Say, by_role, fences
from tests.wire.models.behaviours import nonce_of

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
COMMENT: ViewportSize = {"width": 820, "height": 400}
STYLE = (
    "body{font:15px/1.5 sans-serif;margin:24px;color:#1f2328}h1,h2{font-size:20px}"
    "table{border-collapse:collapse}td,th{border:1px solid #d1d9e0;padding:4px 12px}"
)
VIEW: ViewportSize = {"width": 1100, "height": 1000}
QUESTIONS = 48
SEATS = {  # display name, family, dollars a million tokens, of how many questions it is right
    "claude": ("Claude Sonnet 4.6", "claude", 15.0, 37),
    "gpt": ("GPT-5.1", "gpt", 10.0, 12),
    "gemini": ("Gemini 3 Pro", "gemini", 12.0, 20),
    "grok": ("Grok 4", "grok", 5.0, 46),
}
MEMBERS = [f"openai/{seat}" for seat in SEATS if seat != "grok"]
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


async def taken(browser: Browser, home: Home, address: str) -> None:
    """Run the suite on the page, then a trial, and take their pictures."""
    page = await browser.new_page(base_url=address, viewport=VIEW, locale="en-GB")
    await page.goto("/bakeoffs")
    await page.get_by_role("button", name="Estimate cost").click()
    await page.get_by_role("button", name="Start").click()
    await expect(page.locator("#rows td a").first).to_be_attached(timeout=60_000)
    await expect(page.locator("#rows a").nth(40)).to_be_attached(timeout=60_000)
    await page.screenshot(path=PICTURES / "bakeoff-running.png", full_page=False)
    await expect(page.locator("article[aria-label=Result]")).to_be_attached(timeout=120_000)
    await page.screenshot(path=PICTURES / "bakeoff-grades.png")
    tried = await home.started("bakeoff", "try", "openai/grok", "sums", "--yes")
    out, _ = await tried.communicate()
    print(out.decode())
    await page.goto("/bakeoffs")
    await page.locator("ul.list a").first.click()
    await page.screenshot(path=PICTURES / "bakeoff-try.png")
    await page.goto("/schedules")
    await page.get_by_label("Name").fill("nightly")
    await page.screenshot(path=PICTURES / "schedules.png")
    for name, path in (
        ("suite-form", "/suites/sums/edit"),
        ("leaderboard", "/leaderboard?suite=sums"),
        ("bias", "/bias?suite=sums"),
        ("bias-charts", "/bias/charts?suite=sums"),
    ):
        await page.goto(path)
        await page.screenshot(path=PICTURES / f"{name}.png")
    await page.set_content(await comment(home))
    await page.set_viewport_size(COMMENT)
    await page.screenshot(path=PICTURES / "bakeoff-comment.png", full_page=True)


async def comment(home: Home) -> str:
    """Return the comment of a run that is compared with the first one, as HTML."""
    before, after = home.folder / "before.json", home.folder / "comment.md"
    runs = json.loads((await (await home.started("bakeoff", "list", "--json")).communicate())[0])
    first = runs[-1]["id"]
    shown, _ = await (await home.started("bakeoff", "show", first, "--json")).communicate()
    before.write_bytes(shown)
    run = ("bakeoff", "run", "sums", "--yes", "--baseline", str(before), "--comment", str(after))
    await (await home.started(*run)).communicate()
    html = MarkdownIt("commonmark").enable("table").render(after.read_text(encoding="utf-8"))
    return f"<style>{STYLE}</style>{html}"


async def main() -> None:
    found = shutil.which("chromium")
    if not found:
        raise SystemExit("There is no chromium here: apt-get install chromium.")
    with TemporaryDirectory(prefix="council-pictures-") as folder:
        async with ModelServer() as models, async_playwright() as playwright:
            models.script |= {seat: playing(seat) for seat in SEATS}
            home = Home(Path(folder), {"OPENAI_API_KEY": "sk-none"})
            home = home.with_config(config(models.api_base))
            browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            async with serve_product(home) as product:
                await taken(browser, home, product.address)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
