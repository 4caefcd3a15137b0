"""The example plug-in, installed in a fresh environment, without a changed line in the product."""

import asyncio
import json
import subprocess
from pathlib import Path

import httpx
import pytest
from aiohttp import web

from tests.bot.homes import Home, scripted_config
from tests.deploy.environments import fresh_environment, install
from tests.deploy.running import answering
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "plugin"
ENABLED = '\n[plugins]\nenabled = ["example"]\n'
SUITE = "question,answer,grading\nWrite a haiku about queues.,5 7 5,syllables\n"
SECONDS = 180


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment in which the example is installed."""
    folder = tmp_path_factory.mktemp("example")
    python = fresh_environment(folder / "environment", ROOT)
    install(python, EXAMPLE, folder)
    return python


@pytest.fixture
def home(tmp_path: Path) -> Home:
    settings = {"COUNCIL_PORT": str(free_port()), "WEBHOOK_TOKEN": "a-token"}
    return Home(tmp_path, settings).with_config(scripted_config() + ENABLED)


def run(program: Path, home: Home, *words: str) -> str:
    ended = subprocess.run(
        [program, "-m", "bot", *words],
        cwd=home.folder,
        env=home.environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_example_has_at_most_three_hundred_lines() -> None:
    files = [*EXAMPLE.rglob("*.py"), EXAMPLE / "pyproject.toml"]

    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= 300


def test_a_round_counts_by_its_method_and_a_bakeoff_grades_with_its_grader(
    program: Path, home: Home
) -> None:
    (home.folder / "haiku.csv").write_text(SUITE, encoding="utf-8")

    listed = json.loads(run(program, home, "plugins", "--json"))
    asked = json.loads(run(program, home, "ask", "Why?", "--method", "plurality", "--json"))
    verified = run(program, home, "verify", asked["id"])
    run(program, home, "suite", "add", "haiku", "haiku.csv", "--yes")
    bakeoff = json.loads(run(program, home, "bakeoff", "run", "haiku", "--yes", "--json"))

    states = {one["name"]: (one["from"], one["state"]) for one in listed}
    assert states["example"] == ("council-example 1.0", "loaded")
    assert asked["method"] == "plurality"
    assert "unchanged since it closed" in verified
    assert "syllables" in run(program, home, "suite", "show", "haiku")
    assert {cell["grade"] for cell in bakeoff["cells"]} == {False}  # no answer is a haiku


async def test_a_question_by_webhook_is_answered_at_an_address(program: Path, home: Home) -> None:
    posted: asyncio.Queue[dict[str, str]] = asyncio.Queue()

    async def receive(request: web.Request) -> web.Response:
        await posted.put(await request.json())
        return web.Response()

    receiver = web.Application()
    receiver.router.add_post("/posts", receive)
    runner = web.AppRunner(receiver)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    home = home.with_settings(WEBHOOK_URL=f"http://127.0.0.1:{port}/posts")
    own_port = int(home.settings["COUNCIL_PORT"])
    serve = (str(program), "-m", "bot", "serve")
    question = {"id": "1", "from": "Ada", "text": "Which queue should we use?"}
    async with (
        answering(serve, home.folder, home.environment, own_port),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{own_port}", trust_env=False) as client,
    ):
        refused = await client.post("/webhook", json=question)
        allowed = {"Authorization": "Bearer a-token"}
        async with asyncio.timeout(SECONDS):
            while (await client.post("/webhook", json=question, headers=allowed)).is_error:
                await client.get("/readyz")
            texts = [(await posted.get())["markdown"]]
            while "Results" not in texts[-1] and "Rank" not in texts[-1]:
                texts.append((await posted.get())["markdown"])
    await runner.cleanup()

    assert refused.status_code == 401
    assert any("Which queue should we use?" in text or "Best" in text for text in texts)
