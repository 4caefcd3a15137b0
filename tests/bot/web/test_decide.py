"""Deciding on the page: a form without scripts, the new answer above, the old one below."""

import asyncio
import json
from dataclasses import replace

import httpx

from bot.commands.decide import BUSY, NOBODY_WROTE, OPEN, WRITING
from bot.render.round_report.decisions import BEFORE, text_id
from bot.web.decide import decision_payload, decision_snapshots
from council.answers import Call, Reply
from council.budget import Budget
from council.budget_caps import Caps
from council.decisions import NOTHING_CHOSEN, NOTHING_DISPUTED
from council.errors import GatewayError
from council.money import Price
from council.rounds import Round
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import SOMEBODY, Browser, NewSite, Site, a_round_of
from tests.builders import CLAUDE, GEMINI, GPT
from tests.disputes import BROKER, NO, OLD_TEXT, YES, disputed, obedient_reply
from tests.fakes.gateway import FakeGateway

ID = "abcdef0123"
POINT, TAKEN = f"point-{text_id(BROKER)}", text_id(YES)


class Chairman(FakeGateway):
    """A chairman that takes decisions as given."""

    async def complete(self, call: Call) -> Reply:
        self.asked.append(call)
        return Reply(obedient_reply(call.prompt.user))


async def a_site(new_site: NewSite, gateway: FakeGateway | None = None) -> tuple[Site, Browser]:
    """Return a site with a disputed round of its browser."""
    site = new_site(an_app(gateway or Chairman()))
    browser = site.browser()
    await browser.get("/")
    await site.store.open(disputed(a_round_of(browser.visitor, ID)))
    return site, browser


async def send(browser: Browser, **fields: str) -> httpx.Response:
    form = await browser.form(f"/rounds/{ID}/decide", f"/rounds/{ID}/decide")
    return await browser.post(f"/rounds/{ID}/decide", **(form | fields))


async def finish(site: Site) -> Round:
    """Wait until the answer is written; return the round."""
    if (running := site.context.app.decisions.get(ID)) and running.task:
        await asyncio.wait([running.task])
    return await site.store.load(ID)


async def test_the_form_has_the_points_and_the_cost(new_site: NewSite) -> None:
    _, browser = await a_site(new_site)

    page, form = await browser.get(f"/rounds/{ID}"), await browser.get(f"/rounds/{ID}/decide")

    assert f'href="/rounds/{ID}/decide"' in page.text
    assert f"<legend>{BROKER}</legend>" in form.text
    assert form.text.index("It costs") < form.text.index(YES)
    assert form.text.count('type="radio"') == 3
    assert f'value="{OPEN}" checked' in form.text


async def test_a_sent_form_puts_the_new_answer_above_the_old(new_site: NewSite) -> None:
    site, browser = await a_site(new_site)

    response = await send(browser, **{POINT: TAKEN})
    decided = await finish(site)
    page = (await browser.get(f"/rounds/{ID}")).text

    assert (response.status_code, response.headers["location"]) == (303, f"/rounds/{ID}")
    assert decided.final
    assert decided.final.text == f"Settled: {YES}."
    above, below = page.index(f"Settled: {YES}."), page.index(BEFORE)
    assert above < page.index(f"Decided: {BROKER}") < below < page.index(OLD_TEXT)
    document = json.loads((await browser.get(f"/rounds/{ID}/round.json")).text)
    assert [(one["point"], one["says"]) for one in document["decisions"]] == [(BROKER, YES)]
    assert [one["text"] for one in document["earlier"]] == [OLD_TEXT]
    assert document["synthesis"]["text"] == f"Settled: {YES}."
    assert document["unfollowed"] == []


async def test_somebody_elses_decision_is_a_reply_below(new_site: NewSite) -> None:
    site, _ = await a_site(new_site)
    other = site.browser()
    await other.get("/")

    await send(other, **{POINT: TAKEN})
    await finish(site)
    page = (await other.get(f"/rounds/{ID}")).text

    assert page.index(OLD_TEXT) < page.index("Somebody else decided") < page.index("Settled:")
    document = json.loads((await other.get(f"/rounds/{ID}/round.json")).text)
    assert document["earlier"] == []
    assert [one["synthesis"]["text"] for one in document["replies"]] == [f"Settled: {YES}."]


async def test_a_form_that_is_sent_twice_decides_once(new_site: NewSite) -> None:
    site, browser = await a_site(new_site)
    form = await browser.form(f"/rounds/{ID}/decide", f"/rounds/{ID}/decide")

    statuses = []
    for _ in range(2):
        sent = await browser.post(f"/rounds/{ID}/decide", **form, **{POINT: TAKEN})
        statuses.append(sent.status_code)
        await finish(site)

    assert statuses == [303, 303]
    assert len((await site.store.load(ID)).decisions) == 1


async def test_two_tabs_decide_once(new_site: NewSite) -> None:
    site, browser = await a_site(new_site)
    first, second = [
        await browser.form(f"/rounds/{ID}/decide", f"/rounds/{ID}/decide") for _ in range(2)
    ]
    site.context.app.gateway.released.clear()  # type: ignore[attr-defined]

    await browser.post(f"/rounds/{ID}/decide", **first, **{POINT: TAKEN})
    refused = await browser.post(f"/rounds/{ID}/decide", **second, **{POINT: text_id(NO)})
    decided = await finish(site)

    assert refused.status_code == 422
    assert 'role="alert"' in refused.text
    assert [one.choices[0].says for one in decided.decisions] == [YES]


async def test_what_was_chosen_stays_chosen_in_a_refused_form(new_site: NewSite) -> None:
    _, browser = await a_site(new_site)

    refused = await send(browser, **{POINT: OPEN})

    assert refused.status_code == 422
    assert NOTHING_CHOSEN in refused.text


async def test_a_failure_is_shown_to_who_decided(new_site: NewSite) -> None:
    down = dict.fromkeys((GPT, CLAUDE, GEMINI), GatewayError("is down"))
    site, browser = await a_site(new_site, FakeGateway(chairmen=down))
    other = site.browser()
    await other.get("/")

    await send(browser, **{POINT: TAKEN})
    await finish(site)

    assert NOBODY_WROTE in (await browser.get(f"/rounds/{ID}")).text
    assert NOBODY_WROTE not in (await other.get(f"/rounds/{ID}")).text


async def test_a_running_decision_is_live_with_and_without_scripts(new_site: NewSite) -> None:
    gateway = FakeGateway()
    site, browser = await a_site(new_site, gateway)
    held = asyncio.Event()

    async def complete(call: Call) -> Reply:
        assert call.on_text
        call.on_text(f"{YES}, so")
        await held.wait()
        return Reply(f"{YES}.")

    gateway.complete = complete  # type: ignore[method-assign]
    await send(browser, **{POINT: TAKEN})
    page = (await browser.get(f"/rounds/{ID}")).text
    running = site.context.app.decisions.get(ID)
    assert running
    async with decision_snapshots(running) as snapshots:
        first = decision_payload(site.context.site, await anext(snapshots))
        held.set()
        rest = [one async for one in snapshots]

    assert WRITING in page
    assert '<noscript><meta http-equiv="refresh"' in page
    assert f'data-round="/rounds/{ID}"' in page
    assert f'href="/rounds/{ID}/decide"' not in page
    assert first["closed"] is False
    assert rest[-1].round_.decisions
    events = await browser.get(f"/rounds/{ID}/events")
    assert '"closed": true' in events.text


async def test_a_shared_link_decides_nothing(new_site: NewSite) -> None:
    site = new_site(an_app(Chairman()), token="a long random text")
    await site.store.open(disputed(a_round_of(SOMEBODY, ID)))
    browser = site.browser()

    assert (await browser.get(f"/rounds/{ID}/decide")).status_code in {303, 401, 403}
    assert (await browser.post(f"/rounds/{ID}/decide")).status_code in {303, 401, 403}


async def test_rounds_without_disputes_have_no_form(new_site: NewSite) -> None:
    site, browser = await a_site(new_site)
    await site.store.open(replace(disputed(a_round_of(browser.visitor, "0123456789"), [])))

    page = await browser.get("/rounds/0123456789")
    form = await browser.get("/rounds/0123456789/decide")

    assert "/decide" not in page.text
    assert form.status_code == 422
    assert NOTHING_DISPUTED in form.text


async def test_who_may_not_spend_is_told_in_the_form_and_loses_no_choice(
    new_site: NewSite,
) -> None:
    prices = dict.fromkeys((GPT, CLAUDE, GEMINI), Price(1e-6, 1e-5))
    site, browser = await a_site(new_site, Chairman(prices=prices))
    app = site.context.app
    app.budget = Budget(app.budget.ledger, Caps(user_day=1), app.now)

    refused = await send(browser, **{POINT: TAKEN})

    assert refused.status_code == 422
    assert 'role="alert"' in refused.text
    assert f'value="{TAKEN}" checked' in refused.text
    assert (await finish(site)).decisions == ()


async def test_two_people_decide_at_once_and_the_second_is_told(new_site: NewSite) -> None:
    site, ana = await a_site(new_site)
    ben = site.browser()
    await ben.get("/")
    forms = [await one.form(f"/rounds/{ID}/decide", f"/rounds/{ID}/decide") for one in (ana, ben)]

    sent = await asyncio.gather(
        ana.post(f"/rounds/{ID}/decide", **forms[0], **{POINT: TAKEN}),
        ben.post(f"/rounds/{ID}/decide", **forms[1], **{POINT: text_id(NO)}),
    )
    decided = await finish(site)

    assert sorted(one.status_code for one in sent) == [303, 422]
    assert next(one for one in sent if one.status_code == 422).text.count(BUSY) == 1
    assert len(decided.decisions) == 1
