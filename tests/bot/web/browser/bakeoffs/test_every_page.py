"""Every page that the navigation or a link reaches passes axe, in light and in dark."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page

from bot.bakeoffs.parts import bakeoff_registry, bakeoff_settings, bakeoff_stores
from bot.plugins import RecordSources
from bot.ports import PAGE
from council.bakeoffs.bias.report import BiasReport
from council.bakeoffs.ports import RecordQuery
from council.places import Place
from tests.bot.app_fakes import an_app
from tests.bot.bakeoffs.fakes import a_bakeoff, a_graded_suite, run_to_end
from tests.bot.bakeoffs.render.bias.builders import a_report
from tests.bot.web.browser.accessibility import DARK_DESKTOP, PHONE, faults_of, set_view
from tests.bot.web.browser.in_process_site import serve_in_process
from tests.bot.web.browsing import Browser as HttpBrowser
from tests.bot.web.browsing import Site, a_round_of, make_site
from tests.builders import ASKED_AT, CLAUDE, GPT, GROK, a_member, a_panel
from tests.disputes import a_decision, disputed
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.asyncio(loop_scope="package")

RUN, TRIAL = "/bakeoffs/bo:beef", "/bakeoffs/bo:0000000002"  # the ids of a test count up
OTHER = replace(a_panel(2), name="other", members=(a_member(GROK), a_member(GPT)))
BELOW = (
    *("/rounds/abc1", "/rounds/abc1/decide", "/rounds/abc1/edit", "/rounds/abc1/share"),
    *("/rounds/abc1/forget", "/rounds/abc2", "/rounds?q=nothing", "/nowhere", "/terms", "/privacy"),
    *(RUN, f"{RUN}/vote", f"{RUN}/cells/1/0", TRIAL, f"{TRIAL}/share", "/bias/charts"),
    *("/suites/graded", "/suites/graded/edit"),
)
LINKS = "[...document.querySelectorAll('.rows a, .tabs a')].map((one) => one.getAttribute('href'))"


async def measure(_: RecordSources, __: RecordQuery) -> BiasReport:
    """Return a report with every bias, of two rounds."""
    return a_report(majority="qwen")


async def a_full_site() -> tuple[Site, HttpBrowser]:
    """Return a site that has something on every page, and the browser of who made it."""
    app = an_app(FakeGateway({CLAUDE: "41", GROK: "42"}), panels=[a_panel(), OTHER])
    bakeoff_settings(app).measure_bias = measure
    suite = a_graded_suite(*["42"] * 6)
    await bakeoff_stores(app).suites.save(suite, "U1", ASKED_AT)
    await run_to_end(app, None, a_bakeoff(suite, place=Place(PAGE)))
    site = make_site(app, contact="ops@example.org")
    browser = site.browser()
    form = await browser.form(RUN, f"{RUN}/try")
    asked = await browser.post(f"{RUN}/try", **(form | {"model": GROK}))
    started = await browser.post("/bakeoffs/try", **browser.form_of(asked, "/bakeoffs/try"))
    assert started.headers["location"] == TRIAL
    async for _ in bakeoff_registry(app).subscribe(TRIAL.removeprefix("/bakeoffs/")):
        pass
    await site.store.open(disputed(a_round_of(browser.visitor, "abc1")))
    decided = disputed(a_round_of(browser.visitor, "abc2"))
    await site.store.open(replace(decided, decisions=(a_decision(),)))
    return site, browser


@pytest_asyncio.fixture(loop_scope="package", scope="module")
async def visitor(browser: Browser) -> AsyncIterator[BrowserContext]:
    """Yield the browser context of who made everything on a full site."""
    site, maker = await a_full_site()
    async with serve_in_process(site) as address:
        context = await browser.new_context(base_url=address)
        cookie = maker.client.cookies["council_visitor"]
        await context.add_cookies([{"name": "council_visitor", "value": cookie, "url": address}])
        yield context
        await context.close()


async def navigation(page: Page) -> list[str]:
    """Return the paths of all rows of the navigation, and of all tabs of each."""
    await page.goto("/")
    found: dict[str, None] = dict.fromkeys(await page.evaluate(LINKS))
    for row in [*found]:
        await page.goto(row)
        found |= dict.fromkeys(await page.evaluate(LINKS))
    return [*found]


async def test_every_page_is_accessible_in_light_and_dark(page: Page) -> None:
    await set_view(page, PHONE)
    paths = [*await navigation(page), *BELOW]

    faults, missing = {}, set()
    for path in paths:
        await set_view(page, PHONE)
        response = await page.goto(path)
        if not response or response.status != 200:
            missing.add(path)
        found = await faults_of(page)
        await set_view(page, DARK_DESKTOP)
        if found := [*found, *await faults_of(page, "color-contrast")]:
            faults[path] = found

    assert {"/models", "/help", "/schedules", "/bias", "/leaderboard?as=judge"} <= {*paths}
    assert missing == {"/nowhere"}
    assert faults == {}
