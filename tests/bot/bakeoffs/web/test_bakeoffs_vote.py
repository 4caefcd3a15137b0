"""Votes on the answers of a bake-off, without names."""

from bot.bakeoffs.commands.voting import NO_MORE
from bot.bakeoffs.lifecycle import run_bakeoff
from bot.render.formatting import seat_names
from bot.web.auth import place_of
from tests.bot.bakeoffs.fakes import a_bakeoff, a_suite, store_bakeoff
from tests.bot.web.browsing import Site, a_round_of
from tests.bot.web.test_rounds_vote import labels_of, vote_buttons


async def test_a_bakeoff_is_voted_on_without_names(site: Site) -> None:
    app, browser = site.context.app, site.browser()
    await browser.get("/")
    bakeoff = a_bakeoff(a_suite(2), place=place_of(browser.visitor))
    await store_bakeoff(app, bakeoff)
    await run_bakeoff(app, None, bakeoff)
    path, names = f"/bakeoffs/{bakeoff.id}/vote", seat_names(bakeoff.panel).values()

    for voted in range(2):
        page = await browser.get(path)
        assert f"{voted} of 2 questions voted" in page.text
        assert not [name for name in names if name in page.text]
        label = vote_buttons(page.text)[-1]
        done = await browser.post(path, **{**browser.form_of(page, path), "label": label})
        assert (done.status_code, done.headers["location"]) == (303, path)

    assert NO_MORE in (await browser.get(path)).text
    votes = await site.store.votes(bakeoff=bakeoff.id)
    assert [vote.blind for vote in votes] == [True, True]
    elsewhere = await site.run_round(a_round_of(browser.visitor))
    forged = await browser.post(
        path, **(await browser.form() | {"round": elsewhere.id, "label": labels_of(elsewhere)[0]})
    )
    assert forged.status_code == 404
    assert await site.store.votes(elsewhere.id) == ()
