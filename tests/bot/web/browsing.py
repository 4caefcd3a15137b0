"""A site on in-process fakes, and HTTP clients with cookies that act as browsers."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

import httpx
from starlette.applications import Starlette

from bot.context import AppContext
from bot.runners.local import LocalRunner
from bot.web.app import create_app
from bot.web.auth import PageSigner, Visitor, place_of
from bot.web.context import WebContext
from council.pipeline.run import run_round
from council.pipeline.session import RoundServices
from council.rounds import Question, Round
from tests.bot.app_fakes import an_app
from tests.builders import a_round
from tests.fakes.memory_store import MemoryStore

TOKEN = "a long random text"
ADDRESS, IP = "http://localhost:8000", "127.0.0.1"
HTML = {"accept": "text/html,*/*"}


class Clock:
    """Seconds since 1970, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass(slots=True)
class Site:
    """A site and the browsers of its visitors."""

    context: WebContext
    app: Starlette
    clock: Clock
    browsers: list["Browser"] = field(default_factory=list)

    @property
    def store(self) -> MemoryStore:
        store = self.context.app.store
        assert isinstance(store, MemoryStore)
        return store

    def browser(self, address: str = ADDRESS, *, ip: str = IP, **headers: str) -> "Browser":
        """Return the browser of a new visitor, at this IP address."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False, client=(ip, 1))
        client = httpx.AsyncClient(
            transport=transport, base_url=address, headers={**HTML, **headers}
        )
        self.browsers.append(Browser(client, self.context.signer))
        return self.browsers[-1]

    async def close(self) -> None:
        """Stop every round and close every browser."""
        runner = self.context.app.runner
        assert isinstance(runner, LocalRunner)
        for running in [*runner._tasks.all()]:
            await runner.stop(running.id)  # otherwise, close would wait for a model that hangs
        await runner.close()
        for browser in self.browsers:
            await browser.client.aclose()

    async def run_round(self, round_: Round) -> Round:
        """Run a round to its end."""
        await self.store.open(round_)
        return await run_round(round_.id, RoundServices(self.context.app.gateway, self.store))

    async def wait_until_closed(self, round_id: str) -> Round:
        """Wait for the end of a running round."""
        async with self.context.app.runner.subscribe(round_id) as snapshots:
            return [snapshot.round_ async for snapshot in snapshots][-1]


def make_site(
    app_context: AppContext | None = None,
    *,
    token: str | None = None,
    loopback: bool = True,
    state: Callable[[], str] = str,
    contact: str = "",
) -> Site:
    """Return a site that requires the token, if one is given."""
    clock = Clock()
    signer = PageSigner(f"key of {token}".encode(), clock)
    context = WebContext(
        app_context or an_app(),
        signer,
        token,
        state=state,
        failed_login_delay_seconds=0,
        contact=contact,
    )
    return Site(context, create_app(context, loopback=loopback), clock)


NewSite = Callable[..., Site]


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a page."""

    action: str
    fields: Mapping[str, str]


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append((of.get("action", ""), {}))
        elif tag == "input" and self.forms and of.get("type") == "hidden":
            self.forms[-1][1][of["name"]] = of.get("value", "")


def forms_of(page: httpx.Response) -> list[Form]:
    """Return the forms of a page with their hidden fields."""
    parser = _Forms()
    parser.feed(page.text)
    return [Form(*found) for found in parser.forms]


@dataclass(frozen=True, slots=True)
class Browser:
    """The browser of one visitor."""

    client: httpx.AsyncClient
    signer: PageSigner

    async def get(self, path: str, **headers: str) -> httpx.Response:
        return await self.client.get(path, headers=headers)

    async def post(self, path: str, **fields: str) -> httpx.Response:
        """Send a form as it is given."""
        return await self.client.post(path, data=fields)

    async def form(self, path: str = "/", action: str = "/ask") -> dict[str, str]:
        """Open a page and return the hidden fields of one of its forms."""
        return dict(self.form_of(await self.get(path), action))

    @staticmethod
    def form_of(page: httpx.Response, action: str) -> Mapping[str, str]:
        (found, *_) = [form for form in forms_of(page) if form.action == action]
        return found.fields

    async def ask(self, question: str, **fields: str) -> httpx.Response:
        """Open the first page and send its form."""
        form = await self.form()
        return await self.post("/ask", **(form | {"question": question} | fields))

    async def act(self, round_id: str, act: str) -> httpx.Response:
        """Send the form of an action on a round, even if the page does not show it."""
        form = await self.form()
        return await self.post(f"/rounds/{round_id}/{act}", **form)

    async def log_in(self, token: str = TOKEN, **fields: str) -> httpx.Response:
        """Log in with the token."""
        form = await self.form("/login", "/login")
        return await self.post("/login", **(form | {"password": token} | fields))

    @property
    def visitor(self) -> Visitor:
        """The visitor, as the site identifies this browser."""
        found = self.signer.read_visitor(self.client.cookies["council_visitor"])
        assert found
        return found


def redirected_round_id(response: httpx.Response) -> str:
    """Return the id of the round that a response redirects to."""
    assert response.status_code == 303, response.text
    found = re.fullmatch(r"/rounds/([0-9a-f]{10})", response.headers["location"])
    assert found
    return found[1]


def a_round_of(visitor: Visitor, round_id: str = "abcdef0123", *, private: bool = False) -> Round:
    """Return a round as this visitor would have asked for it."""
    asked = Question(
        "Is Postgres enough?", visitor.asker.id, place=place_of(visitor, private=private)
    )
    return replace(a_round(question=asked), id=round_id)


SOMEBODY = Visitor("5" * 32)
