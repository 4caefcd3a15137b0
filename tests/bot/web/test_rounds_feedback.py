"""Feedback of visitors: two buttons under the answer, and a reason if it did not help."""

from html import unescape

import pytest

from bot.web.shares import issue_share
from council.feedback import Feedback
from tests.bot.web.browsing import SOMEBODY, TOKEN, Browser, NewSite, Site, a_round_of, forms_of

ASKS, THANKS, REASON = 'id="feedback"', "Thank you. You found this answer", 'name="reason"'


async def rate(browser: Browser, round_id: str, **fields: str) -> str:
    """Press a button on the round's page and return the next page."""
    path = f"/rounds/{round_id}/feedback"
    form = await browser.form(f"/rounds/{round_id}", path)
    done = await browser.post(path, **(form | fields))
    assert (done.status_code, done.headers["location"]) == (303, f"/rounds/{round_id}#feedback")
    return unescape((await browser.get(f"/rounds/{round_id}")).text)


async def ratings(site: Site, round_id: str) -> list[tuple[str, bool, str]]:
    stored: tuple[Feedback, ...] = await site.store.ratings(round_id)
    return [(feedback.by, feedback.helpful, feedback.reason) for feedback in stored]


async def test_a_closed_round_asks_whether_it_helped(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))

    page = (await site.browser().get(f"/rounds/{round_.id}")).text

    assert (ASKS in page, THANKS in page) == (True, False)
    asked = page.partition('id="feedback"')[2].partition("</form>")[0]
    assert asked.count('aria-pressed="false"') == 2


async def test_feedback_is_stored_and_shown(site: Site) -> None:
    round_, browser = await site.run_round(a_round_of(SOMEBODY)), site.browser()

    page = await rate(browser, round_.id, helpful="yes")

    assert f"{THANKS} helpful." in page
    assert 'title="Helpful" aria-pressed="true"' in page
    assert REASON not in page
    assert await ratings(site, round_.id) == [(browser.visitor.asker.id, True, "")]


async def test_an_unhelpful_round_takes_a_reason(site: Site) -> None:
    round_, browser = await site.run_round(a_round_of(SOMEBODY)), site.browser()

    first = await rate(browser, round_.id, helpful="no")
    second = await rate(browser, round_.id, helpful="no", reason='It "missed"\r\n the point. ')

    assert f"{THANKS} not helpful." in first
    assert REASON in first
    assert 'value="It "missed"\n the point."' in second
    who = browser.visitor.asker.id
    assert await ratings(site, round_.id) == [(who, False, 'It "missed"\n the point.')]


async def test_a_round_without_an_end_is_not_rated(site: Site) -> None:
    round_, browser = a_round_of(SOMEBODY), site.browser()
    await site.store.open(round_)
    form = await browser.form()

    page = await browser.get(f"/rounds/{round_.id}")
    done = await browser.post(f"/rounds/{round_.id}/feedback", **form, helpful="yes")

    assert ASKS not in page.text
    assert "is not finished yet. Wait for its answer" in done.text
    assert await ratings(site, round_.id) == []


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        pytest.param({"helpful": "maybe"}, 400, "Press Helpful or Not helpful", id="neither"),
        pytest.param(
            {"helpful": "no", "reason": "a" * 1001}, 422, "the limit is 1,000", id="too-long"
        ),
    ],
)
async def test_invalid_feedback_is_an_error(
    site: Site, fields: dict[str, str], status: int, sentence: str
) -> None:
    round_, browser = await site.run_round(a_round_of(SOMEBODY)), site.browser()
    form = await browser.form()

    done = await browser.post(f"/rounds/{round_.id}/feedback", **(form | fields))

    assert (done.status_code, sentence in done.text) == (status, True)
    assert await ratings(site, round_.id) == []


async def test_a_visitor_by_signed_link_can_neither_rate_nor_vote(new_site: NewSite) -> None:
    site = new_site(token=TOKEN)
    round_ = await site.run_round(a_round_of(SOMEBODY))
    key = await issue_share(site.context, round_.id)

    page = await site.browser().get(f"/rounds/{round_.id}?key={key}")

    assert page.status_code == 200
    assert ASKS not in page.text
    assert not [form for form in forms_of(page) if form.action.startswith("/rounds/")]
