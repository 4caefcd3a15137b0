"""Health, readiness and metrics."""

import re

from council.errors import GatewayError, StoreError
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import NewSite, Site, redirected_round_id
from tests.bot.web.test_auth_headers import BrokenStore
from tests.builders import CLAUDE, GEMINI, GPT, GROK, a_panel
from tests.fakes.gateway import FakeGateway, rank_by_text


async def test_a_process_that_answers_is_alive(site: Site) -> None:
    found = await site.browser().get("/healthz")

    assert (found.status_code, found.json()) == (200, {"status": "ok"})


async def test_it_is_ready_when_a_round_could_run(site: Site) -> None:
    found = await site.browser().get("/readyz")

    assert (found.status_code, found.json()) == (200, {"status": "ready", "panels": ["house"]})


async def test_it_is_alive_but_not_ready_without_its_database(new_site: NewSite) -> None:
    site = new_site(an_app(store=BrokenStore(StoreError("The database is locked."))))

    alive, ready = [await site.browser().get(path) for path in ("/healthz", "/readyz")]

    assert (alive.status_code, ready.status_code) == (200, 503)
    assert ready.json() == {"status": "not ready", "why": "The database is locked."}


async def test_it_is_not_ready_until_its_models_are(new_site: NewSite) -> None:
    states = ["Fetching a model: 40% of 9 MB …", ""]
    site = new_site(state=lambda: states[0])

    before = await site.browser().get("/readyz")
    page = await site.browser().get("/")
    states.pop(0)
    after = await site.browser().get("/readyz")

    assert (before.status_code, before.json()["why"]) == (503, "Fetching a model: 40% of 9 MB …")
    assert "Fetching a model: 40% of 9 MB …" in page.text
    assert after.status_code == 200


async def metrics(site: Site) -> dict[str, float]:
    text = (await site.browser().get("/metrics")).text
    lines = re.findall(r"^(council_\S*?(?:\{.*?\})?) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in lines}


async def test_the_metrics_count_rounds_and_paid_replies(new_site: NewSite) -> None:
    gateway = FakeGateway(
        answers={GPT: GatewayError("hung up")},
        judges={CLAUDE: ["I rank none.", rank_by_text], GEMINI: "I rank none."},
    )
    panel = a_panel(4, chairmen=[GROK])
    site = new_site(an_app(gateway, panels=[panel]))
    before = await metrics(site)
    closed = await site.wait_until_closed(
        redirected_round_id(await site.browser().ask("Is this in the figures?"))
    )
    after = await metrics(site)

    more = {name: value - before.get(name, 0) for name, value in after.items()}
    replies = {name: value for name, value in more.items() if name.startswith("council_replies_t")}
    assert more['council_rounds_total{outcome="closed"}'] == 1
    assert more["council_round_seconds_count"] == 1
    assert replies[f'council_replies_total{{member="{CLAUDE}"}}'] == 3
    assert replies[f'council_replies_total{{member="{GROK}"}}'] == 1
    assert sum(replies.values()) == len(closed.replies)
    assert more[f'council_absences_total{{member="{GPT}",role="answer"}}'] == 1
    assert after["council_rounds_under_way"] == 0


async def test_the_metrics_contain_no_texts(site: Site) -> None:
    await site.wait_until_closed(redirected_round_id(await site.browser().ask("Is this a secret?")))

    assert "secret" not in (await site.browser().get("/metrics")).text
