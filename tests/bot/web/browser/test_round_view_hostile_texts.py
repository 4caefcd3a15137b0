"""Hostile texts as question, answer, reason and synthesis are shown as text.

Each round has eight of them in every role. The page is open from the question to the answer, so
that the draft, the progress and the answer that the script inserts are tested too.
"""

from collections.abc import Sequence
from urllib.parse import urlencode

import pytest
from playwright.async_api import Page, expect

from tests.bot.web.browser.actions import PANELS, PageMonitor, ask, wait_until_closed
from tests.bot.web.browser.hostile import HOSTILE
from tests.bot.web.browser.product import Product
from tests.wire.models import ModelServer, answer, by_role, judge

pytestmark = pytest.mark.asyncio(loop_scope="package")

SEATS = PANELS["hostile"]
FOREIGN = (
    "script style link meta base iframe frame object embed applet portal svg math img image video "
    "audio source picture canvas dialog template marquee font input[type=image] [style] [srcdoc]"
)
# Elements, handlers and links that the texts would have added to the page.
MADE = """(foreign) => {
  const inside = [...document.querySelectorAll("main, aside")];
  const all = inside.flatMap((part) => [...part.querySelectorAll("*")]);
  const handles = (e) => [...e.attributes].some((a) => a.name.startsWith("on"));
  const leads = (e) => e.matches("a[href]") && !/^https?:$/.test(e.protocol);
  const asks = (e) => e.matches("form") && new URL(e.action).host !== location.host;
  const made = (e) => e.matches(foreign) || handles(e) || leads(e) || asks(e);
  return all.filter(made).map((e) => e.outerHTML.slice(0, 200));
}"""


SAMPLE = HOSTILE[:: len(HOSTILE) // len(SEATS)][: len(SEATS)]
ROUNDS = [
    pytest.param(SAMPLE, id="sample"),
    *(
        pytest.param(HOSTILE[start : start + 8], id=str(start), marks=pytest.mark.nightly)
        for start in range(0, len(HOSTILE), 8)
    ),
]
LISTED = [SAMPLE[:3], pytest.param(HOSTILE[::12], marks=pytest.mark.nightly)]


def script_models(models: ModelServer, texts: Sequence[str]) -> None:
    """Script each member to answer, vote and write a different text."""
    for seat, text in zip(SEATS, [*texts, *texts], strict=False):
        models.script[seat] = by_role(answer(text), judge(reason=text), answer(text))


async def foreign_elements(page: Page) -> list[str]:
    made: list[str] = await page.evaluate(MADE, ", ".join(FOREIGN.split()))
    return made


async def test_there_are_at_least_a_hundred_hostile_texts() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 100


@pytest.mark.parametrize("texts", ROUNDS)
async def test_hostile_texts_are_shown_as_text(
    page: Page, monitor: PageMonitor, product: Product, models: ModelServer, texts: Sequence[str]
) -> None:
    script_models(models, texts)

    await ask(page, "\n\n".join(texts), panel="hostile")
    await wait_until_closed(page)
    live = await foreign_elements(page)
    await page.reload()
    await page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    # Events, loads and timers that a text has started come before this.
    await page.evaluate("new Promise((done) => setTimeout(done, 50))")

    assert (live, await foreign_elements(page)) == ([], [])
    assert (monitor.dialogs, monitor.errors, monitor.tabs) == ([], [], [])
    assert monitor.foreign_requests(product.address) == []
    assert await page.evaluate("window.ran") is None
    assert await page.locator("#answers details").count() == len(SEATS)
    assert await page.locator(".page > main, .page > aside").count() == 2


@pytest.mark.parametrize("texts", LISTED, ids=len)
async def test_hostile_texts_are_inert_in_lists_searches_and_errors(
    page: Page, monitor: PageMonitor, product: Product, texts: Sequence[str]
) -> None:
    made = []
    for text in texts:
        await page.goto(f"/rounds?{urlencode({'q': text})}")
        made += await foreign_elements(page)
        await page.goto("/")
        await page.get_by_label("Question").fill(f"/council panel {text}")
        await page.get_by_role("button", name="Ask").click()
        await expect(page.locator("main .caution, main .note").first).to_be_visible()
        made += await foreign_elements(page)

    assert made == []
    assert (monitor.dialogs, monitor.tabs) == ([], [])
    assert monitor.foreign_requests(product.address) == []
    assert await page.evaluate("window.ran") is None
