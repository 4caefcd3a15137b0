"""Schedules on the page: added in words, confirmed, changed, removed."""

from datetime import UTC, datetime

import pytest

from council.bakeoffs.models import Schedule, Suite, SuiteQuestion
from council.places import Place
from tests.bot.web.browsing import Browser, Site

SQL = Suite("sql", (SuiteQuestion("Why WAL?"),))
WORDS = "weekly-sql suite:sql every monday 09:00 Europe/Budapest"


@pytest.fixture
async def browser(site: Site) -> Browser:
    await site.context.app.bakeoff_stores.suites.save(SQL, "", datetime.now(UTC))
    return site.browser()


async def add(browser: Browser, words: str = WORDS) -> str:
    form = await browser.form("/schedules", "/schedules")
    return (await browser.post("/schedules", **form, words=words)).text


async def only_schedule(site: Site) -> Schedule:
    (found,) = await site.context.app.bakeoff_stores.schedules.list_all()
    return found


async def test_an_added_schedule_is_confirmed_and_listed(site: Site, browser: Browser) -> None:
    confirmation = await add(browser)
    page = (await browser.get("/schedules")).text

    for text in (confirmation, page):
        assert "Every Monday at 09:00, Europe/Budapest time: suite sql of 1 question" in text
        assert "The result is posted" in text
        assert "A run costs nothing." in text
    assert "Last run: none yet." in page
    one = await only_schedule(site)
    assert (one.place, one.scope, one.zone) == (Place("web"), "", "Europe/Budapest")


async def test_an_error_keeps_the_text_in_the_form(browser: Browser) -> None:
    form = await browser.form("/schedules", "/schedules")

    page = await browser.post("/schedules", **form, words="w suite:law every day 09:00 #x")

    assert page.status_code == 422
    assert "Schedules made here report here: leave #x out." in page.text
    assert 'value="w suite:law every day 09:00 #x"' in page.text


async def test_a_schedule_is_paused_resumed_run_and_removed(site: Site, browser: Browser) -> None:
    await add(browser)
    one = await only_schedule(site)

    async def done(act: str) -> int:
        form = await browser.form("/schedules", "/schedules")
        answer = await browser.post(f"/schedules/{one.id}/{act}", **form)
        return answer.status_code

    assert await done("pause") == 303
    assert (await only_schedule(site)).paused
    assert "paused" in (await browser.get("/schedules")).text
    assert await done("resume") == 303
    assert not (await only_schedule(site)).paused
    assert await done("run") == 303
    (bakeoff,) = await site.context.app.bakeoff_stores.bakeoffs.list_recent()
    assert bakeoff.schedule == one.id
    assert await done("remove") == 303
    assert await site.context.app.bakeoff_stores.schedules.list_all() == ()
    assert await done("remove") == 404
    await site.context.app.bakeoff_registry.stop()


async def test_an_unknown_action_is_not_found(site: Site, browser: Browser) -> None:
    await add(browser)
    form = await browser.form("/schedules", "/schedules")

    answer = await browser.post(f"/schedules/{(await only_schedule(site)).id}/explode", **form)

    assert answer.status_code == 404
    assert (await only_schedule(site)).name == "weekly-sql"


async def test_a_name_is_only_text_on_the_page(browser: Browser) -> None:
    page = await add(browser, "<b>x</b> suite:sql every day 09:00")

    assert "<b>x</b>" not in page
