"""Bake-offs on the page: estimated, started, followed, cancelled, resumed."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from html import unescape

import httpx
import pytest

from bot.bakeoffs.parts import bakeoff_registry, bakeoff_stores
from bot.bakeoffs.render.matrix import METHODS_TITLE
from council.bakeoffs.models import Ending, Grading, Reference, Suite, SuiteQuestion
from council.places import Place
from tests.bot.app_fakes import an_app
from tests.bot.bakeoffs.fakes import a_bakeoff, a_graded_suite, a_suite, store_bakeoff
from tests.bot.web.browsing import Browser, Site, make_site
from tests.builders import ASKED_AT, CLAUDE, GROK, a_member
from tests.fakes.gateway import FakeGateway, Hangs


@pytest.fixture
async def stalled_site() -> AsyncIterator[Site]:
    """Yield a site with a model that never answers."""
    site = make_site(an_app(FakeGateway({CLAUDE: Hangs()})))
    await bakeoff_stores(site.context.app).suites.save(a_suite(2), "U1", ASKED_AT)
    yield site
    await bakeoff_registry(site.context.app).stop()
    await site.close()


async def propose(browser: Browser, **fields: str) -> httpx.Response:
    form = await browser.form("/bakeoffs", "/bakeoffs")
    return await browser.post("/bakeoffs", **(form | {"suite": "sql"} | fields))


async def start(browser: Browser, **fields: str) -> str:
    """Start a bake-off and return the path of its page."""
    form = browser.form_of(await propose(browser, **fields), "/bakeoffs/begin")
    response = await browser.post("/bakeoffs/begin", **form)
    assert response.status_code == 303, response.text
    return response.headers["location"]


async def wait_until_ended(site: Site, address: str) -> None:
    async for _ in bakeoff_registry(site.context.app).subscribe(address.removeprefix("/bakeoffs/")):
        pass


async def test_without_suites_the_page_says_how_to_add_one(site: Site) -> None:
    page = await site.browser().get("/bakeoffs")

    assert page.status_code == 200
    assert "No suites yet" in page.text
    assert "No bake-offs yet." in page.text


async def test_the_cost_is_shown_before_a_bakeoff_starts(site: Site) -> None:
    await bakeoff_stores(site.context.app).suites.save(a_suite(2), "U1", ASKED_AT)

    page = unescape((await propose(site.browser(), cap="$1.50")).text)

    assert "2 questions, each for Claude Sonnet 4.6, GPT-5.1 and Gemini 3 Pro." in page
    assert "It costs nothing, with a cap of $1.50." in page
    assert await bakeoff_stores(site.context.app).bakeoffs.list_recent() == ()


async def test_several_methods_are_compared(site: Site) -> None:
    await bakeoff_stores(site.context.app).suites.save(a_suite(2), "U1", ASKED_AT)
    chosen = {"method both-orders": "1", "method blind-ranking": "1", "method guess": "1"}

    page = unescape((await propose(site.browser(), **chosen)).text)
    address = await start(site.browser(), **chosen)

    assert "2 questions × 2 methods (blind-ranking and both-orders), each for" in page
    bakeoff = await bakeoff_stores(site.context.app).bakeoffs.load(
        address.removeprefix("/bakeoffs/")
    )
    assert bakeoff.suite.methods == ("blind-ranking", "both-orders")
    await wait_until_ended(site, address)
    page = (await site.browser().get(address)).text
    assert METHODS_TITLE in page
    assert "Winner right" not in page  # nothing is graded


async def test_a_started_bakeoff_redirects_to_its_page_and_shows_its_result(site: Site) -> None:
    await bakeoff_stores(site.context.app).suites.save(a_suite(2), "U1", ASKED_AT)
    browser = site.browser()

    address = await start(browser)
    await wait_until_ended(site, address)
    page = unescape((await browser.get(address)).text)

    assert "Bake-off of sql by house" in page
    assert "2 of 2 questions" in page
    assert f'href="/rounds/{address.removeprefix("/bakeoffs/")}.2"' in page
    assert "Question 2?" in page
    assert address in (await browser.get("/bakeoffs")).text
    assert (await browser.get(f"/rounds/{address.removeprefix('/bakeoffs/')}.2")).status_code == 200


async def run_twice(site: Site, *suites: Suite) -> list[str]:
    """Run suites on the page, a day apart; return the paths of their pages."""
    browser, paths = site.browser(), list[str]()
    for day, suite in enumerate(suites):
        site.context.app.now = partial(ASKED_AT.replace, day=ASKED_AT.day + day)
        await bakeoff_stores(site.context.app).suites.save(suite, "U1", ASKED_AT)
        paths.append(await start(browser, suite=suite.name))
        await wait_until_ended(site, paths[-1])
    return paths


async def test_an_answer_graded_by_a_rubric_shows_every_judges_grade(site: Site) -> None:
    rubric = Reference(Grading.JUDGE, "Names a lock.")
    suite = replace(a_suite(1), questions=(SuiteQuestion("Which?", reference=rubric),))
    app = site.context.app
    panel = replace(app.panels["house"], outside_judges=(a_member(GROK),))
    app.panels = {**app.panels, "house": panel}
    (address,) = await run_twice(site, suite)

    page = unescape((await site.browser().get(address)).text)
    cell = unescape((await site.browser().get(f"{address}/cells/1/0")).text)

    assert "No question has a grade from 1 outside judge." in page
    assert "who saw no names" not in page
    assert "No grade for 3 answers, shown as ?" in page
    assert "A right answer: Names a lock." in cell
    assert "No judge graded it." in cell


async def test_the_page_is_a_matrix_with_each_answer_one_click_away(site: Site) -> None:
    (address,) = await run_twice(site, a_graded_suite("9", "9"))
    browser = site.browser()

    page = unescape((await browser.get(address)).text)
    cell = re.search(rf'href="({address}/cells/2/\d)" data-dialog>(✗ \d..)<', page)

    assert cell
    assert "Question by question" in page
    assert "0 of 2" in page  # right answers, in the totals
    assert "Is the council worth it here?" in page
    shown = unescape((await browser.get(cell[1])).text)
    assert "Wrong, " in shown
    assert "Right answer: <code>9</code>" in shown
    assert "How each judge ranked it" in shown
    assert f'href="/rounds/{address.removeprefix("/bakeoffs/")}.2"' in shown


async def test_two_runs_stand_side_by_side_though_the_suite_changed(site: Site) -> None:
    before, now = await run_twice(site, a_graded_suite("9", "8"), a_graded_suite("9"))
    earlier = before.removeprefix("/bakeoffs/")

    page = unescape((await site.browser().get(f"{now}?against={earlier}")).text)
    changed = unescape((await site.browser().get(f"{now}?show=changed")).text)

    assert "0 results changed of 1 question that both runs finished" in page
    assert "1 question only in the earlier one" in page
    assert f'<option value="{earlier}" selected>' in page
    assert "No question fits." in changed


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("show=failed", 0),
        ("show=nonsense", 101),
        ("category=joins", 0),
        ("from=101", 1),
        ("from=x", 101),
    ],
)
async def test_rows_are_filtered_and_loaded_a_hundred_at_a_time(
    site: Site, query: str, shown: int
) -> None:
    bakeoff = a_bakeoff(a_suite(101), place=Place("web", channel="web:1"))
    await store_bakeoff(site.context.app, bakeoff)

    page = (await site.browser().get(f"/bakeoffs/bo:beef?{query}")).text
    rows = (await site.browser().get(f"/bakeoffs/bo:beef/rows?{query}")).text

    assert page.count('<tr><th scope="row">') == min(shown, 100)
    assert rows.count('<tr><th scope="row">') == min(shown, 100)
    assert "<html" not in rows
    assert ("Show 1 more question<" in rows) == (shown > 100)


async def test_a_cell_that_does_not_exist_is_not_found(site: Site) -> None:
    await store_bakeoff(site.context.app, a_bakeoff(place=Place("web", channel="web:1")))
    browser = site.browser()

    for path in ("0/0", "1/0", "99/0", "1/99", "1/x"):
        assert (await browser.get(f"/bakeoffs/bo:beef/cells/{path}")).status_code == 404
    assert (await browser.get("/bakeoffs/bo:beef/bakeoff.png")).status_code == 404
    assert (await browser.get("/bakeoffs/bo:beef?against=bo:none")).status_code == 404


async def test_the_matrix_can_be_downloaded(site: Site) -> None:
    (address,) = await run_twice(site, a_suite(2))
    browser = site.browser()

    table = await browser.get(f"{address}/bakeoff.csv")
    document = (await browser.get(f"{address}/bakeoff.json")).json()

    assert len(table.text.splitlines()) == 3
    assert len(document["cells"]) == 6
    assert document["rows"][0]["rounds"] == 2


async def test_the_same_form_twice_starts_one_bakeoff(site: Site) -> None:
    await bakeoff_stores(site.context.app).suites.save(a_suite(2), "U1", ASKED_AT)
    browser = site.browser()
    form = browser.form_of(await propose(browser), "/bakeoffs/begin")

    first = await browser.post("/bakeoffs/begin", **form)
    second = await browser.post("/bakeoffs/begin", **form)

    assert first.headers["location"] == second.headers["location"]
    assert len(await bakeoff_stores(site.context.app).bakeoffs.list_recent()) == 1


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"suite": "law"}, "There is no suite 'law'. Known suites: sql."),
        ({"panel": "small"}, "There is no panel 'small'"),
        ({"cap": "much"}, "'much' is not an amount of money"),
    ],
)
async def test_bad_input_is_an_error_above_the_form(
    site: Site, fields: dict[str, str], sentence: str
) -> None:
    await bakeoff_stores(site.context.app).suites.save(a_suite(2), "U1", ASKED_AT)

    page = await propose(site.browser(), **fields)

    assert page.status_code == 422
    assert sentence in unescape(page.text)
    assert 'action="/bakeoffs"' in page.text


async def test_a_forged_proposal_starts_no_bakeoff(site: Site) -> None:
    browser = site.browser()
    form = await browser.form()

    page = await browser.post("/bakeoffs/begin", **(form | {"value": "x"}))

    assert page.status_code == 422
    assert "This button can't be read any more" in unescape(page.text)


def events_of(stream: httpx.Response) -> list[tuple[str, dict[str, object]]]:
    found = re.findall(r"^event: (\w+)\ndata: (.*)$", stream.text, re.MULTILINE)
    return [(name, json.loads(data)) for name, data in found]


async def test_progress_is_streamed_to_the_end(site: Site) -> None:
    await bakeoff_stores(site.context.app).suites.save(a_suite(3), "U1", ASKED_AT)
    browser = site.browser()
    address = await start(browser)

    events = events_of(await browser.get(f"{address}/events"))

    assert events[-1] == ("end", {})
    assert events[-2][1]["closed"] is True
    assert any("of 3 questions" in str(state.get("progress")) for _, state in events)


async def test_a_bakeoff_is_cancelled_and_resumed_by_its_author(stalled_site: Site) -> None:
    browser, other = stalled_site.browser(), stalled_site.browser()
    address = await start(browser)
    form = await browser.form(address, f"{address}/cancel")

    state = (await browser.get(f"{address}/state")).json()
    assert (state["closed"], state["stopped"]) == (False, False)
    assert (await other.post(f"{address}/cancel", **(await other.form()))).status_code == 403
    await browser.post(f"{address}/cancel", **form)
    await wait_until_ended(stalled_site, address)
    page = await browser.get(address)

    assert "It was cancelled." in page.text
    assert f'action="{address}/resume"' in page.text
    assert f'action="{address}/resume"' not in (await other.get(address)).text
    resume = browser.form_of(page, f"{address}/resume")
    assert (await browser.post(f"{address}/resume", **resume)).status_code == 303
    assert bakeoff_registry(stalled_site.context.app).latest(address.removeprefix("/bakeoffs/"))


async def test_a_bakeoff_with_a_cap_is_resumed_under_a_new_one(stalled_site: Site) -> None:
    browser = stalled_site.browser()
    address = await start(browser, cap="2")
    await browser.post(f"{address}/cancel", **(await browser.form(address, f"{address}/cancel")))
    await wait_until_ended(stalled_site, address)
    resume = await browser.form(address, f"{address}/resume")

    refused = await browser.post(f"{address}/resume", **(resume | {"cap": "much"}))
    resumed = await browser.post(f"{address}/resume", **(resume | {"cap": "$3.50"}))

    bakeoffs = bakeoff_stores(stalled_site.context.app).bakeoffs
    assert (refused.status_code, resumed.status_code) == (422, 303)
    assert (await bakeoffs.load(address.removeprefix("/bakeoffs/"))).cap_micro == 3_500_000


async def test_bakeoffs_of_chats_are_not_listed(site: Site) -> None:
    await store_bakeoff(site.context.app)

    page = await site.browser().get("/bakeoffs/bo:beef")

    assert page.status_code == 404
    assert "bo:beef" not in (await site.browser().get("/bakeoffs")).text


async def test_an_unknown_bakeoff_is_not_found(site: Site) -> None:
    assert (await site.browser().get("/bakeoffs/bo:none")).status_code == 404
    assert (await site.browser().get("/bakeoffs/bo:none/events")).status_code == 404


async def test_a_bakeoff_that_ended_early_says_why_and_what_to_do(site: Site) -> None:
    bakeoff = await store_bakeoff(site.context.app, a_bakeoff(place=Place("web", channel="web:1")))
    await bakeoff_stores(site.context.app).bakeoffs.end(
        bakeoff.id, Ending(ASKED_AT, "The day is used up.")
    )

    page = await site.browser().get("/bakeoffs/bo:beef")

    assert "The day is used up. 0 of 3 questions are saved" in page.text
