"""Schedules on the page: added in a form that shows the next runs, changed, removed."""

from datetime import UTC, datetime
from html import escape, unescape

import httpx
import pytest

from bot.bakeoffs.parts import bakeoff_registry, bakeoff_stores
from bot.bakeoffs.render.schedules import next_runs_line
from bot.bakeoffs.web.schedules import CHANGED, WEEK
from council.bakeoffs.models import Schedule, Suite, SuiteQuestion
from council.places import Place
from tests.bot.web.browsing import Browser, Site

SQL = Suite("sql", (SuiteQuestion("Why WAL?"),))
WEEKLY = {
    "name": "weekly-sql",
    "suite": "sql",
    "monday": "on",
    "time": "09:00",
    "zone": "Europe/Budapest",
}
NOON = datetime(2027, 3, 27, 12, tzinfo=UTC)  # the clocks of Budapest change in the next night


@pytest.fixture
async def browser(site: Site) -> Browser:
    await bakeoff_stores(site.context.app).suites.save(SQL, "", datetime.now(UTC))
    return site.browser()


async def send(browser: Browser, **fields: str) -> httpx.Response:
    form = await browser.form("/schedules", "/schedules#add")
    return await browser.post("/schedules", **{**form, **WEEKLY, **fields})


async def add(browser: Browser, **fields: str) -> str:
    done = await send(browser, **fields)
    assert (done.status_code, done.headers["location"]) == (303, "/schedules")
    return (await browser.get("/schedules")).text


async def only_schedule(site: Site) -> Schedule:
    (found,) = await bakeoff_stores(site.context.app).schedules.list_all()
    return found


async def test_an_added_schedule_is_listed(site: Site, browser: Browser) -> None:
    page = await add(browser)

    assert "Every Monday at 09:00, Europe/Budapest time: suite sql of 1 question" in page
    assert "The result is posted" in page
    assert "A run costs nothing." in page
    assert "Last run: none yet." in page
    one = await only_schedule(site)
    assert (one.place, one.scope, one.zone) == (Place("web"), "", "Europe/Budapest")


@pytest.mark.parametrize(
    ("fields", "cron"),
    [
        ({"time": "18:30"}, "30 18 * * 1"),
        ({"thursday": "on"}, "0 9 * * 1,4"),
        (dict.fromkeys(("tuesday", "wednesday", "thursday", "friday"), "on"), "0 9 * * 1,2,3,4,5"),
        ({"words": "first monday of the month 09:00"}, "0 9 * * 1#1"),
        ({"words": '"0 9 * * 1"'}, "0 9 * * 1"),
    ],
)
async def test_the_fields_say_when_it_runs(
    site: Site, browser: Browser, fields: dict[str, str], cron: str
) -> None:
    await add(browser, **fields)

    assert (await only_schedule(site)).cron == cron


async def test_panel_and_cap_are_taken_from_the_form(site: Site, browser: Browser) -> None:
    await add(browser, panel="house", cap="1.50")

    one = await only_schedule(site)
    assert (one.panel, one.cap_micro) == ("house", 1_500_000)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"suite": "law"}, "law"),
        ({"name": "two words"}, "Name the schedule in one word"),
        ({"name": ""}, "Name the schedule in one word"),
        ({"panel": 'x" suite:"y'}, "There is no panel"),
        ({"panel": "x" * 201}, "This panel is too long"),
        ({"time": "25:00"}, "Choose a time of day"),
        ({"zone": "Europe/Budapst"}, "There is no time zone 'Europe/Budapst'"),
        ({"cap": "lots"}, "is not a cap"),
        ({"monday": ""}, "Tick at least one day"),
        ({"time": ""}, "Choose a time of day"),
        ({"words": "cap:$2"}, "Say when to run it"),
        ({"words": "every day 09:00 #x"}, "leave #x out"),
        ({"words": "every 7 minutes"}, "do not divide an hour evenly"),
    ],
)
async def test_an_error_keeps_what_was_typed(
    site: Site, browser: Browser, fields: dict[str, str], sentence: str
) -> None:
    page = await send(browser, **fields)

    assert page.status_code == 422
    assert sentence in unescape(page.text)
    assert f'value="{escape(fields.get("name", "weekly-sql"))}"' in page.text
    assert await bakeoff_stores(site.context.app).schedules.list_all() == ()


async def test_a_schedule_is_changed_in_the_same_form(site: Site, browser: Browser) -> None:
    await add(browser, cap="2")
    before = await only_schedule(site)

    page = await browser.get(f"/schedules?edit={before.id}")
    form = browser.form_of(page, "/schedules#add")
    again = {**form, **WEEKLY}
    same = await browser.post("/schedules", **again, cap="2")
    kept = await only_schedule(site)
    changed = await browser.post("/schedules", **{**again, "words": "every day 07:00"}, cap="")
    gone = await browser.post("/schedules", **{**again, "edit": "other"})

    assert "Change schedule weekly-sql" in page.text
    assert [day for day in WEEK if f'name="{day.lower()}" checked' in page.text] == ["Monday"]
    assert 'name="time" value="09:00"' in page.text
    assert (same.status_code, kept) == (303, before)
    after = await only_schedule(site)
    assert (changed.status_code, after.id) == (303, before.id)
    assert (after.cron, after.cap_micro) == ("0 7 * * *", None)
    assert (gone.status_code, "no such schedule any more" in gone.text) == (422, True)


async def test_times_that_are_no_days_of_the_week_stay_as_they_were_typed(
    site: Site, browser: Browser
) -> None:
    await add(browser, words="first monday of the month 09:00")
    one = await only_schedule(site)

    page = await browser.get(f"/schedules?edit={one.id}")

    assert 'name="words" maxlength="200" autocomplete="off" value="first monday' in page.text
    assert " checked" not in page.text


async def test_the_next_runs_are_shown_before_it_is_added(site: Site, browser: Browser) -> None:
    line = (await browser.client.get("/schedules/next", params=WEEKLY)).json()
    wrong = (await browser.client.get("/schedules/next", params={"time": "09:00"})).json()

    assert line["line"].startswith("Every Monday at 09:00. Next: Mon ")
    assert line["line"].count(" 09:00") == 4
    assert wrong == {"line": "Tick at least one day of the week.", "wrong": True}
    assert await bakeoff_stores(site.context.app).schedules.list_all() == ()


def test_a_night_in_which_the_clocks_change_is_mentioned() -> None:
    skipped = next_runs_line("30 2 * * *", "Europe/Budapest", NOON)
    kept = next_runs_line("0 9 * * *", "Europe/Budapest", NOON)
    autumn = next_runs_line("30 2 * * *", "Europe/Budapest", NOON.replace(month=10, day=30))
    calm = next_runs_line("0 9 * * *", "Asia/Tokyo", NOON)

    assert "Sun 28 Mar 2027 03:00, Mon 29 Mar 2027 02:30" in skipped
    assert "The clocks change on Sun 28 Mar and skip its time, so it runs at 03:00." in skipped
    assert "The clocks change before Sun 28 Mar 2027 09:00; it keeps its time of day" in kept
    assert "Sun 31 Oct 2027 02:30, Mon 1 Nov 2027 02:30" in autumn
    assert "clocks" not in calm


async def test_a_schedule_is_paused_resumed_run_and_removed(site: Site, browser: Browser) -> None:
    await add(browser)
    one = await only_schedule(site)

    async def done(act: str) -> int:
        form = await browser.form("/schedules", "/schedules#add")
        answer = await browser.post(f"/schedules/{one.id}/{act}", **form)
        return answer.status_code

    assert await done("pause") == 303
    assert (await only_schedule(site)).paused
    assert "paused" in (await browser.get("/schedules")).text
    assert await done("resume") == 303
    assert not (await only_schedule(site)).paused
    assert await done("run") == 303
    (bakeoff,) = await bakeoff_stores(site.context.app).bakeoffs.list_recent()
    assert bakeoff.schedule == one.id
    assert await done("remove") == 303
    assert await bakeoff_stores(site.context.app).schedules.list_all() == ()
    assert await done("remove") == 404
    await bakeoff_registry(site.context.app).stop()


async def test_an_unknown_action_is_not_found(site: Site, browser: Browser) -> None:
    await add(browser)
    form = await browser.form("/schedules", "/schedules#add")

    answer = await browser.post(f"/schedules/{(await only_schedule(site)).id}/explode", **form)

    assert answer.status_code == 404
    assert (await only_schedule(site)).name == "weekly-sql"


async def test_a_name_is_only_text_on_the_page(browser: Browser) -> None:
    done = await send(browser, name="<b>x</b>")
    page = await browser.get("/schedules")

    assert "<b>x</b>" not in done.text + page.text


@pytest.mark.parametrize("act", ["add", "preview"])
async def test_a_form_of_release_0_2_is_never_read_as_another_schedule(
    site: Site, browser: Browser, act: str
) -> None:
    old = {"often": "month", "month_day": "1", "words": "", "act": act}

    refused = await send(browser, **old)

    assert refused.status_code == 422
    assert CHANGED in refused.text
    assert 'value="weekly-sql"' in refused.text
    assert await bakeoff_stores(site.context.app).schedules.list_all() == ()
