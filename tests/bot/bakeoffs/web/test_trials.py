"""Trials on the page: a form on a finished bake-off, the cost, and the sentence."""

import re
from dataclasses import replace
from html import unescape

import pytest

from bot.bakeoffs.parts import bakeoff_registry
from bot.ports import PAGE
from council.places import Place
from tests.bot.app_fakes import an_app
from tests.bot.bakeoffs.fakes import a_bakeoff, a_graded_suite, run_to_end
from tests.bot.web.browsing import Site, make_site
from tests.builders import CLAUDE, GPT, GROK, a_member, a_panel
from tests.fakes.gateway import FakeGateway

OTHER = replace(a_panel(2), name="other", members=(a_member(GROK), a_member(GPT)))


@pytest.fixture
async def finished() -> Site:
    """Return a site with a finished bake-off of six graded questions."""
    app = an_app(FakeGateway({CLAUDE: "41", GROK: "42"}), panels=[a_panel(), OTHER])
    suite = a_graded_suite(*["42"] * 6)
    await run_to_end(app, None, a_bakeoff(suite, place=Place(PAGE)))
    return make_site(app)


async def test_another_model_is_tried_on_the_suite_of_a_finished_bakeoff(finished: Site) -> None:
    browser = finished.browser()
    form = await browser.form("/bakeoffs/bo:beef", "/bakeoffs/bo:beef/try")
    asked = await browser.post("/bakeoffs/bo:beef/try", **(form | {"model": GROK}))
    started = await browser.post("/bakeoffs/try", **browser.form_of(asked, "/bakeoffs/try"))
    address = started.headers["location"]
    id_ = address.removeprefix("/bakeoffs/")
    async for _ in bakeoff_registry(finished.context.app).subscribe(id_):
        pass

    page = unescape((await browser.get(address)).text)
    number = (await finished.context.app.store.list_summaries(1))[0].id
    round_page = await browser.get(f"/rounds/{number}")

    assert "6 answers of Claude Sonnet 4.6 used again" in unescape(asked.text)
    assert started.status_code == 303
    said = "Switch to Grok 4: right on 6 of 6 where Claude Sonnet 4.6 is on 0"
    assert f'<p class="lead">{said}' in page
    assert page.count("Switch to Grok 4") == 1
    assert "Try of Grok 4 against Claude Sonnet 4.6 on graded" in page
    assert (round_page.status_code, "Graded, not ranked" in round_page.text) == (200, True)
    form = await browser.form(f"{address}/share", f"{address}/share")
    made = await browser.post(f"{address}/share", **(form | {"days": "7"}))
    (link,) = re.findall(r'value="(http[^"]*/shared\?key=[^"]*)"', unescape(made.text))
    shared = unescape((await finished.browser().get(link)).text)
    assert f'href="{address}/share"' in page
    assert f'<p class="lead">{said}' in shared
    assert "leads with" not in shared


async def test_a_model_of_the_panel_is_refused_with_the_reason(finished: Site) -> None:
    browser = finished.browser()
    form = await browser.form("/bakeoffs/bo:beef", "/bakeoffs/bo:beef/try")

    refused = await browser.post("/bakeoffs/bo:beef/try", **(form | {"model": GPT}))

    assert refused.status_code >= 400
    assert "is already in panel house" in unescape(refused.text)
