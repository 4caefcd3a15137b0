"""Suites on the page: listed, previewed and added, extended from a round, downloaded."""

from html import unescape

import httpx
import pytest

from bot.suite_files import parse_suite_text
from tests.bot.web.browsing import SOMEBODY, Browser, Site, a_round_of

CSV = b"question,answer\nWhat is 6 x 7?,42\nWhy <b>so</b>?,\n"


async def preview(browser: Browser, name: str = "sql", content: bytes = CSV) -> httpx.Response:
    """Send the form with a file and return the preview."""
    form = await browser.form("/suites", "/suites")
    return await browser.client.post(
        "/suites", data={**form, "name": name, "lines": ""}, files={"file": ("sql.csv", content)}
    )


async def add(browser: Browser, name: str = "sql") -> httpx.Response:
    shown = await preview(browser, name)
    return await browser.post("/press/keep_suite", **browser.form_of(shown, "/press/keep_suite"))


async def test_a_file_is_previewed_and_then_stored(site: Site) -> None:
    browser = site.browser()

    shown = await preview(browser)

    assert "2 questions, 1 with a reference answer." in shown.text
    assert "One run on panel house costs nothing." in shown.text
    assert "No suites yet" in (await browser.get("/suites")).text
    done = await browser.post("/press/keep_suite", **browser.form_of(shown, "/press/keep_suite"))
    assert "Suite sql is saved" in done.text
    assert "/suites/sql" in (await browser.get("/suites")).text


async def test_lines_make_a_suite_as_well(site: Site) -> None:
    browser = site.browser()
    form = await browser.form("/suites", "/suites")

    shown = await browser.post("/suites", **form, name="sql", lines="Why?\r\nHow?")

    assert "2 questions" in shown.text


async def test_a_suite_is_shown_whole_and_reads_back_from_its_file(site: Site) -> None:
    browser = site.browser()
    await add(browser)

    page = await browser.get("/suites/sql")
    file = await browser.get("/suites/sql/suite.csv")

    assert "Why &lt;b&gt;so&lt;/b&gt;?" in page.text
    assert "attachment" in file.headers["content-disposition"]
    suite = await site.context.app.bakeoff_stores.suites.load("", "sql")
    assert parse_suite_text("sql", "suite.csv", file.text) == suite


async def test_only_its_author_can_remove_a_suite(site: Site) -> None:
    browser, other = site.browser(), site.browser()
    await add(browser)

    page, others = await browser.get("/suites/sql"), await other.get("/suites/sql")

    assert "/suites/sql/remove" not in others.text
    form = await other.form("/suites", "/suites")
    assert (
        "Only the person who saved suite sql last"
        in (await other.post("/suites/sql/remove", **form)).text
    )
    done = await browser.post("/suites/sql/remove", **browser.form_of(page, "/suites/sql/remove"))
    assert "Suite sql is removed" in done.text


async def test_a_rounds_question_joins_a_suite(site: Site) -> None:
    round_, browser = await site.run_round(a_round_of(SOMEBODY)), site.browser()
    path = f"/rounds/{round_.id}/suite"
    form = await browser.form(f"/rounds/{round_.id}", path)

    done = await browser.post(path, **form, name="Queues", answer="yes")

    assert (done.status_code, done.headers["location"]) == (303, "/suites/queues")
    page = unescape((await browser.get("/suites/queues")).text)
    assert round_.question.text in page
    again = await browser.post(path, **form, name="queues", answer="")
    assert (again.status_code, "already has this question" in again.text) == (422, True)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a b", CSV, "A suite can't be called"),
        ("sql", b"question\nWhy?\nWhy?\n", "sql.csv: Line 3 asks the same as line 2"),
        ("sql", b"", "There are no questions in it"),
    ],
)
async def test_an_invalid_file_is_an_error(
    site: Site, name: str, content: bytes, sentence: str
) -> None:
    shown = await preview(site.browser(), name, content)

    assert sentence in unescape(shown.text)
    assert await site.context.app.bakeoff_stores.suites.list_summaries("") == ()


async def test_other_buttons_cannot_be_pressed_on_the_page(site: Site) -> None:
    browser = site.browser()
    form = await browser.form("/suites", "/suites")

    done = await browser.post("/press/again", **form, value="abc")

    assert done.status_code == 404


async def test_an_unknown_suite_is_an_error(site: Site) -> None:
    page = await site.browser().get("/suites/nothing")

    assert (page.status_code, "There is no suite 'nothing'" in unescape(page.text)) == (422, True)
