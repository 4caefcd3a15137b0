"""How quick a bake-off's matrix is: its page, the rows it loads as needed, and its JSON.

Two runs of one suite, drawn at random: better models are right more often and rank higher.
`--pictures FOLDER` also takes pictures of the page, with Debian's chromium.
"""

import argparse
import asyncio
import json
import random
import shutil
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from playwright.async_api import Browser, ViewportSize, async_playwright

from council.answers import Answer, Prompt, Reply
from council.bakeoffs.bias.vote_arrays import pack_votes
from council.bakeoffs.bias.votes import build_votes
from council.bakeoffs.models import Bakeoff, Ending, Grading, Reference, Suite, SuiteQuestion
from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import build_record
from council.ballots import Ballot
from council.labels import Slate
from council.panel import Panel
from council.places import Place
from council.round_rules import compute_draw
from council.rounds import Closing, Question, Round, Synthesis
from storage.bakeoffs.bakeoffs import SqlBakeoffs, SqlSuites
from storage.bakeoffs.records import SqlRecords, sql_votes
from storage.engine import open_engine
from storage.migrate import upgrade
from storage.rounds import SqlRoundStore
from tests.bot.homes import Home, panel_toml, seat_toml
from tests.bot.web.browser.product import serve_product
from tests.builders import KEYS, NAMES, TERMS, a_panel, with_ballots

PAGE = Place("web", channel="web:1", private=False)
START = datetime(2026, 11, 2, 9, tzinfo=UTC)
CATEGORIES = ("joins", "windows", "dates", "")
TOPICS = ("Which rows does this join return", "How many days are in this window", "What is the sum")
SIZES: dict[str, ViewportSize] = {
    "": {"width": 1280, "height": 1000},
    "-dark": {"width": 1280, "height": 1000},
    "-phone": {"width": 360, "height": 1260},
}


def a_suite_of(questions: int, *, graded: bool) -> Suite:
    """Return a suite whose right answers are numbers."""
    asked = (
        SuiteQuestion(
            f"{TOPICS[n % 3]}, given table {n} of the shop and the orders of one month?",
            CATEGORIES[n % 4],
            Reference(Grading.NUMBER, str(n)) if graded else None,
        )
        for n in range(questions)
    )
    return Suite("sql", tuple(asked))


def a_run(suite: Suite, panel: Panel, nth: int) -> Bakeoff:
    at = START + timedelta(days=7 * nth)
    return Bakeoff(f"bo:{nth:010x}", suite, panel, PAGE, "web:1", at, ending=Ending(at))


def a_finished_round(bakeoff: Bakeoff, number: int, chance: random.Random) -> Round:
    """Return a closed round: the first members of the panel are the best."""
    asked, members = bakeoff.suite.questions[number - 1], bakeoff.panel.members
    right = {seat.key: chance.random() < 0.9 - 0.07 * n for n, seat in enumerate(members)}
    noise = {seat.key: chance.gauss(0, 0.4) - 0.08 * n for n, seat in enumerate(members)}
    round_ = Round(
        bakeoff.round_id(number),
        Question(asked.text, bakeoff.asked_by, asked.context, bakeoff.place),
        bakeoff.panel,
        bakeoff.seed(number),
        bakeoff.at + timedelta(seconds=20 * number),
        bakeoff=bakeoff.id,
    )
    if chance.random() < 0.02:
        return round_.with_(Closing(60.0, "No model answered in 60 s."))
    answers = (
        Answer(
            seat.key,
            Prompt("system", "user"),
            Reply(
                f"I count the rows first. Answer: {number - 1 if right[seat.key] else number + 3}",
                tokens_in=200,
                tokens_out=chance.randint(20, 300),
                cost_usd=0.004 / (n + 1),
                seconds=2 + n + chance.random(),
            ),
        )
        for n, seat in enumerate(members)
    )
    round_ = replace(round_, answers=tuple(answers))
    draw = compute_draw(round_)

    def vote(slate: Slate) -> str:
        def worth(letter: str) -> float:
            author = draw.labels.author_of(slate.label_at(letter))
            return right[author] + noise[author] + chance.gauss(0, 0.5)

        return " ".join(sorted(slate.letters, key=worth, reverse=True))

    ranked = with_ballots(round_, vote)
    ranked = replace(ranked, ballots=tuple(map(_priced, ranked.ballots)))
    best = max(right, key=lambda key: right[key] + noise[key])
    value = number - 1 if right[best] else number + 3
    text = f"The table shows it. Answer: {value}"
    reply = Reply(text, cost_usd=0.01, seconds=4.0)
    return ranked.with_(Synthesis(text, members[0].key, reply=reply)).with_(Closing(21.0))


def _priced(ballot: Ballot) -> Ballot:
    assert ballot.paper
    reply = replace(ballot.paper.reply, cost_usd=0.002)
    return replace(ballot, paper=replace(ballot.paper, reply=reply))


async def fill(home: Home, runs: list[Bakeoff]) -> None:
    """Store finished bake-offs and the records of their rounds."""
    home.data.mkdir(exist_ok=True)
    engine = open_engine(f"sqlite+aiosqlite:///{home.database}")
    await upgrade(engine)
    rounds, bakeoffs = SqlRoundStore(engine), SqlBakeoffs(engine)
    for bakeoff in runs:
        chance = random.Random(bakeoff.id)
        await SqlSuites(engine).save(bakeoff.suite, bakeoff.asked_by, bakeoff.at)
        await bakeoffs.open(bakeoff)
        for number in range(1, len(bakeoff.suite.questions) + 1):
            round_ = a_finished_round(bakeoff, number, chance)
            await rounds.open(round_)
            record = pack_record(build_record(round_, bakeoff))
            await SqlRecords(engine).save([record])
            await sql_votes(engine).save([pack_votes(build_votes(round_), record)])
    await engine.dispose()


def config(members: int) -> str:
    """Return a council.toml whose panel has the members of the runs."""
    keys = KEYS[:members]
    seats = (seat_toml(key, model="scripted/random", display=NAMES[key]) for key in keys)
    return panel_toml(keys) + "".join(seats)


async def timed_page(client: httpx.AsyncClient, path: str, times: int = 5) -> str:
    """Return the first and the fastest later time of a page, and its size."""
    took, size = list[float](), 0.0
    for _ in range(times):
        started = time.perf_counter()
        response = await client.get(path)
        took.append(time.perf_counter() - started)
        size = len(response.raise_for_status().content) / 1000
    return f"first {took[0]:.2f} s, then {min(took[1:]):.2f} s, {size:.0f} KB"


def timed_command(home: Home, *arguments: str) -> str:
    started = time.perf_counter()
    ran = home.council(*arguments, fresh=True)
    seconds = time.perf_counter() - started
    if ran.code:
        raise RuntimeError(ran.err or ran.out)
    return f"{seconds:.2f} s, {len(json.loads(ran.out)['cells'])} cells, {len(ran.out) // 1000} KB"


async def measure(questions: int, members: int, pictures: Path | None, *, graded: bool) -> None:
    panel, suite = a_panel(members, terms=TERMS), a_suite_of(questions, graded=graded)
    runs = [a_run(suite, panel, nth) for nth in range(2)]
    with TemporaryDirectory(prefix="council-bench-") as folder:
        home = Home(Path(folder)).with_config(config(members))
        await fill(home, runs)
        async with serve_product(home, fresh=True) as product:
            path = f"/bakeoffs/{runs[1].id}"
            async with httpx.AsyncClient(base_url=product.address, trust_env=False) as client:
                for what, address in (
                    ("page", path),
                    ("page, compared", f"{path}?against={runs[0].id}"),
                    ("changed rows", f"{path}?show=changed"),
                    ("next rows", f"{path}/rows?from=101"),
                    ("a cell", f"{path}/cells/2/0"),
                ):
                    print(f"{what:<18}{await timed_page(client, address)}", flush=True)
            if pictures:
                await take_pictures(product.address, path, pictures)
        shown = ("bakeoff", "show", runs[1].id, "--json")
        print(f"{'show --json':<18}{await asyncio.to_thread(timed_command, home, *shown)}")


async def take_pictures(address: str, path: str, folder: Path) -> None:
    """Take the matrix, a comparison, one answer, the leaderboard and the bias page."""
    found = shutil.which("chromium")
    if not found:
        raise SystemExit("There is no chromium here: apt-get install chromium.")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        for name, page in (
            ("matrix", path),
            ("matrix-against", f"{path}?show=changed"),
            ("matrix-cell", f"{path}/cells/2/0"),
            ("board", "/leaderboard?suite=sql"),
            ("board-judges", "/leaderboard?suite=sql&as=judge"),
            ("bias-page", "/bias"),
        ):
            for kind in SIZES:
                await take_picture(browser, address + page, folder / f"{name}{kind}.png", kind)
        await browser.close()


async def take_picture(browser: Browser, address: str, file: Path, kind: str) -> None:
    page = await browser.new_page(viewport=SIZES[kind], locale="en-GB")
    await page.emulate_media(color_scheme="dark" if kind == "-dark" else "light")
    await page.goto(address)
    await page.screenshot(path=file, full_page=True)
    wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        print(f"{file.name}: {wide} pixels are cut off")
    await page.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.matrix", description=__doc__)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--ungraded", action="store_true", help="questions without references")
    parser.add_argument("--pictures", type=Path, help="the folder to put pictures into")
    wanted = parser.parse_args()
    print(f"{wanted.questions} questions, {wanted.members} models; aim: page under 1 s and 300 KB")
    asyncio.run(
        measure(wanted.questions, wanted.members, wanted.pictures, graded=not wanted.ungraded)
    )


if __name__ == "__main__":
    main()
