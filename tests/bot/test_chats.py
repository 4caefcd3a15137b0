"""A chat of a plug-in needs nothing outside its package: settings, routes, readiness, failures."""

from collections.abc import Callable

import pytest
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bot.chats import ChatPlugin, ChatRoute, RunningChat, RunningChats
from bot.context import AppContext
from bot.plugins import Plugins
from bot.settings import Settings
from bot.web.app import create_app
from council.plugin import Plugin
from tests.bot.app_fakes import an_app
from tests.bot.web.browsing import TOKEN, Site, make_site
from tests.fakes.gateway import FakeGateway


async def receive(request: Request) -> Response:
    """Answer with the size of what was sent."""
    return PlainTextResponse(str(len(await request.body())))


class Pager(RunningChat):
    """A chat that fails while it runs."""

    is_ready = False
    routes = (ChatRoute("/pager", receive, ("POST",), max_bytes=100),)

    async def run(self) -> None:
        """Fail."""
        raise OSError("No line.")


class PagerPlugin(ChatPlugin):
    """A chat that needs a number."""

    title = "Pager"

    def missing(self, settings: Settings) -> str:
        """Return that there is no number."""
        return "" if settings.value("PAGER_NUMBER") else "no number"

    def start(
        self, app: AppContext, settings: Settings, report: Callable[[str], None]
    ) -> RunningChat:
        """Return the chat."""
        return Pager()


class BrokenPlugin(ChatPlugin):
    """A chat that fails when it is started, or already when it is asked what it lacks."""

    title = "Broken"

    def missing(self, settings: Settings) -> str:
        """Fail if the settings say so."""
        if settings.value("BROKEN"):
            raise ValueError("no modem")
        return ""


PAGER = PagerPlugin()
BROKEN = BrokenPlugin()
BROKEN_PLUGIN = Plugin(name="broken", chats={"broken": "tests.bot.test_chats:BROKEN"})
PLUGIN = Plugin(name="pager", chats={"pager": "tests.bot.test_chats:PAGER"})


LEFT_OUT: list[str] = []


def start(**keys: str) -> RunningChats:
    app = an_app(FakeGateway())
    app.plugins = Plugins([BROKEN_PLUGIN, PLUGIN], [BROKEN_PLUGIN, PLUGIN], report=LEFT_OUT.append)
    LEFT_OUT.clear()
    secrets = {name: SecretStr(value) for name, value in keys.items()}
    return RunningChats.start(app, Settings(keys=secrets), lambda _: None)


def test_a_chat_without_its_settings_is_not_started() -> None:
    chats = start()

    assert chats.not_started == ["Pager: not started (no number)"]
    assert (chats.routes, chats.not_ready(), chats.tasks()) == ([], "", [])


@pytest.mark.parametrize(
    ("keys", "why"),
    [({}, "NotImplementedError: "), ({"BROKEN": "1"}, "ValueError: no modem")],
)
def test_a_chat_that_cannot_be_started_is_left_out_with_its_name(
    keys: dict[str, str], why: str
) -> None:
    chats = start(PAGER_NUMBER="7", **keys)

    assert chats.not_ready() == "Pager is not connected."
    [sentence] = LEFT_OUT
    assert sentence == f"The plug-in broken is left out: Its chat broken failed ({why})."


async def test_a_chat_that_fails_stops_nothing_else() -> None:
    chats = start(PAGER_NUMBER=" 7 ")

    (run,) = chats.tasks()
    await run

    assert chats.not_ready() == "Pager is not connected."


@pytest.mark.parametrize(("size", "status"), [(100, 200), (101, 413)])
async def test_a_route_of_a_chat_needs_no_token_of_the_page(size: int, status: int) -> None:
    site = make_site(token=TOKEN)
    app = create_app(site.context, routes=[*Pager.routes])

    browser = Site(site.context, app, site.clock).browser()

    found = await browser.client.post("/pager", content=b"x" * size)
    page = await browser.get("/")
    await site.close()

    assert (found.status_code, page.status_code) == (status, 303)
