"""The program without some of its packages: what is left works, and links nowhere."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.bot.homes import Home, scripted_config
from tests.deploy.core_alone import copy_without
from tests.deploy.environments import fresh_environment
from tests.deploy.running import answering
from tests.ports import free_port

SECONDS = 120


@pytest.fixture(scope="module", params=[("bakeoffs", "research"), ("slack",)], ids="+".join)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment with a copy that lacks some packages."""
    folder = tmp_path_factory.mktemp("alone")
    copy_without(request.param, folder / "tree")
    return fresh_environment(folder / "environment", folder / "tree")


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

    asked = json.loads(run(program, home, "ask", "Which queue should we use?", "--json"))
    shown = json.loads(run(program, home, "show", asked["id"], "--json"))
    verified = run(program, home, "verify", "--all")
    exported = run(program, home, "export")
    run(program, home, "doctor")
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
    assert "/panels" in statuses
