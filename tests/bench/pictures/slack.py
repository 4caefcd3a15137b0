"""The picture of a round in Slack: what the product sent to a Slack of our own, drawn.

The payloads are the product's own, as a process beside a strict fake Slack; only the drawing is
ours (`bench.blockkit`), so that Slack's own client may look a little different.
"""

import asyncio
from dataclasses import replace
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Browser, ViewportSize, async_playwright

from tests.bench.blockkit import Line, Screen, drawn, thinned
from tests.bench.ours import QUESTION
from tests.bench.pictures.page import PICTURES, chromium_path, config, playing
from tests.bench.pictures.words import SEATS
from tests.bot.slack.process import serve_slack
from tests.wire.models import ModelServer
from tests.wire.slack import BOT, FakeSlack, Message, Workspace

ADA, CHANNEL = "U1", "C1"
SIZE: ViewportSize = {"width": 1440, "height": 1080}  # of the channel and its thread


async def the_round() -> tuple[Screen, Screen]:
    """Ask in a channel; return the answer and, as another screen, its thread."""
    workspace = Workspace.standard()
    workspace.users[ADA].name = "Ada"
    workspace.channels[CHANNEL].name = "backend"
    with TemporaryDirectory(prefix="council-pictures-") as folder:
        async with ModelServer() as models, FakeSlack(workspace=workspace) as slack:
            models.script |= {seat: playing(seat) for seat in SEATS}
            toml = config(models.api_base)
            async with serve_slack(Path(folder), slack, config=toml) as product:
                await slack.command(ADA, CHANNEL, "/council", QUESTION)
                root = await product.wait_for_answer(CHANNEL)
                replies = await product.wait_for_thread(CHANNEL, root)
    answer = _line(slack, root, replies=len(replies))
    thread = tuple(_line(slack, reply) for reply in replies)
    return Screen("backend", (answer,)), Screen("backend", thread, is_thread=True)


def _line(slack: FakeSlack, message: Message, **more: Any) -> Line:  # noqa: ANN401
    """Return a message as it is displayed."""
    is_app = message.user == BOT
    name = "Council" if is_app else slack.workspace.users[message.user].name
    return Line(name, "10:24", message.payload | {"text": message.text}, is_app, **more)


async def draw(browser: Browser, *screens: Screen) -> bytes:
    """Return a picture of screens side by side, each cut at the end of the page."""
    page = await browser.new_page(viewport=SIZE, device_scale_factor=1.5)
    frame = (
        f'<iframe width="{SIZE["width"] // len(screens)}" height="{SIZE["height"]}" '
        'scrolling="no" srcdoc="{}"></iframe>'
    )
    named = (replace(screen, people={ADA: "Ada"}) for screen in screens)
    style = "<style>body{margin:0;display:flex}iframe{border:0;outline:1px solid #999}</style>"
    await page.set_content(style + "".join(frame.format(escape(drawn(one))) for one in named))
    picture = await page.screenshot()
    await page.close()
    return thinned(picture)


async def main() -> None:
    found = chromium_path()
    screens = await the_round()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        path = PICTURES / "slack-round.png"
        path.write_bytes(await draw(browser, *screens))
        print(f"{path.name}: {path.stat().st_size // 1000} KB")
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
