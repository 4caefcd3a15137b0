"""The pictures of a round in Slack: what the product sent to a Slack of our own, drawn.

The payloads are the product's own, as a process beside a strict fake Slack; only the drawing is
ours (`bench.blockkit`), so that Slack's own client may look a little different.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Browser, ViewportSize, async_playwright

from bot.commands.ask_form import VOTE_FIRST
from bot.commands.settings import HERE, LIMITS
from bot.render.voting import READ_AND_VOTE
from bot.slack.block_kit import render_message
from tests.bench.blockkit import Line, Screen, drawn, thinned
from tests.bench.ours import QUESTION
from tests.bench.pictures.bakeoff_post import bakeoff_post
from tests.bench.pictures.page import PICTURES, config, playing
from tests.bench.pictures.words import SEATS
from tests.bot.homes import seat_toml
from tests.bot.slack.process import RunningProduct, is_answer, serve_slack
from tests.wire.models import ModelServer, fail
from tests.wire.slack import BOT, FakeSlack, Message, View, Workspace

ADA, BEN, CHANNEL = "U1", "U2", "C1"
PEOPLE = {ADA: "Ada", BEN: "Ben"}
PANE, THREAD, MODAL, PHONE = 800, 620, 568, 390
PHONE_HEIGHT, VOTE_HEIGHT, SETTINGS_HEIGHT = 844, 620, 700
SAID = (
    (BEN, "The nightly import is behind again: 1.4 million jobs waiting at 7 this morning."),
    (ADA, "It is the polling. We read one row at a time, and vacuum cannot keep up."),
    (BEN, "Can we stay on Postgres, or is this the day we add a broker?"),
)
ASKED = "what would you change first, and what would you measure?"


@dataclass(slots=True)
class Studio:
    """Takes pictures of screens."""

    browser: Browser

    async def take(self, name: str, *screens: Screen, width: int = PANE, height: int = 0) -> None:
        """Draw screens side by side, photograph all of them or so much, and keep that small."""
        size: ViewportSize = {"width": width * len(screens), "height": height or 200}
        scale = 1.5 if screens[0].is_thread or len(screens) > 1 else 2
        page = await self.browser.new_page(viewport=size, device_scale_factor=scale)
        named = (replace(screen, people=PEOPLE) for screen in screens)
        await page.set_content(side_by_side(map(drawn, named), size))
        picture = await page.screenshot(full_page=not height)
        await page.close()
        path = PICTURES / f"slack-{name}.png"
        # The loop serves Slack's socket meanwhile, and must not be late.
        path.write_bytes(await asyncio.to_thread(thinned, picture))
        print(f"{path.name}: {path.stat().st_size // 1000} KB")


def workspace() -> Workspace:
    """Return a workspace whose people and channel have names."""
    home = Workspace.standard()
    for user, name in PEOPLE.items():
        home.users[user].name = name
    home.users[ADA].is_admin = True
    home.users[BEN].is_admin = True
    home.channels[CHANNEL].name = "backend"
    return home


@asynccontextmanager
async def beside(models: ModelServer, toml: str) -> AsyncIterator[RunningProduct]:
    """Run the product beside a Slack, with this council.toml."""
    models.script |= {seat: playing(seat) for seat in SEATS}
    with TemporaryDirectory(prefix="council-pictures-") as folder:
        async with (
            FakeSlack(workspace=workspace()) as slack,
            serve_slack(Path(folder), slack, config=toml) as product,
        ):
            yield product


def present(message: Message | None) -> Message:
    """Return the message; raise if it was not posted."""
    if message is None:
        raise RuntimeError("nothing was said")
    return message


def line_of(slack: FakeSlack, message: Message, **more: Any) -> Line:  # noqa: ANN401
    """Return a message as it is displayed."""
    is_app = message.user == BOT
    name = "Council" if is_app else slack.workspace.users[message.user].name
    payload = message.payload | {"text": message.text.replace(f"<@{BOT}>", "@Council")}
    return Line(name, "10:24", payload, is_app, **more)


async def the_round(studio: Studio, product: RunningProduct) -> None:
    """Ask in a channel and take pictures until the thread is complete."""
    slack = product.slack
    await slack.command(ADA, CHANNEL, "/council", QUESTION)
    root = await product.wait_for_answer(CHANNEL)
    replies = await product.wait_for_thread(CHANNEL, root)
    running = replace(line_of(slack, root), payload=under_way(slack))
    await studio.take("running", Screen("backend", (running,)))
    await finished(studio, slack, root, replies)
    await slack.click(root, "council:ballots", ADA)
    view = await filled(slack)
    await studio.take("ballots", Screen("Rankings", modal=view.payload), width=MODAL)
    slack.closes(view)


async def finished(studio: Studio, slack: FakeSlack, root: Message, replies: list[Message]) -> None:
    """Picture the answer and its thread: wide, narrow and in the dark."""
    answer = line_of(slack, root, replies=len(replies))
    under = tuple(line_of(slack, reply) for reply in replies)
    channel = Screen("backend", (answer,))
    await studio.take("round", channel)
    await studio.take("dark", replace(channel, is_dark=True))
    thread = Screen("backend", under, is_thread=True)
    await studio.take("thread", thread, width=THREAD)
    held = [replace(screen, is_phone=True) for screen in (channel, thread)]
    await studio.take("phone", *held, width=PHONE, height=PHONE_HEIGHT)


def side_by_side(pages: Iterable[str], size: ViewportSize) -> str:
    """Return one of several pages, each cut at the end of the screen; a single one is whole."""
    first, *more = pages
    if not more:
        return first
    wide, high = size["width"] // (1 + len(more)), size["height"]
    frame = f'<iframe width="{wide}" height="{high}" scrolling="no" srcdoc="%s"></iframe>'
    style = "<style>body{margin:0;display:flex}iframe{border:0;outline:1px solid #999}</style>"
    return style + "".join(frame % escape(page) for page in (first, *more))


def under_way(slack: FakeSlack) -> dict[str, Any]:
    """Return the last progress message in which some judges, but not all, have voted."""
    sights = [call.value("blocks") for call in slack.called("chat.update")]
    voting = [blocks for blocks in sights if "rankings are in" in str(blocks)]
    return {"blocks": voting[-1]}


async def filled(slack: FakeSlack, user: str = ADA) -> View:
    """Wait until a modal shows what it was opened for."""
    await slack.until(lambda: slack.views(user) and "One moment" not in str(slack.views(user)))
    return slack.views(user)[-1]


async def the_modal(studio: Studio, slack: FakeSlack) -> None:
    """Picture the modal to ask in, with a question typed."""
    await slack.command(ADA, CHANNEL, "/council", "ask")
    view = await filled(slack)
    typed = {"question": QUESTION, "context": "Payloads are under 2 KB; Postgres 17, one replica."}
    await studio.take("ask", Screen("Ask", modal=view.payload, typed=typed), width=MODAL)
    slack.closes(view)


async def the_settings(studio: Studio, slack: FakeSlack) -> None:
    """Picture what an admin sees of the settings, and the form of a channel."""

    def summaries() -> list[Message]:
        return [m for m in slack.ephemerals(BEN) if f"council:{LIMITS}" in str(m.blocks)]

    await slack.command(BEN, CHANNEL, "/council", "settings")
    await slack.until(summaries)
    await slack.click(summaries()[0], f"council:{LIMITS}", BEN)
    limits = {"rounds_per_day": "20", "workspace_day_usd": "5", "channel_day_usd": "1"}
    await slack.submit(await filled(slack, BEN), limits, BEN)
    await slack.until(lambda: summaries()[1:])
    summary = summaries()[1]
    await slack.click(summary, f"council:{HERE}", BEN)
    view = await filled(slack, BEN)
    shown = Screen("backend", (line_of(slack, summary, only_you=True),))
    screens = (shown, Screen("This channel", modal=view.payload))
    await studio.take("settings", *screens, width=MODAL, height=SETTINGS_HEIGHT)
    slack.closes(view)


async def the_welcome(studio: Studio, slack: FakeSlack) -> None:
    """Picture what somebody sees who types the command alone."""
    deed = await slack.command(ADA, CHANNEL, "/council")
    first = line_of(slack, present(deed.message), only_you=True)
    await studio.take("first", Screen("backend", (first,), is_phone=True), width=PHONE)


async def the_vote(studio: Studio, product: RunningProduct) -> None:
    """Ask once more, and picture the answers that people choose from while the judges vote."""
    slack = product.slack
    await slack.command(ADA, CHANNEL, "/council", QUESTION)

    def taking_votes() -> list[Message]:
        return [m for m in slack.messages(CHANNEL) if READ_AND_VOTE in str(m.blocks)]

    await slack.until(taking_votes, 60)
    running = line_of(slack, taking_votes()[0])
    await slack.click(taking_votes()[0], "council:vote", BEN)
    view = await filled(slack, BEN)
    screens = (Screen("backend", (running,)), Screen("Vote", modal=view.payload))
    await studio.take("vote", *screens, width=MODAL, height=VOTE_HEIGHT)
    slack.closes(view)


async def the_held_reveal(studio: Studio, product: RunningProduct) -> None:
    """Ask by the form, so that people vote first, and picture the answer until the reveal."""
    slack = product.slack
    await slack.command(ADA, CHANNEL, "/council", "ask")
    view = await filled(slack)
    await slack.submit(view, {"question": QUESTION, "audience": VOTE_FIRST}, ADA)

    def held() -> list[Message]:
        return [m for m in slack.messages(CHANNEL) if "council:reveal" in str(m.blocks)]

    await slack.until(held, 60)
    phone = Screen("backend", (line_of(slack, held()[0]),), is_phone=True)
    await studio.take("held", phone, width=PHONE)
    await slack.click(held()[0], "council:reveal", ADA)


async def the_bakeoff(studio: Studio) -> None:
    """Picture the post of a bake-off."""
    line = Line("Council", "09:04", render_message(bakeoff_post()), is_app=True)
    await studio.take("bakeoff-post", Screen("models", (line,)))


async def the_home(studio: Studio, slack: FakeSlack) -> None:
    """Picture the home of somebody who has asked."""
    await slack.opens_app(ADA)
    await slack.until(lambda: ADA in slack.state.homes)
    home = Screen("Council", (Line("Council", "", slack.home(ADA).payload),), is_phone=True)
    await studio.take("home", home, width=PHONE)


async def the_thread(studio: Studio, slack: FakeSlack) -> None:
    """Ask in a thread; picture what the asker confirms, and the answer that says what was read."""
    root = slack.says(SAID[0][0], CHANNEL, SAID[0][1])
    said = [root, *(slack.says(user, CHANNEL, text, root.ts) for user, text in SAID[1:])]
    event = await slack.mention(ADA, CHANNEL, f"<@{BOT}> {ASKED}", root.ts)
    before = len(slack.ephemerals(ADA))
    await slack.until(lambda: len(slack.ephemerals(ADA)) > before)
    offer = line_of(slack, slack.ephemerals(ADA)[-1], only_you=True)
    lines = (*(line_of(slack, message) for message in [*said, present(event.message)]), offer)
    await studio.take(
        "context", Screen("backend", lines, has_root=True, is_thread=True), width=THREAD
    )
    await slack.click(slack.ephemerals(ADA)[-1], "council:with_thread", ADA)
    await slack.until(lambda: is_answer(slack.thread(CHANNEL, root.ts)), 120)
    answer = line_of(slack, slack.thread(CHANNEL, root.ts)[-1])
    await studio.take("read", Screen("backend", (answer,), is_thread=True), width=THREAD)


async def the_cautions(studio: Studio, models: ModelServer) -> None:
    """Run a round in which a member and the chairman are absent."""
    chair = seat_toml(
        "openai/chair", api_base=models.api_base, display="DeepSeek V3.2", family="deepseek"
    )
    toml = config(models.api_base).replace(
        "[panels.house]\n", '[panels.house]\nchairman = ["openai/chair"]\n'
    )
    async with beside(models, toml + chair) as product:
        models.script |= {"gemini": fail(503), "chair": fail(503)}
        await product.slack.command(ADA, CHANNEL, "/council", QUESTION)
        root = await product.wait_for_answer(CHANNEL)
        await studio.take("cautions", Screen("backend", (line_of(product.slack, root),)))


async def all_of_them(studio: Studio) -> None:
    """Take every picture."""
    async with ModelServer() as models:
        async with beside(models, config(models.api_base)) as product:
            await the_welcome(studio, product.slack)
            await the_round(studio, product)
            await the_vote(studio, product)
            await the_held_reveal(studio, product)
            await the_bakeoff(studio)
            await the_settings(studio, product.slack)
            await the_home(studio, product.slack)
            await the_modal(studio, product.slack)
            await the_thread(studio, product.slack)
        await the_cautions(studio, models)


async def main() -> None:
    found = shutil.which("chromium")
    if not found:
        raise SystemExit("There is no chromium here: apt-get install chromium.")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        await all_of_them(Studio(browser))
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
