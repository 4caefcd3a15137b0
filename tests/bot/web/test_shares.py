"""Share links: who creates them, what they open, and what they say when they open nothing more."""

import re
from dataclasses import replace
from html import unescape

import httpx
import pytest

from bot.web.auth import FORGED_LINK, FORGOTTEN_LINK, REVOKED_LINK, SHARES
from bot.web.shares import MAX_SHARES, SHARE_DAYS, issue_share
from council.people import Person, ThreadReading
from council.rounds import Round
from tests.bot.web.browsing import (
    SOMEBODY,
    TOKEN,
    Browser,
    NewSite,
    Site,
    a_round_of,
    forms_of,
)
from tests.builders import ASKED_AT


async def an_asker(site: Site) -> tuple[Browser, Round]:
    """Return the browser of somebody who has logged in, and a round of theirs."""
    browser = site.browser()
    await browser.log_in()
    return browser, await site.run_round(a_round_of(browser.visitor))


async def share(browser: Browser, round_id: str, **fields: str) -> httpx.Response:
    path = f"/rounds/{round_id}/share"
    return await browser.post(path, **(await browser.form(path, path) | {"days": "30"} | fields))


def link_in(page: httpx.Response) -> str:
    (found,) = re.findall(r'id="link"[^>]* value="([^"]+)"', page.text)
    return unescape(found)


async def test_a_shared_page_shows_the_round_and_nothing_else(locked_site: Site) -> None:
    browser, round_ = await an_asker(locked_site)
    await locked_site.run_round(a_round_of(SOMEBODY, "aaaaaaaaaa"))
    link = link_in(await share(browser, round_.id))

    for reader in (locked_site.browser(), browser):
        page = await reader.get(link)

        assert (page.status_code, "The council says yes." in page.text) == (200, True)
        assert page.headers["x-robots-tag"] == "noindex, nofollow"
        assert (forms_of(page), "<nav" in page.text, "aaaaaaaaaa" in page.text) == (
            [],
            False,
            False,
        )
    document = (await locked_site.browser().get(link.replace("?", "/round.json?"))).json()
    assert (document["id"], document["asked_by"]) == (round_.id, "")


async def test_names_are_on_the_page_and_not_on_a_shared_one(locked_site: Site) -> None:
    browser = locked_site.browser()
    await browser.log_in()
    bare = a_round_of(browser.visitor)
    reading = ThreadReading(1, people=(Person(1, "U1", "Ada <Byron>"),))
    asked = replace(bare.question, text="Is Person 1 right?", reading=reading)
    round_ = await locked_site.run_round(replace(bare, question=asked))

    page = await browser.get(f"/rounds/{round_.id}")
    link = link_in(await share(browser, round_.id))
    shared = await locked_site.browser().get(link)

    assert "Is Ada Byron right?" in page.text
    assert 'role="alert"' not in page.text  # it is still as it was stored
    assert "Is Ada Byron right?" in (await browser.get("/rounds")).text
    markdown, document = f"/rounds/{round_.id}/round.md", f"/rounds/{round_.id}/round.json"
    assert "Is Ada Byron right?" in (await browser.get(markdown)).text
    assert (await browser.get(document)).json()["question"] == "Is Person 1 right?"
    assert "Is Person 1 right?" in shared.text
    for path in ("?", "/round.md?", "/round.json?"):
        assert "Ada" not in (await locked_site.browser().get(link.replace("?", path))).text


async def test_only_a_digest_of_the_key_is_stored(locked_site: Site) -> None:
    browser, round_ = await an_asker(locked_site)
    key = link_in(await share(browser, round_.id)).partition("key=")[2]

    stored = await locked_site.context.app.key_values.list_texts(SHARES)

    assert len(stored) == 1
    assert not any(part in str(stored) for part in (key, key.rpartition(".")[2]))
    assert key not in (await browser.get(f"/rounds/{round_.id}/share")).text


async def test_a_revoked_link_opens_nothing_in_any_process(
    locked_site: Site, new_site: NewSite
) -> None:
    browser, round_ = await an_asker(locked_site)
    other_process = new_site(locked_site.context.app, token=TOKEN)
    first, second = [link_in(await share(browser, round_.id)) for _ in range(2)]
    path = f"/rounds/{round_.id}/share"
    name = f"{round_.id}/"
    for form in forms_of(await browser.get(path)):
        if form.action == f"{path}/revoke":
            name = form.fields["link"]

    done = await browser.post(f"{path}/revoke", **(await browser.form(path, path) | {"link": name}))
    pages = [
        await site.browser().get(link)
        for site in (locked_site, other_process)
        for link in (first, second)
    ]

    assert (done.status_code, done.headers["location"]) == (303, path)
    assert sorted(page.status_code for page in pages) == [200, 200, 410, 410]
    for page in pages:
        if page.status_code == 410:
            assert REVOKED_LINK in page.text
            assert round_.question.text not in page.text


async def test_a_link_to_a_forgotten_round_says_that_it_was_deleted(locked_site: Site) -> None:
    browser, round_ = await an_asker(locked_site)
    link = link_in(await share(browser, round_.id))
    await locked_site.store.forget(round_.id, ASKED_AT, "salt")

    page = await locked_site.browser().get(link)

    assert (page.status_code, FORGOTTEN_LINK in page.text) == (410, True)
    assert round_.panel.name not in page.text
    assert (await browser.get(f"/rounds/{round_.id}/share")).status_code == 403


async def test_only_the_asker_shares_a_round(locked_site: Site) -> None:
    _, round_ = await an_asker(locked_site)
    other = locked_site.browser()
    await other.log_in()
    form = await other.form()

    page = await other.get(f"/rounds/{round_.id}")
    done = [await other.post(f"/rounds/{round_.id}/share{act}", **form) for act in ("", "/revoke")]

    assert f"/rounds/{round_.id}/share" not in page.text
    assert [response.status_code for response in done] == [403, 403]
    assert await locked_site.context.app.key_values.list_texts(SHARES) == {}


async def test_a_reader_by_link_cannot_share_it_on(locked_site: Site) -> None:
    browser, round_ = await an_asker(locked_site)
    link = link_in(await share(browser, round_.id))

    for reader in (locked_site.browser(), browser):
        assert (await reader.get(link.replace("?", "/share?"))).status_code == 403


async def test_without_a_token_the_page_shares_every_round_it_shows(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))

    page = await share(site.browser(), round_.id, days="1")

    assert (await site.browser().get(link_in(page))).status_code == 200
    site.clock.now += 24 * 3600 + 1
    assert (await site.browser().get(link_in(page))).status_code == 410
    assert "/revoke" not in (await site.browser().get(f"/rounds/{round_.id}/share")).text


@pytest.mark.parametrize("days", ["0", "31", "", "x"])
async def test_a_link_lasts_for_one_of_the_offered_times(site: Site, days: str) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))

    assert SHARE_DAYS[0] == 30
    assert (await share(site.browser(), round_.id, days=days)).status_code == 400


async def test_a_round_has_a_limited_number_of_links(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))
    for _ in range(MAX_SHARES):
        await issue_share(site.context, round_.id)

    assert (await share(site.browser(), round_.id)).status_code == 422


@pytest.mark.parametrize("round_id", ["own", "others", "none"])
async def test_no_key_opens_the_page_to_forget(locked_site: Site, round_id: str) -> None:
    browser, round_ = await an_asker(locked_site)
    others = await locked_site.run_round(a_round_of(SOMEBODY, "aaaaaaaaaa"))
    wanted = {"own": round_.id, "others": others.id, "none": "bbbbbbbbbb"}[round_id]
    key = await issue_share(locked_site.context, round_.id)
    stranger = locked_site.browser()

    forged = [await one.get(f"/rounds/{wanted}/forget?key=no") for one in (stranger, browser)]
    shared = [await one.get(f"/rounds/{wanted}/forget?key={key}") for one in (stranger, browser)]

    assert {page.status_code for page in (*forged, *shared)} == {403}
    assert all(FORGED_LINK in page.text for page in forged)
    assert all(round_.question.text not in page.text for page in (*forged, *shared))
