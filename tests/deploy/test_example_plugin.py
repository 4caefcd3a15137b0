"""The example plug-in, installed in a fresh environment, without a changed line in the product."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from aiohttp import web

from tests.bot.homes import Home, scripted_config
from tests.compatibility.product import CommandRunner, command_runner
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


def run(runner: CommandRunner, home: Home, *words: str) -> str:
    ended = runner.run(home.folder, home.environment, *words)
    assert ended.code == 0, ended.err
    return ended.out


def test_the_example_has_at_most_three_hundred_lines() -> None:
    files = [*EXAMPLE.rglob("*.py"), EXAMPLE / "pyproject.toml"]

    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= 300


def test_a_round_counts_by_its_method_and_a_bakeoff_grades_with_its_grader(
    program: Path, home: Home
) -> None:
    (home.folder / "haiku.csv").write_text(SUITE, encoding="utf-8")

    with command_runner(program) as runner:
        listed = json.loads(run(runner, home, "plugins", "--json"))
        asked = json.loads(run(runner, home, "ask", "Why?", "--method", "plurality", "--json"))
        verified = run(runner, home, "verify", asked["id"])
        run(runner, home, "suite", "add", "haiku", "haiku.csv", "--yes")
        bakeoff = json.loads(run(runner, home, "bakeoff", "run", "haiku", "--yes", "--json"))
        suite = run(runner, home, "suite", "show", "haiku")

    states = {one["name"]: (one["from"], one["state"]) for one in listed}
    assert states["example"] == ("council-example 1.0", "loaded")
    assert asked["method"] == "plurality"
    assert "unchanged since it closed" in verified
    assert "syllables" in suite
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
