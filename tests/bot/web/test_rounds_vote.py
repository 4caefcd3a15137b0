"""Votes of visitors for the best answer."""

from html import unescape

from council.rounds import Round
from tests.bot.web.browsing import SOMEBODY, Site, a_round_of

BUTTON = "The best answer to me"


def labels_of(round_: Round) -> tuple[str, ...]:
    assert round_.draw
    return round_.draw.labels.labels


async def test_a_vote_is_stored_shown_and_marked_as_not_blind(site: Site) -> None:
    round_, browser = await site.run_round(a_round_of(SOMEBODY)), site.browser()
    path, label = f"/rounds/{round_.id}/vote", labels_of(round_)[1]
    form = await browser.form(f"/rounds/{round_.id}", path)

    done = await browser.post(path, **(form | {"label": label}))

    assert (done.status_code, done.headers["location"]) == (303, f"/rounds/{round_.id}#answers")
    page = unescape((await browser.get(f"/rounds/{round_.id}")).text)
    assert f"Noted: Response {label} is the best to you. You have seen who wrote what" in page
    assert page.count(f'aria-pressed="true">{BUTTON}') == 1
    (vote,) = await site.store.votes(round_.id)
    assert (vote.by, vote.label) == (browser.visitor.asker.id, label)
