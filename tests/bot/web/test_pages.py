"""Pages of plug-ins: routes, navigation, templates and hints, joined with those of the core."""

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bot.plugins import Plugins
from bot.web.app import CORE_PAGES
from bot.web.context import WebContext
from bot.web.pages import NavigationLink, Pages, Site, load_site
from council.errors import CouncilError
from council.plugin import Plugin
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import NewSite
from tests.bot.web.browsing import Site as WebSite


class LateError(CouncilError):
    """A plug-in's error."""


async def dance(_context: WebContext, _request: Request) -> Response:
    return PlainTextResponse("A dance.")


async def fail(_context: WebContext, _request: Request) -> Response:
    raise LateError("Too late.")


PAGES = Pages(
    name="dancers",
    get={"/dance": dance, "/late": fail, "/rounds/{name}": dance},
    statuses={LateError: 409},
    navigation=(NavigationLink("Dances", "Dance", "/dance"),),
)
DANCERS = Plugin(name="dancers", pages=(f"{__name__}:PAGES",))


async def test_a_plugin_adds_pages_their_errors_and_links(new_site: NewSite) -> None:
    app = an_app()
    app.plugins = Plugins(active=[DANCERS])
    browser = new_site(app).browser()

    home = await browser.get("/")
    danced, late = await browser.get("/dance"), await browser.get("/late")

    assert home.text.index('href="/help"') < home.text.index('href="/dance"')
    assert danced.text == "A dance."
    assert (late.status_code, "Too late." in late.text) == (409, True)


def test_of_two_pages_at_one_path_the_first_is_used_and_the_conflict_is_named() -> None:
    said: list[str] = []

    site = load_site(Plugins(active=[DANCERS], report=said.append), CORE_PAGES)

    assert "/rounds/{name}" not in site.get
    assert [("dancers" in line, "/rounds/{name}" in line) for line in said] == [(True, True)]


@pytest.mark.parametrize(
    ("code", "link"),
    [
        ("/council rounds", ("Rounds", "/rounds")),
        ("/council show abcdef0123", ("this round", "/rounds/abcdef0123")),
        ("/council show ID", None),
        ("/council QUESTION", ("New question", "/")),
        ("/council forget b1 yes", ("Delete this round", "/rounds/b1/forget")),
        ("/council suite list", None),
        ("council.toml", None),
    ],
)
def test_on_the_page_a_hint_is_a_link(code: str, link: tuple[str, str] | None) -> None:
    assert Site(CORE_PAGES).page_link(code) == link


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/connect", "/models#connect"),
        ("/panels?saved=house", "/models?saved=house"),
        ("/keys", "/models#keys"),
    ],
)
async def test_old_addresses_lead_to_the_new_page(site: WebSite, old: str, new: str) -> None:
    browser = site.browser()

    moved = await browser.get(old)

    assert (moved.status_code, moved.headers["location"]) == (303, new)
    assert (await browser.get(new)).status_code == 200


@pytest.mark.parametrize(
    ("path", "query", "tab"),
    [
        ("/a", {}, "A"),
        ("/a/below", {}, "A"),
        ("/a", {"as": "judge", "since": "7d"}, "A as judge"),
        ("/b", {"as": "judge"}, "B"),
        ("/ab", {}, None),
        ("/", {}, None),
    ],
)
def test_a_row_knows_the_tab_of_a_page(path: str, query: dict[str, str], tab: str | None) -> None:
    links = [("A", "/a"), ("A as judge", "/a?as=judge"), ("B", "/b")]
    pages = Pages(name="p", navigation=[NavigationLink("Row", *link) for link in links])
    (row,) = Site(pages).navigation

    found = row.find_tab(path, query)

    assert (found and found.label) == tab


async def test_the_rows_of_the_core_come_in_one_order(site: WebSite) -> None:
    page = (await site.browser().get("/models")).text

    rows = page[page.index('aria-label="Pages"') : page.index("</nav>")]
    paths = ["/", "/rounds", "/models", "/help"]
    places = [rows.index(f'href="{path}"') for path in paths]
    assert places == sorted(places)
    assert 'href="/models" aria-current="page"' in rows


@pytest.mark.parametrize(
    ("chosen", "shown"), [("dark", "dark"), ("light", "light"), ("", ""), ("<b>", "")]
)
async def test_the_colours_are_remembered(site: WebSite, chosen: str, shown: str) -> None:
    browser = site.browser()
    form = await browser.form("/rounds?q=a", "/theme")

    done = await browser.post("/theme", **form, theme=chosen)

    assert (done.status_code, done.headers["location"]) == (303, "/rounds?q=a")
    page = (await browser.get("/help")).text
    assert ('data-theme="' in page) == bool(shown)
    assert f'content="{shown or "light dark"}"' in page
