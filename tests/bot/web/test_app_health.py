"""Health, readiness and metrics."""

import asyncio
import re
from dataclasses import replace

import pytest

from bot.coordination import database_probe
from bot.web.app import create_app
from council.errors import GatewayError, StoreError
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import TOKEN, NewSite, Site, redirected_round_id
from tests.builders import CLAUDE, GEMINI, GPT, GROK, a_panel
from tests.fakes.gateway import FakeGateway, rank_by_text
from tests.fakes.memory_key_value import MemoryKeyValueStore


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the check of the database short."""
    monkeypatch.setattr(database_probe, "READY_TIMEOUT_SECONDS", 0.05)


class Database(MemoryKeyValueStore):
    """A database that takes writes, or fails, or does not answer; `writes` counts attempts."""

    def __init__(self, error: str = "", *, is_silent: bool = False) -> None:
        super().__init__()
        self.error, self.is_silent, self.writes = error, is_silent, 0
        self.bug: Exception | None = None

    async def check_writable(self) -> None:
        self.writes += 1
        if self.bug:
            raise self.bug
        if self.is_silent:
            await asyncio.Event().wait()
        if self.error:
            raise StoreError(self.error)


def site_on(new_site: NewSite, database: Database, token: str | None = None) -> Site:
    app = an_app()
    app.key_values = database
    return new_site(app, token=token)


async def test_it_is_ready_when_a_round_could_run(site: Site) -> None:
    alive, ready = [await site.browser().get(path) for path in ("/healthz", "/readyz")]

    assert (alive.status_code, alive.json()) == (200, {"status": "ok"})
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "panels": ["house"]})


@pytest.mark.parametrize(
    ("database", "why"),
    [
        pytest.param(Database("The disk of db7 is full."), "The disk of db7 is full.", id="full"),
        pytest.param(Database(is_silent=True), database_probe.DATABASE_SILENT, id="silent"),
    ],
)
async def test_it_is_alive_but_not_ready_unless_its_database_takes_a_write(
    new_site: NewSite, database: Database, why: str
) -> None:
    site = site_on(new_site, database)

    alive, ready = [await site.browser().get(path) for path in ("/healthz", "/readyz")]

    assert (alive.status_code, ready.status_code) == (200, 503)
    assert ready.json() == {"status": "not ready", "why": why}
    await site.context.tasks.close()


async def test_many_checks_are_one_write(
    new_site: NewSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database()
    site = site_on(new_site, database)

    await asyncio.gather(*(site.browser().get("/readyz") for _ in range(9)))
    cached = database.writes
    monkeypatch.setattr(database_probe, "PROBE_SECONDS", 0.0)
    await site.browser().get("/readyz")

    assert (cached, database.writes) == (1, 2)


async def test_a_check_that_breaks_is_made_again(
    new_site: NewSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_probe, "PROBE_SECONDS", 0.0)
    database = Database()
    database.bug = RuntimeError()
    site = site_on(new_site, database)

    broken = await site.browser().get("/readyz")
    database.bug = None
    mended = await site.browser().get("/readyz")

    assert (broken.status_code, mended.status_code) == (503, 200)


async def test_it_is_not_ready_while_slacks_endpoint_is_not(site: Site) -> None:
    waiting = "Slack is not connected."
    context = replace(site.context, chats_not_ready=lambda: waiting)
    site = Site(context, create_app(context), site.clock)

    found = await site.browser().get("/readyz")

    assert (found.status_code, found.json()["why"]) == (503, waiting)


async def test_strangers_learn_no_names(new_site: NewSite) -> None:
    ready = new_site(token=TOKEN).browser()
    failing = site_on(new_site, Database("db7 is away."), token=TOKEN).browser()

    found = [await browser.get("/readyz") for browser in (ready, failing)]
    known = await failing.get("/readyz", authorization=f"Bearer {TOKEN}")

    assert [response.json() for response in found] == [{"status": "ready"}, {"status": "not ready"}]
    assert known.json()["why"] == "db7 is away."


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
    assert more["council_cost_usd_total"] == 0
    assert more["council_replies_of_unknown_cost_total"] == len(closed.replies)
    assert after["council_rounds_under_way"] == 0


async def test_the_metrics_contain_no_texts(site: Site) -> None:
    await site.wait_until_closed(redirected_round_id(await site.browser().ask("Is this a secret?")))

    assert "secret" not in (await site.browser().get("/metrics")).text
