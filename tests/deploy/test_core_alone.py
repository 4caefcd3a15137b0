"""The program without some of its packages: what is left works, and links nowhere."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.bot.homes import Home, scripted_config
from tests.compatibility.product import CommandRunner, command_runner
from tests.deploy.core_alone import copy_without
from tests.deploy.environments import fresh_environment
from tests.deploy.running import answering
from tests.ports import free_port


@pytest.fixture(scope="module", params=[("bakeoffs", "research"), ("slack",)], ids="+".join)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment with a copy that lacks some packages."""
    folder = tmp_path_factory.mktemp("alone")
    copy_without(request.param, folder / "tree")
    return fresh_environment(folder / "environment", folder / "tree")


def run(runner: CommandRunner, home: Home, *words: str) -> str:
    ended = runner.run(home.folder, home.environment, *words)
    assert ended.code == 0, ended.err
    return ended.out


def links(page: str) -> Iterator[str]:
    """Yield the addresses on this site that a page links to."""
    for address in re.findall(r'(?:href|action)="(/[^"#?]*)', page):
        if not address.startswith("/static/"):
            yield address


async def test_a_round_is_asked_shown_verified_and_read_on_the_page(
    program: Path, tmp_path: Path
) -> None:
    port = free_port()
    home = Home(tmp_path, {"COUNCIL_PORT": str(port)}).with_config(scripted_config())

    with command_runner(program) as runner:
        asked = json.loads(run(runner, home, "ask", "Which queue should we use?", "--json"))
        shown = json.loads(run(runner, home, "show", asked["id"], "--json"))
        verified = run(runner, home, "verify", "--all")
        exported = run(runner, home, "export")
        run(runner, home, "doctor")
    serve = (str(program), "-m", "bot", "serve")
    async with (
        answering(serve, tmp_path, home.environment, port),
        httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60, follow_redirects=True
        ) as browser,
    ):
        pages = [(await browser.get(path)).text for path in ("/", f"/rounds/{asked['id']}")]
        linked = {path for page in pages for path in links(page)}
        statuses = {path: (await browser.get(path)).status_code for path in sorted(linked)}

    assert shown == asked
    assert "intact" in verified
    assert asked["id"] in exported
    assert {path for path, status in statuses.items() if status not in {200, 405}} == set()
    assert "/models" in statuses
