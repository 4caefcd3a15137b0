"""Votes of visitors for the best answer."""

import json
import re
from html import unescape
from typing import cast

from bot.commands.voting import NOT_BLIND
from bot.ports import RoundSnapshot
from bot.render.formatting import seat_names
from bot.web.events import round_payload
from council.rounds import Round
from tests.bot.app_fakes import an_app
from tests.bot.rounds import names_of
from tests.bot.web.browsing import SOMEBODY, NewSite, Site, a_round_of, redirected_round_id
from tests.fakes.gateway import HeldJudges
from tests.storage.builders import wait_until


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
    author = names_of(round_)[label]
    assert f"You marked {author} as the best. {NOT_BLIND}" in page
    assert page.count(f'aria-pressed="true" aria-label="Your best answer: {author}"') == 1
    (vote,) = await site.store.votes(round_.id)
    assert (vote.by, vote.label) == (browser.visitor.asker.id, label)


def vote_buttons(page: str) -> list[str]:
    """Return the labels that a page has vote buttons for."""
    return re.findall(r'form="vote" name="label" value="(\w)"', page)


async def judged(site: Site, round_id: str) -> Round:
    """Wait until the judges of a round are asked; return it."""
    runner = site.context.app.runner
    await wait_until(lambda: (now := runner.latest(round_id)) and now.round_.draw)
    running = runner.latest(round_id)
    assert running
    return running.round_


async def test_while_judges_vote_the_page_takes_a_blind_vote(new_site: NewSite) -> None:
    gateway = HeldJudges()
    site = new_site(an_app(gateway))
    browser = site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))
    round_ = await judged(site, round_id)
    path, (first, second, _) = f"/rounds/{round_id}/vote", labels_of(round_)

    page = await browser.get(f"/rounds/{round_id}")
    done = await browser.post(path, **{**browser.form_of(page, path), "label": first})
    ordered = f"{second} > {first}"
    await browser.post(path, **{**browser.form_of(page, path), "order": ordered})

    assert sorted(vote_buttons(page.text)) == sorted(labels_of(round_))
    answers_shown = page.text[page.text.index("Answers so far") :]
    assert not [n for n in seat_names(round_.panel).values() if n in answers_shown]
    assert (done.status_code, done.headers["location"]) == (303, f"/rounds/{round_id}#vote")
    (vote,) = await site.store.votes(round_id)
    assert (vote.blind, vote.label, vote.ranking) == (True, second, ((second,), (first,)))
    page = await browser.get(f"/rounds/{round_id}")
    assert f"You marked Response {second} as the best. You can change it" in unescape(page.text)

    gateway.released.set()
    await site.wait_until_closed(round_id)
    closed = unescape((await browser.get(f"/rounds/{round_id}")).text)
    assert "voted blind" not in closed  # a page can't tell one visitor from several
    author = names_of(await site.store.load(round_id))[second]
    assert f"You marked {author} as the best, before the result." in closed
    assert closed.count('name="label"') == 1


async def test_no_download_tells_before_the_result_who_wrote_what(new_site: NewSite) -> None:
    gateway = HeldJudges()
    site = new_site(an_app(gateway))
    browser = site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))
    round_ = await judged(site, round_id)

    text = await browser.get(f"/rounds/{round_id}/round.md")
    document = (await browser.get(f"/rounds/{round_id}/round.json")).json()

    assert not [name for name in seat_names(round_.panel).values() if name in text.text]
    assert document["seed"] is None  # the labels can be drawn from it
    assert not [seat.key for seat in round_.panel.members if seat.key in json.dumps(document)]
    gateway.released.set()
    await site.wait_until_closed(round_id)
    assert (await browser.get(f"/rounds/{round_id}/round.json")).json()["seed"] == round_.seed


async def test_events_bring_the_buttons_to_members_alone(new_site: NewSite) -> None:
    gateway = HeldJudges()
    site = new_site(an_app(gateway))
    browser = site.browser()
    round_id = redirected_round_id(await browser.ask("Why?"))
    round_ = await judged(site, round_id)

    state = (await browser.get(f"/rounds/{round_id}/state")).json()
    shared = round_payload(site.context.site, RoundSnapshot(round_))

    assert sorted(vote_buttons("".join(state["answers"]))) == sorted(labels_of(round_))
    assert vote_buttons("".join(cast(list[str], shared["answers"]))) == []
    gateway.released.set()
    await site.wait_until_closed(round_id)
