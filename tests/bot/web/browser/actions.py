"""Actions of models and visitors in the browser tests."""

from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import FloatRect, Page, Request, expect

from tests.wire.models import Behaviour, Say, by_role, judge
from tests.wire.models import Request as Call

PANELS = {
    "quick": ("a", "b", "c", "d"),
    "slow": ("slow-a", "slow-b", "slow-c", "slow-d"),
    "hostile": tuple(f"hostile-{letter}" for letter in "abcdefgh"),
}
ANSWER = 'main article[aria-label="The council\'s answer"]'
TIMEOUT_MS = 60_000  # the machine may be busy

# Records every summary and draft that the page showed, however briefly, and what moved.
RECORDER = """
window.seen = { summaries: [], drafts: [], lost: false, shifts: 0 };
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) if (!shift.hadRecentInput) seen.shifts += shift.value;
}).observe({ type: "layout-shift" });
new MutationObserver(() => {
  const text = (id) => document.getElementById(id)?.textContent.trim() ?? "";
  const keep = (list, word) => word && list.at(-1) !== word && list.push(word);
  keep(seen.summaries, document.querySelector("#progress .summary")?.textContent ?? "");
  keep(seen.drafts, document.querySelector("#draft .prose")?.textContent.trim() ?? "");
  if (text("connection").includes("lost")) seen.lost = true;
}).observe(document, { subtree: true, childList: true, characterData: true });
"""


def slow_member(seat: str) -> Behaviour:
    """Return a model that answers late and word by word."""
    nth = PANELS["slow"].index(seat) + 1
    written = " ".join(f"word-{number}" for number in range(1, 31))

    def late(say: Say, seconds: float) -> Say:
        return Say(say.text, seconds=seconds, drip_seconds=0.04)

    def vote(call: Call) -> Say:
        cast = judge(reason=f"Because {seat} thinks so.")(call)
        assert isinstance(cast, Say)
        return late(cast, 0.3 * nth)

    return by_role(
        answer=lambda _: late(Say(f"What **{seat}** thinks."), 0.2 + 0.3 * nth),
        judge=vote,
        chairman=lambda _: late(Say(f"The council's *one* answer. {written}"), 0.3),
    )


@dataclass(slots=True)
class PageMonitor:
    """Dialogs, errors, requests and popups of a tab."""

    dialogs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    tabs: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, page: Page) -> "PageMonitor":
        monitor = cls()

        async def dismissed(dialog: Any) -> None:  # noqa: ANN401 - two libraries' types
            monitor.dialogs.append(dialog.message)
            await dialog.dismiss()

        def requested(request: Request) -> None:
            monitor.requests.append(request.url)

        page.on("dialog", dismissed)
        page.on("pageerror", lambda error: monitor.errors.append(str(error)))
        page.on("console", lambda m: monitor.errors.append(m.text) if m.type == "error" else None)
        page.on("request", requested)
        page.on("popup", lambda tab: monitor.tabs.append(tab.url))
        return monitor

    def foreign_requests(self, address: str) -> list[str]:
        """Return the requests to any other host than the page's own."""
        return [url for url in self.requests if not url.startswith(f"{address}/")]


async def ask(page: Page, text: str, panel: str = "quick", audience: str = "everyone") -> str:
    """Ask on the front page and return the path of the round's page."""
    if page.url == "about:blank" or not page.url.endswith("/"):
        await page.goto("/")
    await page.locator("[name=panel]").select_option(panel)
    await page.locator("[name=audience]").select_option(audience)
    await page.get_by_label("Question").fill(text)
    await page.get_by_role("button", name="Ask").click()
    await page.wait_for_url("**/rounds/*")
    return "/rounds/" + page.url.rpartition("/")[2]


async def wait_until_closed(page: Page) -> None:
    """Wait until the page shows the round's answer."""
    await expect(page.locator("#answers")).to_be_attached(timeout=TIMEOUT_MS)


async def box_of(page: Page, selector: str) -> FloatRect:
    """Return the place of the first element that a selector finds."""
    found = await page.locator(selector).first.bounding_box()
    assert found, selector
    return found
