"""Hostile texts as question, answer, reason and synthesis: they are read, and nothing else.

Each round carries eight of them in every role, and is watched from its question to its answer, so
that the draft, the progress and the answer that is put in place by the script are met as well.
"""

from collections.abc import Sequence
from urllib.parse import urlencode

import pytest
from playwright.async_api import Page, expect

from tests.bot.web.browser.actions import PANELS, PageMonitor, ask, wait_until_closed
from tests.bot.web.browser.hostile import HOSTILE
from tests.bot.web.browser.product import Product
from tests.wire.models import ModelServer, answer, by_role, judge

pytestmark = pytest.mark.asyncio(loop_scope="session")

SEATS = PANELS["hostile"]
FOREIGN = (
    "script style link meta base iframe frame object embed applet portal svg math img image video "
    "audio source picture canvas dialog template marquee font input[type=image] [style] [srcdoc]"
)
# What the texts would have made of the page: elements, handlers, links that run.
MADE = """(foreign) => {
  const inside = [...document.querySelectorAll("main, aside")];
  const all = inside.flatMap((part) => [...part.querySelectorAll("*")]);
  const handles = (e) => [...e.attributes].some((a) => a.name.startsWith("on"));
  const leads = (e) => e.matches("a[href]") && !/^https?:$/.test(e.protocol);
  const asks = (e) => e.matches("form") && new URL(e.action).host !== location.host;
  const made = (e) => e.matches(foreign) || handles(e) || leads(e) || asks(e);
  return all.filter(made).map((e) => e.outerHTML.slice(0, 200));
}"""


EIGHTS = [HOSTILE[start : start + 8] for start in range(0, len(HOSTILE), 8)]


def say(models: ModelServer, texts: Sequence[str]) -> None:
    """Script each member to answer, vote and write a different text."""
    for seat, text in zip(SEATS, [*texts, *texts], strict=False):
        models.script[seat] = by_role(answer(text), judge(reason=text), answer(text))


async def made_of(page: Page) -> list[str]:
    made: list[str] = await page.evaluate(MADE, ", ".join(FOREIGN.split()))
    return made


async def test_there_are_at_least_a_hundred_tricks() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 100


@pytest.mark.parametrize("texts", EIGHTS, ids=range(len(EIGHTS)))
async def test_hostile_texts_are_shown_as_text(
    page: Page, watched: PageMonitor, product: Product, models: ModelServer, texts: tuple[str, ...]
) -> None:
    say(models, texts)

    await ask(page, "\n\n".join(texts), panel="hostile")
    await wait_until_closed(page)
    live = await made_of(page)
    await page.reload()
    await page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    # Events, loads and timers that a text has set going come before this.
    await page.evaluate("new Promise((done) => setTimeout(done, 50))")

    assert (live, await made_of(page)) == ([], [])
    assert (watched.dialogs, watched.errors, watched.tabs) == ([], [], [])
    assert watched.foreign_requests(product.address) == []
    assert await page.evaluate("window.ran") is None
    assert await page.locator("#answers details").count() == len(SEATS)
    assert await page.locator("body > main, body > aside").count() == 2


async def test_hostile_texts_are_inert_in_lists_searches_and_errors(
    page: Page, watched: PageMonitor, product: Product
) -> None:
    made = []
    for text in HOSTILE[::12]:
        await page.goto(f"/rounds?{urlencode({'q': text})}")
        made += await made_of(page)
        await page.get_by_label("Question").fill(f"/council panel {text}")
        await page.get_by_role("button", name="Ask").click()
        await expect(page.locator("main .caution, main .note").first).to_be_visible()
        made += await made_of(page)

    assert made == []
    assert (watched.dialogs, watched.tabs) == ([], [])
    assert watched.foreign_requests(product.address) == []
    assert await page.evaluate("window.ran") is None
