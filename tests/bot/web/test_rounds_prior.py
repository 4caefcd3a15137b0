"""The page of a round with the leaderboard as prior."""

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape

from council.rounds import Round
from tests.bot.web.browsing import SOMEBODY, TOKEN, Site, a_round_of, make_site


async def held(site: Site, rounds: int) -> Round:
    """Hold so many rounds, a minute after each other, and give the last."""
    first = a_round_of(SOMEBODY)
    held = [
        await site.run_round(
            replace(first, id=f"abc{i:03}", asked_at=first.asked_at + timedelta(minutes=i))
        )
        for i in range(rounds)
    ]
    return held[-1]


async def test_a_round_links_to_it_and_it_leaves_the_round_out(site: Site) -> None:
    round_ = await held(site, 11)
    browser = site.browser()

    page = await browser.get(f"/rounds/{round_.id}")
    beside = unescape((await browser.get(f"/rounds/{round_.id}/beside")).text)

    assert f'href="/rounds/{round_.id}/beside"' in page.text
    assert "What the leaderboard would have said" in beside
    assert "The board counts 10 rounds." in beside
    assert len(re.findall(r"<td>Response [K-Z]</td>", beside)) == len(round_.panel.members)


async def test_a_young_board_has_no_say(site: Site) -> None:
    round_ = await held(site, 10)

    page = await site.browser().get(f"/rounds/{round_.id}/beside")

    assert "has a say from 10 rounds before on; there are 9." in page.text


async def test_a_round_without_ballots_has_nothing_beside_it(site: Site) -> None:
    last = await held(site, 11)
    bare = replace(last, id="fff", asked_at=last.asked_at + timedelta(minutes=1), ballots=())
    await site.store.open(bare)

    page = await site.browser().get("/rounds/fff/beside")

    assert "Round fff has no ballot that counts." in page.text


async def test_a_signed_link_does_not_show_the_leaderboard() -> None:
    site = make_site(token=TOKEN)
    round_ = await site.run_round(a_round_of(SOMEBODY))
    key = site.context.signer.link_key(round_.id)

    page = await site.browser().get(f"/rounds/{round_.id}/beside?key={key}")

    assert page.status_code in {403, 303}
    assert "By the board alone" not in page.text
    await site.close()
