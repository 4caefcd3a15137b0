"""The page of a round with the leaderboard as prior."""

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape

from bot.web.shares import issue_share
from council.rounds import Round
from tests.bot.web.browsing import SOMEBODY, TOKEN, NewSite, Site, a_round_of


async def run_rounds(site: Site, rounds: int) -> Round:
    """Run rounds, a minute apart, and return the last."""
    first = a_round_of(SOMEBODY)
    closed = [
        await site.run_round(
            replace(first, id=f"abc{i:03}", asked_at=first.asked_at + timedelta(minutes=i))
        )
        for i in range(rounds)
    ]
    return closed[-1]


async def test_a_round_links_to_its_prior_which_excludes_the_round(site: Site) -> None:
    round_ = await run_rounds(site, 11)
    browser = site.browser()

    page = await browser.get(f"/rounds/{round_.id}")
    beside = unescape((await browser.get(f"/rounds/{round_.id}/beside")).text)

    assert f'href="/rounds/{round_.id}/beside"' in page.text
    assert "With the leaderboard as a prior" in beside
    assert "The leaderboard counts" in beside
    assert len(re.findall(r">Response [K-Z]</td>", beside)) == len(round_.panel.members)


async def test_with_few_rounds_there_is_no_prior(site: Site) -> None:
    round_ = await run_rounds(site, 10)

    page = await site.browser().get(f"/rounds/{round_.id}/beside")

    assert "Needs 10 earlier rounds (9 so far)." in page.text


async def test_a_round_without_ballots_has_no_prior(site: Site) -> None:
    last = await run_rounds(site, 11)
    bare = replace(last, id="fff", asked_at=last.asked_at + timedelta(minutes=1), ballots=())
    await site.store.open(bare)

    page = await site.browser().get("/rounds/fff/beside")

    assert "Round fff has no valid ranking." in page.text


async def test_a_signed_link_does_not_show_the_leaderboard(new_site: NewSite) -> None:
    site = new_site(token=TOKEN)
    round_ = await site.run_round(a_round_of(SOMEBODY))
    key = await issue_share(site.context, round_.id)

    page = await site.browser().get(f"/rounds/{round_.id}/beside?key={key}")

    assert page.status_code in {403, 303}
    assert "From the leaderboard alone" not in page.text
