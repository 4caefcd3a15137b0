"""Share links of bake-offs: they open one result, can be revoked, and show nothing else."""

import re
from html import unescape

from bot.bakeoffs.parts import bakeoff_stores
from tests.bot.bakeoffs.fakes import a_suite
from tests.bot.bakeoffs.web.test_bakeoffs import start, wait_until_ended
from tests.bot.web.browsing import Browser, Site
from tests.builders import ASKED_AT


async def shared(site: Site, browser: Browser) -> tuple[str, str]:
    """Run a bake-off and share it; return the path of its page and of the link."""
    await bakeoff_stores(site.context.app).suites.save(a_suite(2), "U1", ASKED_AT)
    address = await start(browser)
    await wait_until_ended(site, address)
    form = await browser.form(f"{address}/share", f"{address}/share")
    made = await browser.post(f"{address}/share", **(form | {"days": "7"}))
    (link,) = re.findall(r'value="(http[^"]*/shared\?key=[^"]*)"', unescape(made.text))
    return address, link


async def test_a_link_opens_the_result_and_nothing_else(locked_site: Site) -> None:
    owner, stranger = locked_site.browser(), locked_site.browser()
    await owner.log_in()
    address, link = await shared(locked_site, owner)

    page = await stranger.get(link)

    assert page.status_code == 200
    shown = unescape(page.text)
    assert "Bake-off of sql by house" in shown
    assert "By the judges’ points" in shown
    assert "Question 2?" in shown
    assert "U1" not in shown
    for path in (address, f"{address}/bakeoff.csv", "/bakeoffs", f"{address}/share"):
        assert (await stranger.get(path)).status_code in {303, 401}
    other = link.replace(address.rpartition("/")[2], "bo:0000000000")
    assert (await stranger.get(other)).status_code == 403


async def test_a_revoked_link_opens_nothing(locked_site: Site) -> None:
    owner, stranger = locked_site.browser(), locked_site.browser()
    await owner.log_in()
    address, link = await shared(locked_site, owner)
    form = await owner.form(f"{address}/share", f"{address}/share/revoke")

    await owner.post(f"{address}/share/revoke", **form)

    assert (await stranger.get(link)).status_code == 410
    assert "No links yet." in (await owner.get(f"{address}/share")).text


async def test_a_link_without_its_key_opens_nothing(locked_site: Site) -> None:
    owner, stranger = locked_site.browser(), locked_site.browser()
    await owner.log_in()
    _, link = await shared(locked_site, owner)
    path = link.partition("?")[0]

    assert (await stranger.get(f"{path}?key=")).status_code == 403
    assert (await owner.get(path)).status_code == 403
