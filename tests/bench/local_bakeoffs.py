"""A suite of graded questions put to the demonstration models on a schedule, twice, everywhere.

One product serves the page, a strict fake Slack and a strict fake Discord; each has a schedule of
its own. The first runs have the machine to themselves; beside the second ones it is kept busy, so
that the models are slower and there is something to tell. Takes about three quarters of an hour; a
path that is named is given the database, which holds 72 rounds.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Browser, FloatRect, ViewportSize, async_playwright

from bot.settings import load_settings
from tests.bench.blockkit import Line, Screen, thinned
from tests.bench.pictures.discord import PHONE as DISCORD_PHONE
from tests.bench.pictures.discord import WIDE as DISCORD_WIDE
from tests.bench.pictures.discord import drawn, launched_as_here, save
from tests.bench.pictures.page import PICTURES
from tests.bench.pictures.slack import THREAD, Studio, line_of, workspace
from tests.bot.homes import Home
from tests.bot.slack.process import slack_environment
from tests.ports import free_port
from tests.wire.discord import FakeDiscord
from tests.wire.slack import FakeSlack

SUITE = Path(__file__).with_name("easy.csv")
CONFIG = f'[suites.easy]\nfile = "{SUITE.name}"\n'
APART, AGAIN = 4, 18  # minutes from one place's run to the next one's, and to its second
ADA, ADMIN, CHANNEL = "U1", "UADMIN", "C1"
WIDE: ViewportSize = {"width": 1100, "height": 900}
PHONE: ViewportSize = {"width": 360, "height": 800}
LONGEST = timedelta(minutes=75)


@dataclass(slots=True)
class Machine:
    """A machine that can be kept busy."""

    busy: list[subprocess.Popen[bytes]]

    def keep_busy(self) -> None:
        """Begin as much work as it has processors."""
        spin = [sys.executable, "-c", "while True: pass"]
        self.busy += [subprocess.Popen(spin) for _ in range(os.cpu_count() or 1)]

    def leave_alone(self) -> None:
        """Stop it."""
        for one in self.busy:
            one.kill()
            one.wait()
        self.busy.clear()


@dataclass(slots=True)
class Site:
    """The product and the places it reports to."""

    home: Home
    slack: FakeSlack
    discord: FakeDiscord

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.home.settings['COUNCIL_PORT']}"

    def runs(self) -> list[tuple[str, str, bool]]:
        """Return each run's id, its schedule, and whether it is over."""
        found = self.home.sql("SELECT id, schedule, ended_at IS NOT NULL FROM bakeoff ORDER BY at")
        return [(str(id_), str(of), bool(over)) for id_, of, over in found]


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    """Run the product on the demonstration models, beside a Slack and a Discord."""
    with TemporaryDirectory(prefix="council-bakeoffs-") as folder:
        shutil.copy(SUITE, folder)
        async with FakeSlack(workspace=workspace()) as slack, FakeDiscord() as discord:
            models = load_settings(Path("/nonexistent/.env")).model_dir
            told = {"COUNCIL_PORT": str(free_port()), "COUNCIL_MODEL_DIR": str(models)}
            settings = {**slack_environment(slack, "socket"), **discord.settings, **told}
            home = Home(Path(folder), settings).with_config(CONFIG)
            process = await home.started("serve", "--local", fresh=True)
            reading = asyncio.create_task(_echo(process))
            try:
                await slack.connected()
                await discord.connected(60)
                yield Site(home, slack, discord)
            finally:
                process.terminate()
                await process.wait()
                await reading


async def _echo(process: asyncio.subprocess.Process) -> None:
    assert process.stderr
    async for line in process.stderr:
        sys.stderr.write(line.decode())


def cron(first: datetime, place: int) -> str:
    """Return when a place's two runs begin, counted from the first place's first run."""
    minutes = (first + timedelta(minutes=APART * place + wait) for wait in (0, AGAIN))
    return f"{','.join(str(one.minute) for one in minutes)} * * * *"


async def create_schedules(site: Site, browser: Browser) -> datetime:
    """Create a schedule in each place; return when the second runs begin."""
    now = datetime.now(UTC) + timedelta(minutes=1)
    page = await browser.new_page(base_url=site.address, viewport=WIDE)
    await page.goto("/schedules")
    await page.get_by_label("Name").fill("easy-page")
    await page.get_by_label("Suite").select_option("easy")
    await page.get_by_label("Panel").select_option("local")
    await page.get_by_label("In words").fill(f'"{cron(now, 0)}"')
    await page.get_by_role("button", name="Add schedule").click()
    print(await page.locator(".schedule").first.inner_text())
    await page.close()
    words = f'schedule add easy suite:easy panel:local "{cron(now, 1)}" UTC'
    await site.slack.command(ADMIN, CHANNEL, "/council", words)
    runs = {"suite": "easy", "panel": "local", "when": f'"{cron(now, 2)}"', "zone": "UTC"}
    added = await site.discord.slash(
        ADMIN, CHANNEL, "council-admin schedule add", name="easy", **runs
    )
    await site.discord.until(lambda: any("Next:" in one.text for one in added.sent), 60)
    await site.slack.command(ADA, CHANNEL, "/council", "schedule subscribe easy")
    await site.discord.slash(ADA, CHANNEL, "council schedule subscribe", name="easy")
    if len(found := site.home.sql("SELECT name FROM schedule")) != 3:
        raise SystemExit(f"Not every place has its schedule: {found}")
    return now + timedelta(minutes=AGAIN)


async def wait_for_runs(site: Site, again: datetime) -> None:
    """Wait until each schedule has run twice, the second time on a busy machine."""
    machine, until = Machine([]), datetime.now(UTC) + LONGEST
    try:
        while datetime.now(UTC) < until:
            runs = site.runs()
            print(datetime.now(UTC).strftime("%H:%M"), runs, flush=True)
            if not machine.busy and datetime.now(UTC) > again - timedelta(minutes=1):
                machine.keep_busy()
            if len(runs) == 6 and all(over for *_, over in runs):
                return
            await asyncio.sleep(30)
    finally:
        machine.leave_alone()
    raise SystemExit("The runs took longer than they may.")


async def picture_page(site: Site, browser: Browser) -> None:
    """Take the pictures of the page: the last run, and the leaderboard, wide and on a phone."""
    first = next(of for _, of, _ in site.runs())
    last = [id_ for id_, of, _ in site.runs() if of == first][-1]
    paths = {"bakeoff": f"/bakeoffs/{last}", "leaderboard": "/leaderboard?suite=easy"}
    for name, path in paths.items():
        for size, view in (("", WIDE), ("-phone", PHONE)):
            page = await browser.new_page(base_url=site.address, viewport=view)
            await page.goto(path)
            clip: FloatRect = {"x": 0, "y": 0, "width": view["width"], "height": 1400}
            picture = await page.screenshot(full_page=True, clip=clip)
            (PICTURES / f"{name}{size}.png").write_bytes(await asyncio.to_thread(thinned, picture))
            await page.close()
    ran = await site.home.beside("leaderboard", "--suite", "easy", "--json")
    print(json.dumps(ran.json, indent=1)[:3000])


async def picture_slack(site: Site, browser: Browser) -> None:
    """Take the picture of the thread of Slack's last run."""
    said = [one for one in site.slack.messages(CHANNEL) if one.payload.get("bot_id")]
    roots = [one for one in said if not one.thread_ts]
    threads = {root.ts: site.slack.thread(CHANNEL, root.ts) for root in roots}
    studio, last = Studio(browser), [ts for ts, under in threads.items() if under][-1]
    under = tuple(with_pictures(site.slack, line_of(site.slack, one)) for one in threads[last])
    await studio.take("leaderboard", Screen("models", under, is_thread=True), width=THREAD)
    print(*(root.text for root in roots), sep="\n")


def with_pictures(slack: FakeSlack, line: Line) -> Line:
    """Return the row with what its pictures show, as a client sees them."""
    contents = {file.id: file.content or b"" for file in slack.files}

    def seen(file: dict[str, object]) -> dict[str, object]:
        content = contents[str(file["id"])]
        if not str(file["name"]).endswith(".png"):
            return file
        return {**file, "picture": f"data:image/png;base64,{b64encode(content).decode()}"}

    files = line.payload.get("files")
    return replace(line, payload={**line.payload, "files": [*map(seen, files)]}) if files else line


async def picture_discord(site: Site) -> None:
    """Take the pictures of Discord's last run: its post with the news, and its thread."""
    said = site.discord.said_by_bot(CHANNEL)
    last = max(nth for nth, one in enumerate(said) if one.thread)
    in_thread = site.discord.thread_of(said[last]).said[:3]
    for name, messages, height in (("bakeoff", said[last:], 440), ("leaderboard", in_thread, 980)):
        sizes = (DISCORD_WIDE, height), (DISCORD_PHONE, height + 140)
        wide, phone = await drawn(messages, "models", *sizes)
        save(name, wide)
        save(f"{name}-phone", phone)
    print(*(one.text[:200] for one in said), sep="\n")


async def main(copy: Path | None = None) -> None:
    found = shutil.which("chromium")
    if not found:
        raise SystemExit("There is no chromium here: apt-get install chromium.")
    async with site() as place, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        await wait_for_runs(place, await create_schedules(place, browser))
        if copy:
            place.home.sql("VACUUM INTO ?", str(copy))
        await picture_page(place, browser)
        await picture_slack(place, browser)
        await browser.close()
        launched_as_here()
        await picture_discord(place)


if __name__ == "__main__":
    asyncio.run(main(*map(Path, sys.argv[1:2])))
