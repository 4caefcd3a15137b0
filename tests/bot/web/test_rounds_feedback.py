"""Whether an answer was helpful is no longer asked; pages that were opened before still work."""

from council.feedback import Feedback
from tests.bot.web.browsing import SOMEBODY, Site, a_round_of
from tests.builders import ASKED_AT


async def test_a_closed_round_does_not_ask_whether_it_was_helpful(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))
    stored = Feedback(round_.id, SOMEBODY.asker.id, True, "", ASKED_AT)
    await site.store.rate(stored)

    page = await site.browser().get(f"/rounds/{round_.id}")

    assert "elpful" not in page.text
    assert await site.store.ratings(round_.id) == (stored,)


async def test_the_form_of_an_old_page_leads_back_to_the_round(site: Site) -> None:
    round_, browser = await site.run_round(a_round_of(SOMEBODY)), site.browser()

    done = await browser.post(
        f"/rounds/{round_.id}/feedback", **(await browser.form() | {"helpful": "no"})
    )

    assert (done.status_code, done.headers["location"]) == (303, f"/rounds/{round_.id}")
    assert await site.store.ratings(round_.id) == ()
