"""Two workspaces install the product by its own pages; nothing of one is reached from the other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from bot.slack.config import INSTALL_PATH
from bot.slack.oauth import INSTALLED
from tests.bot.homes import Home, scripted_config
from tests.bot.running import serving
from tests.bot.slack.distributed import distributed_fake
from tests.bot.slack.in_process import text_of
from tests.bot.slack.process import Transport
from tests.ports import free_port
from tests.wire.slack import FakeSlack, Message
from tests.wire.slack.driver import Site

WORD = "xylograph"
COMMANDS = (
    "rounds",
    "rounds 20",
    "show {id}",
    "vote {id} A",
    "cancel {id}",
    "forget {id}",
    "forget {id} yes",
    "suite show treasure",
    "suite remove treasure yes",
    "suite list",
    "suite add stolen {id}",
    "bakeoff run treasure now",
    "bakeoff list",
    "schedule list",
    "leaderboard",
    "bias",
    "budget",
)
BUTTONS = ("answers", "ballots", "again", "suite", "export", "forget", "cancel", "resume")


@asynccontextmanager
async def serve_distributed(
    folder: Path, slack: FakeSlack, transport: Transport
) -> AsyncIterator[str]:
    """Serve the product; yield its address."""
    app, port = slack.state.app, free_port()
    secret = {
        "socket": {"SLACK_APP_TOKEN": app.app_token},
        "http": {"SLACK_SIGNING_SECRET": app.signing_secret},
    }
    home = Home(
        folder,
        {
            "SLACK_API_URL": slack.api_url,
            "SLACK_CLIENT_ID": app.client_id,
            "SLACK_CLIENT_SECRET": app.client_secret,
            "COUNCIL_PORT": str(port),
            **secret[transport],
        },
    )
    home.with_config(scripted_config(3)).with_tables()
    async with serving(home) as run:
        slack.request_url.address = f"http://127.0.0.1:{port}/slack/events"
        await run.says("Slack: in 0 workspaces")
        if transport == "socket":
            await slack.connected()
        yield f"http://127.0.0.1:{port}"


async def install(address: str, slack: FakeSlack, site: Site) -> None:
    """Install the app as a browser does behind a tunnel, which keeps the cookie of the state."""
    async with httpx.AsyncClient(trust_env=False) as browser:
        begun = await browser.get(address + INSTALL_PATH)
        cookie = begun.headers["set-cookie"]
        assert "Secure" in cookie
        assert "HttpOnly" in cookie
        allowed = slack.allow(begun.headers["location"], site)
        back = allowed.replace("https://council.example.com", address)
        page = await browser.get(back, headers={"Cookie": cookie.partition(";")[0]})
        assert (page.status_code, INSTALLED in page.text) == (200, True)


async def ask(slack: FakeSlack, site: Site, letter: str, text: str) -> Message:
    channel = f"C1{letter}"
    await site.command(f"U1{letter}", channel, "/council", text)

    def answers() -> list[Message]:
        return [m for m in site.messages(channel) if "council:answers" in str(m.blocks)]

    await slack.until(answers, 60)
    return answers()[-1]


def seen(site: Site, user: str) -> str:
    """Return all that somebody has seen of the bot in private."""
    private = [*site.ephemerals(user), *site.direct(user)]
    views = [str(view.payload) for view in site.views(user)]
    return " ".join([*map(text_of, private), *views])


async def wait_for_answers(slack: FakeSlack, site: Site, count: int) -> None:
    """Wait until so many commands and presses were answered, in private or in the channel."""

    def answers() -> int:
        modals = [call for call in slack.called("views.open") if call.token in site.state.tokens]
        return private_posts(site, "UADMINB") + len(bot_posts(site)[1:]) + len(modals)

    await slack.until(lambda: answers() >= count, 30)


def bot_posts(site: Site) -> list[Message]:
    return [m for m in site.messages("C1B") if m.user == site.workspace.bot]


def private_posts(site: Site, user: str) -> int:
    return len(site.ephemerals(user)) + len(site.direct(user))


@pytest.mark.parametrize("transport", [pytest.param("socket", marks=pytest.mark.nightly), "http"])
async def test_two_workspaces_install_and_ask_and_neither_reaches_the_other(
    tmp_path: Path, transport: Transport
) -> None:
    async with distributed_fake() as fake:
        slack = fake if transport == "socket" else http_fake(fake)
        away = slack.add_workspace("Away", "B")
        async with serve_distributed(tmp_path, slack, transport) as address:
            await install(address, slack, slack)
            await install(address, slack, away)
            question = f"Where should a small town keep its {WORD}?"
            root = await ask(slack, slack, "", question)
            others = await ask(slack, away, "B", "Which queue should a team of three use?")

            round_id = round_of(root)
            await slack.command("UADMIN", "C1", "/council", f"suite add treasure\n{question}")
            await slack.until(lambda: slack.ephemerals("UADMIN"), 30)
            await slack.click(slack.ephemerals("UADMIN")[0], "council:keep_suite", "UADMIN")
            await slack.until(lambda: "keep_suite" not in seen(slack, "UADMIN"), 30)
            for number, command in enumerate(COMMANDS, start=1):
                await away.command("UADMINB", "C1B", "/council", command.format(id=round_id))
                await wait_for_answers(slack, away, number)
            for number, button in enumerate(BUTTONS, start=len(COMMANDS) + 1):
                await away.forge(others, "UADMINB", f"council:{button}", round_id)
                await wait_for_answers(slack, away, number)

            assert WORD not in seen(away, "UADMINB")
            sent = [call for call in slack.calls if call.token in away.state.tokens]
            assert not [call for call in sent if WORD in str(call.arguments)]
            assert len([m for m in slack.messages("C1") if m.user == slack.workspace.bot]) == 1
            await slack.command("UADMIN", "C1", "/council", "suite show treasure")
            await slack.until(lambda: question in seen(slack, "UADMIN"), 30)
            await slack.click(root, "council:answers", "U1")
            await slack.until(lambda: slack.views("U1"), 30)
            tokens = {c.token for c in slack.called("chat.postMessage")}
            assert len(tokens) == 2
            outcomes = {c.outcome for c in slack.calls if c.method.startswith("chat.")}
            assert outcomes == {"ok"}


def http_fake(fake: FakeSlack) -> FakeSlack:
    fake.transport = fake.request_url
    return fake


def round_of(root: Message) -> str:
    """Return the id of a round, which the value of its buttons is."""
    found = [
        element["value"]
        for block in root.blocks
        for element in block.get("elements", ())
        if element.get("action_id") == "council:answers"
    ]
    return str(found[0])
