"""Votes of visitors for the best answer."""

from html import unescape

from bot.commands.voting import NOT_BLIND
from council.rounds import Round
from tests.bot.web.browsing import SOMEBODY, Site, a_round_of


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
    assert f"You marked Response {label} as the best. {NOT_BLIND}" in page
    assert page.count(f'aria-pressed="true" aria-label="Your best answer: Response {label}"') == 1
    (vote,) = await site.store.votes(round_.id)
    assert (vote.by, vote.label) == (browser.visitor.asker.id, label)
