"""The pages /privacy and /terms: open to everybody, without anything of anybody's own."""

import pytest

from bot.web.legal import LEGAL_PATHS, PRIVACY
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import TOKEN, NewSite, Site, redirected_round_id


@pytest.mark.parametrize("path", LEGAL_PATHS)
async def test_they_need_no_token_and_say_who_runs_it(new_site: NewSite, path: str) -> None:
    site = new_site(token=TOKEN, contact="Ada, ada@home.example")

    page = await site.browser().get(path)

    assert page.status_code == 200
    assert "Ada, ada@home.example" in page.text


async def test_privacy_names_the_providers_and_how_long_texts_stay(new_site: NewSite) -> None:
    app = an_app()
    app.texts_days = 90

    page = await new_site(app, token=TOKEN).browser().get(PRIVACY)

    assert "Anthropic, OpenAI and Google" in page.text
    assert "after 90 days" in page.text


async def test_they_show_no_round(site: Site) -> None:
    browser = site.browser()
    asked = await browser.ask("Which queue?")
    await site.wait_until_closed(redirected_round_id(asked))

    for path in LEGAL_PATHS:
        assert "Which queue?" not in (await browser.get(path)).text
