"""The OAuth flow: states and codes are valid once, and its pages say what to do next."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from bot.slack.config import REDIRECT_PATH
from bot.slack.oauth import INSTALLED, NOT_INSTALLED, STATE, STATE_SECONDS
from tests.bot.slack.distributed import Distributed, distributed_fake, run_distributed
from tests.wire.slack import Fail, Refuse


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[Distributed]:
    """Yield a distributed app that no workspace has installed."""
    async with distributed_fake() as slack, run_distributed(tmp_path, slack) as bot:
        yield bot


def assert_refused(reply: httpx.Response, status: int, bot: Distributed) -> None:
    """Assert that a page refuses an installation, and names no code, state or secret."""
    assert (reply.status_code, NOT_INSTALLED in reply.text) == (status, True)
    assert "Traceback" not in reply.text
    assert bot.slack.state.app.client_secret not in reply.text
    assert "code-" not in reply.text


async def test_the_installation_begins_on_slacks_page(bot: Distributed) -> None:
    url = await bot.begin()

    query = parse_qs(urlsplit(url).query)
    assert url.startswith(f"{bot.slack.state.address}/oauth/v2/authorize?")
    assert query["client_id"] == [bot.slack.state.app.client_id]
    assert "chat:write" in query["scope"][0].split(",")


async def test_an_installed_workspace_can_ask_at_once(bot: Distributed) -> None:
    bot.gateway.goes_on.set()

    page = await bot.install()

    assert (page.status_code, INSTALLED in page.text, "Home" in page.text) == (200, True, True)
    assert "xoxb" not in page.text
    await bot.wait_until_answered(await bot.ask(bot.slack, "C1", "U1"))


async def test_a_state_is_used_once(bot: Distributed) -> None:
    url = await bot.begin()
    first, second = bot.slack.allow(url), bot.slack.allow(url)
    cookies = dict(bot.browser.cookies)

    assert INSTALLED in (await bot.browser.get(first)).text
    bot.browser.cookies = httpx.Cookies(cookies)

    assert_refused(await bot.browser.get(second), 401, bot)
    assert len(bot.slack.called("oauth.v2.access")) == 1


async def test_a_code_is_used_once(bot: Distributed) -> None:
    used = parse_qs(urlsplit(bot.slack.allow(await bot.begin())).query)["code"][0]
    bot.slack.state.codes[used].used = True
    state = parse_qs(urlsplit(await bot.begin()).query)["state"][0]

    reply = await bot.browser.get(REDIRECT_PATH, params={"code": used, "state": state})

    assert_refused(reply, 401, bot)
    assert bot.slack.called("oauth.v2.access")[-1].outcome == "code_already_used"


async def test_a_state_expires(bot: Distributed) -> None:
    address = bot.slack.allow(await bot.begin())
    (state,) = await bot.app.key_values.list_texts(STATE)
    issued = bot.app.now().timestamp() - STATE_SECONDS - 1
    await bot.app.key_values.put(STATE, state, str(issued))

    assert_refused(await bot.browser.get(address), 401, bot)
    assert not bot.slack.called("oauth.v2.access")


@pytest.mark.parametrize("state", ["", "wrong", "x" * 43, "\0" * 43, "é" * 9_000])
async def test_a_wrong_state_reaches_neither_slack_nor_the_database(
    bot: Distributed, state: str
) -> None:
    await bot.begin()

    reply = await bot.browser.get(REDIRECT_PATH, params={"code": "code-1", "state": state})

    assert_refused(reply, 400, bot)
    assert not bot.slack.called("oauth.v2.access")


async def test_a_state_belongs_to_the_browser_that_began(bot: Distributed) -> None:
    address = bot.slack.allow(await bot.begin())
    bot.browser.cookies.clear()

    assert_refused(await bot.browser.get(address), 400, bot)


async def test_somebody_who_cancels_on_slacks_page_is_told_so(bot: Distributed) -> None:
    reply = await bot.browser.get(REDIRECT_PATH, params={"error": "access_denied"})

    assert_refused(reply, 200, bot)
    assert "cancelled" in reply.text


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault of a method, and the status of the page that follows."""

    method: str
    fault: Fail | Refuse
    status: int


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble("oauth.v2.access", Refuse("bad_client_secret"), 401),
        Trouble("oauth.v2.access", Fail(), 401),
        Trouble("auth.test", Refuse("account_inactive"), 401),
    ],
)
async def test_trouble_with_slack_is_a_plain_page(bot: Distributed, trouble: Trouble) -> None:
    bot.slack.trouble(trouble.method, trouble.fault)

    assert_refused(await bot.install(), trouble.status, bot)
    assert INSTALLED in (await bot.install()).text


async def test_markup_in_an_error_or_a_name_is_escaped(bot: Distributed) -> None:
    bot.slack.workspace.name = "<script>alert(1)</script>"

    refused = await bot.browser.get(REDIRECT_PATH, params={"error": "<script>x</script>"})
    installed = await bot.install()

    assert "<script" not in refused.text + installed.text
