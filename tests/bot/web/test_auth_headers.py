"""Security headers of every response, error pages, trusted hosts, assets."""

import hashlib
import re

import httpx
import pytest
from structlog.testing import capture_logs

from bot.web.context import STATIC
from council.errors import StoreError
from council.rounds import Round
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import SOMEBODY, TOKEN, NewSite, Site, a_round_of
from tests.fakes.memory_store import MemoryStore

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PATHS = [
    pytest.param("/", 200, id="front"),
    pytest.param("/rounds", 200, id="list"),
    pytest.param("/rounds/abcdef0123", 200, id="round"),
    pytest.param("/rounds/abcdef0123/events", 200, id="stream"),
    pytest.param("/rounds/abcdef0123/state", 200, id="state"),
    pytest.param("/rounds/abcdef0123/round.json", 200, id="json"),
    pytest.param("/rounds/abcdef0123/round.md", 200, id="markdown"),
    pytest.param("/static/council.css", 200, id="style"),
    pytest.param("/static/council.js", 200, id="script"),
    pytest.param("/static/../app.py", 404, id="outside-static"),
    pytest.param("/static/none.css", 404, id="no-such-file"),
    pytest.param("/healthz", 200, id="health"),
    pytest.param("/metrics", 200, id="metrics"),
    pytest.param("/nowhere", 404, id="nowhere"),
    pytest.param("/rounds/0123456789", 404, id="no-round"),
    pytest.param("/rounds/abcdef0123?key=x", 403, id="forged-link"),
    pytest.param("/ask", 405, id="wrong-method"),
]


class BrokenStore(MemoryStore):
    """A store in which nothing can be found."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def list_summaries(self, *_: object) -> tuple[()]:
        raise self.error

    async def load(self, _: str) -> Round:
        raise self.error


def is_harmless(response: httpx.Response) -> bool:
    found = response.headers
    return (
        found["content-security-policy"] == POLICY
        and found["x-content-type-options"] == "nosniff"
        and found["x-frame-options"] == "DENY"
        and found["referrer-policy"] == "same-origin"
        and found["cross-origin-opener-policy"] == "same-origin"
        and found["cache-control"] in {"private, no-cache", "no-store"}
    )


@pytest.mark.parametrize(("path", "status"), PATHS)
async def test_every_response_forbids_foreign_scripts_and_frames(
    site: Site, path: str, status: int
) -> None:
    await site.run_round(a_round_of(SOMEBODY))

    response = await site.browser().get(path)

    assert response.status_code == status
    assert is_harmless(response)


async def test_errors_of_the_middleware_have_the_headers_too(locked_site: Site) -> None:
    browser = locked_site.browser()
    refused = [
        await browser.get("/"),
        await browser.get("/", accept="*/*"),
        await browser.log_in("x"),
    ]

    assert [page.status_code for page in refused] == [303, 401, 403]
    assert all(map(is_harmless, refused))


@pytest.mark.parametrize("path", ["/", "/rounds", "/rounds/abcdef0123", "/rounds/abcdef0123/state"])
async def test_a_database_error_is_shown_as_its_sentence(new_site: NewSite, path: str) -> None:
    site = new_site(an_app(store=BrokenStore(StoreError("The disk is full."))))

    failed = await site.browser().get(path)

    assert failed.status_code == 503
    assert "The disk is full." in failed.text
    assert is_harmless(failed)


@pytest.mark.parametrize("path", ["/", "/rounds", "/rounds/abcdef0123", "/rounds/abcdef0123/state"])
async def test_an_unexpected_error_is_a_page_with_a_reference(new_site: NewSite, path: str) -> None:
    site = new_site(an_app(store=BrokenStore(ZeroDivisionError("secret insides"))))

    with capture_logs() as logged:
        failed = await site.browser().get(path)

    (line,) = logged
    assert failed.status_code == 500
    assert f"Something went wrong (ref {line['ref']})." in failed.text
    assert not {"secret", "ZeroDivision", "Traceback"} & set(re.findall(r"\w+", failed.text))
    assert (line["event"], line["log_level"]) == ("page_failed", "error")
    assert is_harmless(failed)


async def test_a_stream_that_fails_says_so_in_the_stream(new_site: NewSite) -> None:
    site = new_site(an_app(store=(store := FailingLater())))
    await store.open(a_round_of(SOMEBODY))

    with capture_logs() as logged:
        stream = await site.browser().get("/rounds/abcdef0123/events")

    assert f"Something went wrong (ref {logged[0]['ref']})." in stream.text
    assert "event: stopped" in stream.text
    assert "insides" not in stream.text


class FailingLater(MemoryStore):
    """A store that loads a round once."""

    loads = 0

    async def load(self, round_id: str) -> Round:
        self.loads += 1
        if self.loads > 1:
            raise ZeroDivisionError("insides")
        return await super().load(round_id)


@pytest.mark.parametrize(
    "host", ["example.org", "localhost.example.org", "127.0.0.1.example.org:8000", "", "[::2]", "["]
)
async def test_an_untrusted_host_name_is_refused(site: Site, host: str) -> None:
    refused = await site.browser().get("/", host=host)

    assert refused.status_code == 400
    assert is_harmless(refused)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "LOCALHOST:8000", "[::1]:8000"])
async def test_loopback_host_names_are_answered(site: Site, host: str) -> None:
    assert (await site.browser().get("/", host=host)).status_code == 200


async def test_a_public_page_answers_to_any_host_name(new_site: NewSite) -> None:
    site = new_site(token=TOKEN, loopback=False)

    for host in ("council.example.org", "["):
        assert (await site.browser().get("/login", host=host)).status_code == 200


async def test_long_pages_are_compressed_and_streams_are_not(site: Site) -> None:
    await site.run_round(a_round_of(SOMEBODY))
    browser = site.browser()

    page = await browser.get("/rounds/abcdef0123")
    stream = await browser.get("/rounds/abcdef0123/events")

    assert page.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in stream.headers


async def test_assets_have_addresses_that_change_with_their_content(site: Site) -> None:
    page = (await site.browser().get("/")).text

    for name in ("council.css", "council.js", "council.svg"):
        digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
        assert f"/static/{name}?{digest}" in page


async def test_the_first_page_is_small(site: Site) -> None:
    browser = site.browser()
    page = await browser.get("/")
    assets = re.findall(r'<(?:script src|link [^>]*href)="([^"]*)"', page.text)

    bodies = [page.content, *[(await browser.get(asset)).content for asset in assets]]

    assert len(bodies) == 4
    assert sum(map(len, bodies)) < 60_000


async def test_a_page_loads_nothing_from_other_sites(site: Site) -> None:
    await site.run_round(a_round_of(SOMEBODY))

    for path in ("/", "/rounds", "/rounds/abcdef0123", "/login", "/nowhere"):
        page = (await site.browser().get(path)).text
        assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', page)
        assert not re.findall(r"<style|<script(?! src=)| style=| on\w+=", page)
