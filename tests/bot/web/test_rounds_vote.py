"""Votes of visitors for the best answer."""

from html import unescape

import pytest

from council.rounds import Round
from tests.bot.web.browsing import SOMEBODY, Site, a_round_of

BUTTON = "The best answer to me"


def labels_of(round_: Round) -> tuple[str, ...]:
    assert round_.draw
    return round_.draw.labels.labels


async def test_every_answer_of_a_closed_round_has_a_button(site: Site) -> None:
    round_ = await site.run_round(a_round_of(SOMEBODY))

    page = (await site.browser().get(f"/rounds/{round_.id}")).text

    assert page.count(BUTTON) == len(labels_of(round_)) > 1


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


async def test_votes_of_others_are_not_shown(site: Site) -> None:
    round_, browser = await site.run_round(a_round_of(SOMEBODY)), site.browser()
    path = f"/rounds/{round_.id}/vote"
    await browser.post(path, **(await browser.form(f"/rounds/{round_.id}", path)))

    page = (await site.browser().get(f"/rounds/{round_.id}")).text

    assert f'aria-pressed="true">{BUTTON}' not in page


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        pytest.param({"label": "A"}, 422, "has no Response A: choose among", id="no-such-answer"),
        pytest.param({"label": ""}, 422, "choose among", id="nothing"),
    ],
)
async def test_invalid_feedback_is_an_error(
    site: Site, fields: dict[str, str], status: int, sentence: str
) -> None:
    round_, browser = await site.run_round(a_round_of(SOMEBODY)), site.browser()
    path = f"/rounds/{round_.id}/vote"
    form = await browser.form(f"/rounds/{round_.id}", path)

    done = await browser.post(path, **(form | fields))

    assert (done.status_code, sentence in done.text) == (status, True)
    assert await site.store.votes() == ()
