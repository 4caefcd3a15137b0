"""What bake-offs add to the pages of the core."""

from dataclasses import replace

import pytest

from bot.bakeoffs.web.pages import PAGES
from bot.plugins import PluginSwitches, find_plugins
from bot.web.legal import PRIVACY
from bot.web.pages import Site as Pages
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import SOMEBODY, NewSite, Site, a_round_of

PATHS = ("/bakeoffs", "/suites", "/schedules", "/leaderboard", "/bias")


async def test_every_page_links_to_those_of_bake_offs(site: Site) -> None:
    page = (await site.browser().get("/")).text

    places = [page.index(f'href="{path}"') for path in ("/bakeoffs", "/leaderboard", "/models")]
    assert places == sorted(places)


async def test_a_round_leads_to_its_bake_off_and_to_suites(site: Site) -> None:
    round_ = await site.run_round(replace(a_round_of(SOMEBODY), bakeoff="beef"))

    page = (await site.browser().get(f"/rounds/{round_.id}")).text

    assert 'href="/bakeoffs/beef"' in page
    assert f'action="/rounds/{round_.id}/suite"' in page


async def test_where_bake_offs_are_disabled_nothing_leads_to_them(new_site: NewSite) -> None:
    app = an_app()
    app.plugins = find_plugins(PluginSwitches(disabled=("bakeoffs",)))
    site = new_site(app)
    round_ = await site.run_round(replace(a_round_of(SOMEBODY), bakeoff="beef"))
    browser = site.browser()

    shown = [await browser.get(path) for path in ("/", f"/rounds/{round_.id}", PRIVACY)]
    gone = [await browser.get(path) for path in (*PATHS, f"/rounds/{round_.id}/beside")]
    form = await browser.form()
    refused = await browser.post(f"/rounds/{round_.id}/suite", **form, name="sql")

    assert {page.status_code for page in shown} == {200}
    for word in ("bakeoff", "suite", "chedule", "leaderboard", "bias", "beside"):
        assert [page.url for page in shown if word in page.text] == []
    assert {page.status_code for page in (*gone, refused)} == {404}
    assert all("There is no such page." in page.text for page in gone)


@pytest.mark.parametrize(
    ("code", "link"),
    [
        ("/council suite list", ("Suites", "/suites")),
        ("/council bakeoff show b1", ("this bake-off", "/bakeoffs/b1")),
        ("/council bakeoff resume b1", ("the button on its page", "/bakeoffs/b1")),
        ("/council bakeoff SUITE", None),
    ],
)
def test_on_the_page_a_hint_is_a_link(code: str, link: tuple[str, str] | None) -> None:
    assert Pages(PAGES).page_link(code) == link
