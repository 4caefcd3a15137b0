"""Suites on the page: listed, read from files, edited in rows, extended, downloaded."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape

import httpx
import pytest

from bot.bakeoffs.column_names import COLUMNS
from bot.bakeoffs.parts import bakeoff_stores
from bot.bakeoffs.suite_files import parse_suite_file
from bot.bakeoffs.web.suites import MAX_ROWS
from council.bakeoffs.models import Suite
from tests.bot.web.browsing import SOMEBODY, Browser, Site, a_round_of

CSV = b"question,answer\nWhat is 6 x 7?,42\nWhy <b>so</b>?,\n"
Row = Mapping[str, str]
ROWS: tuple[Row, ...] = (
    {"question": "What is 6 x 7?", "answer": "42"},
    {"question": "Why <b>so</b>?"},
)


async def preview(
    browser: Browser, name: str = "sql", content: bytes = CSV, filename: str = "sql.csv"
) -> httpx.Response:
    """Send the form with a file and return the preview."""
    form = await browser.form("/suites", "/suites")
    return await browser.client.post(
        "/suites", data={**form, "name": name, "lines": ""}, files={"file": (filename, content)}
    )


async def send_rows(
    browser: Browser, shown: httpx.Response, *rows: Row, act: str
) -> httpx.Response:
    """Send the form of a preview with these rows."""
    path = str(shown.url.path) if shown.url.path.endswith("/edit") else "/suites/sql/edit"
    cells = {name: [row.get(name, "") for row in rows] for name in COLUMNS}
    hidden = browser.form_of(shown, path)
    return await browser.client.post(path, data={**hidden, **cells, "act": act})


async def add(browser: Browser) -> httpx.Response:
    return await send_rows(browser, await preview(browser), *ROWS, act="save")


async def stored(site: Site) -> Suite:
    return await bakeoff_stores(site.context.app).suites.load("", "sql")


async def test_a_file_is_previewed_in_rows_and_then_saved(site: Site) -> None:
    browser = site.browser()

    shown = await preview(browser)

    assert "2 questions, 1 with a reference answer." in shown.text
    assert "One run on panel house costs nothing." in shown.text
    assert "Why &lt;b&gt;so&lt;/b&gt;?</textarea>" in shown.text
    assert "No suites yet" in (await browser.get("/suites")).text
    done = await send_rows(browser, shown, *ROWS, act="save")
    assert (done.status_code, done.headers["location"]) == (303, "/suites/sql")
    assert await stored(site) == parse_suite_file("sql", "sql.csv", CSV)


async def test_what_a_file_of_another_tool_leaves_out_is_listed(site: Site) -> None:
    content = b"prompts: [Why?]\nextensions: [a]\n"

    shown = await preview(site.browser(), content=content, filename="p.yaml")

    assert "<li>extensions (line 2): a suite has no such setting.</li>" in shown.text
    assert "Why?</textarea>" in shown.text


async def test_a_question_that_lost_a_check_keeps_that_through_the_form(site: Site) -> None:
    content = b"prompts: [Six?]\ntests:\n- assert: [{type: contains, value: x}, {type: python}]\n"
    browser = site.browser()

    shown = await preview(browser, content=content, filename="p.yaml")
    row = {"question": "Six?", "answer": "assert python", "grading": "missing", "checks": "1 of 2"}
    await send_rows(browser, shown, row, act="save")
    page = (await browser.get("/suites/sql")).text

    assert "Question 1 has no grade, shown as ?" in shown.text
    assert 'value="1 of 2"' in shown.text
    assert "missing, 1 of 2 checks" in page
    assert not (await stored(site)).questions[0].is_graded


async def test_pasted_questions_are_previewed_as_well(site: Site) -> None:
    browser = site.browser()
    form = await browser.form("/suites", "/suites")

    shown = await browser.post("/suites", **form, name="sql", lines="Why?\r\nHow?")

    assert "2 questions" in shown.text
    assert "How?</textarea>" in shown.text


async def test_without_a_file_the_form_begins_empty(site: Site) -> None:
    browser = site.browser()
    form = await browser.form("/suites", "/suites")

    shown = await browser.post("/suites", **form, name="sql", lines="")
    saved = await send_rows(browser, shown, {}, {"question": "Why?"}, {}, act="save")

    assert shown.text.count("<fieldset") == 3
    assert saved.status_code == 303
    assert [question.text for question in (await stored(site)).questions] == ["Why?"]


async def test_rows_are_checked_without_saving(site: Site) -> None:
    browser = site.browser()
    shown = await preview(browser)

    wrong = await send_rows(browser, shown, {}, {"question": "Why?", "tolerance": "x"}, act="check")

    assert wrong.status_code == 422
    assert "Question 2: the answer is empty" in wrong.text
    assert "Why?</textarea>" in wrong.text
    assert await bakeoff_stores(site.context.app).suites.list_summaries("") == ()


async def test_a_changed_suite_becomes_a_new_version_that_keeps_its_settings(site: Site) -> None:
    browser, suites = site.browser(), bakeoff_stores(site.context.app).suites
    await add(browser)
    seen = replace(await stored(site), judges_see_references=True)
    await suites.save(seen, "", datetime.now(UTC))

    shown = await browser.get("/suites/sql/edit")
    done = await send_rows(browser, shown, *ROWS, {"question": "New?"}, act="save")
    late = await send_rows(browser, shown, *ROWS, {"question": "Newer?"}, act="save")

    assert f"earlier results stay with version {seen.version}" in shown.text
    assert done.status_code == 303
    after = await stored(site)
    assert (len(after.questions), after.judges_see_references) == (3, True)
    assert (late.status_code, "has changed in the meantime" in late.text) == (422, True)


async def test_a_large_suite_is_confirmed_instead_of_edited(site: Site) -> None:
    browser = site.browser()
    content = "\n".join(f"Why {number}?" for number in range(MAX_ROWS + 1)).encode()

    shown = await preview(browser, content=content, filename="sql.txt")
    done = await browser.post("/press/keep_suite", **browser.form_of(shown, "/press/keep_suite"))

    assert "Why 0?" in shown.text
    assert "Suite sql is saved" in done.text
    assert "/suites/sql/edit" not in (await browser.get("/suites/sql")).text
    refused = await browser.get("/suites/sql/edit")
    assert (refused.status_code, "Download its CSV" in refused.text) == (422, True)


async def test_a_form_that_was_tampered_with_is_refused(site: Site) -> None:
    browser = site.browser()
    shown = await preview(browser)
    hidden = browser.form_of(shown, "/suites/sql/edit")

    broken = await browser.post("/suites/sql/edit", **hidden, answer="42", act="save")
    many = await send_rows(browser, shown, *[ROWS[0]] * (MAX_ROWS + 1), act="check")

    assert (broken.status_code, many.status_code) == (422, 422)


async def test_a_suite_is_shown_whole_and_reads_back_from_its_file(site: Site) -> None:
    browser = site.browser()
    await add(browser)

    page = await browser.get("/suites/sql")
    file = await browser.get("/suites/sql/suite.csv")

    assert "Why &lt;b&gt;so&lt;/b&gt;?" in page.text
    assert "attachment" in file.headers["content-disposition"]
    suite = await bakeoff_stores(site.context.app).suites.load("", "sql")
    assert parse_suite_file("sql", "suite.csv", file.text.encode()) == suite


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
    assert await bakeoff_stores(site.context.app).suites.list_summaries("") == ()


async def test_other_buttons_cannot_be_pressed_on_the_page(site: Site) -> None:
    browser = site.browser()
    form = await browser.form("/suites", "/suites")

    done = await browser.post("/press/again", **form, value="abc")

    assert done.status_code == 404


async def test_an_unknown_suite_is_an_error(site: Site) -> None:
    page = await site.browser().get("/suites/nothing")

    assert (page.status_code, "There is no suite 'nothing'" in unescape(page.text)) == (422, True)


async def test_columns_of_other_names_can_be_chosen_on_the_page(site: Site) -> None:
    browser = site.browser()
    form = await browser.form("/suites", "/suites")
    columns = {"question": "body", "answer": "solved"}
    file = {"file": ("own.csv", b"body,solved,id\n6 x 7?,42,1\n")}

    shown = await browser.client.post(
        "/suites", data={**form, "name": "sql", "lines": "", **columns}, files=file
    )
    wrong = await browser.client.post(
        "/suites", data={**form, "name": "sql", "lines": "", "question": "title"}, files=file
    )

    assert "6 x 7?</textarea>" in shown.text
    assert "1 question, 1 with a reference answer." in shown.text
    assert (wrong.status_code, 'name="question" value="title"' in wrong.text) == (422, True)


async def test_other_right_answers_go_through_the_form(site: Site) -> None:
    browser = site.browser()
    shown = await preview(browser)

    row = {"question": "A city?", "answer": "Rome", "other_answers": "Oslo\r\nParis"}
    await send_rows(browser, shown, row, act="save")

    [question] = (await stored(site)).questions
    assert question.reference
    assert question.reference.values == ("Rome", "Oslo", "Paris")


async def test_a_form_of_release_0_2_saves_its_rows(site: Site) -> None:
    browser = site.browser()
    hidden = browser.form_of(await preview(browser), "/suites/sql/edit")
    columns = ("question", "category", "answer", "grading", "tolerance", "context")
    cells = {name: [row.get(name, "") for row in ROWS] for name in columns}

    saved = await browser.client.post("/suites/sql/edit", data={**hidden, **cells, "act": "save"})

    assert saved.status_code == 303
    assert [one.text for one in (await stored(site)).questions] == [
        "What is 6 x 7?",
        "Why <b>so</b>?",
    ]
