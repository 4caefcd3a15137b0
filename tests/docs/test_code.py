"""The Python and the curl lines in the documents run as printed, without a network and a key.

Python also passes mypy in strict mode and pyright (basedpyright is pyright with its Node).
"""

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from tests.bot.homes import Home, scripted_config
from tests.bot.web.browser.product import serve_product
from tests.docs.snippets import ROOT, Snippet, checked
from tests.docs.test_commands import SHELL, shell_lines

PAGE, KEY = "http://127.0.0.1:8765", "council_laptop.…"
PYTHON = checked("python")
CURL = re.compile(r"\bcurl\b")
PYRIGHT = {"include": ["."], "extraPaths": [str(ROOT)], "typeCheckingMode": "standard"}


@pytest.mark.parametrize(
    "snippet", [one for one in PYTHON if PAGE not in one.text], ids=lambda one: one.where
)
def test_the_code_runs_and_prints(snippet: Snippet, tmp_path: Path) -> None:
    run_code(snippet, snippet.text, tmp_path)


def run_code(snippet: Snippet, code: str, folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, ""), snippet.where
    assert ran.stdout


# --- What asks the product, with one server for all


async def test_requests_of_the_documents_are_answered(tmp_path: Path) -> None:
    home = Home(tmp_path).with_config(scripted_config())
    async with serve_product(home) as product:
        for snippet in PYTHON:
            if PAGE in snippet.text:
                code = snippet.text.replace(PAGE, product.address).replace(KEY, "unused")
                await asyncio.to_thread(run_code, snippet, code, tmp_path)
        for snippet in checked(*SHELL):
            for line in filter(CURL.search, shell_lines(snippet)):
                assert 0 < line.count("://") == line.count(PAGE), f"{snippet.where}: ask {PAGE}"
                if not which("curl"):
                    pytest.skip("curl is not installed")
                request = line.replace(PAGE, product.address)
                status, reply = await asyncio.to_thread(run_curl, request, tmp_path)
                check_reply(f"{snippet.where}: {line}", status, reply, output_of(snippet, line))


def run_curl(line: str, folder: Path) -> tuple[int, str]:
    """Run a shell line with curl, with any text in its variables; return status and reply."""
    variables = dict.fromkeys(re.findall(r"\$\{?([A-Z][A-Z_]*)", line), "unused")
    script = f"curl() {{ command curl -sS -w '\\n%{{http_code}}' \"$@\"; }}\n{line}"
    ran = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), line
    reply, _, status = ran.stdout.rpartition("\n")
    return int(status), reply


def output_of(snippet: Snippet, line: str) -> str:
    """Return the line that a `console` block prints below a command; "" if none."""
    commands = [*shell_lines(snippet), ""]
    after = snippet.text.replace("\\\n", " ").splitlines()
    shown = dict(
        zip((one.removeprefix("$ ").strip() for one in after), [*after[1:], ""], strict=True)
    )
    found = shown.get(line, "") if snippet.language == "console" else ""
    return "" if found.removeprefix("$ ").strip() in commands else found


def check_reply(where: str, status: int, reply: str, shown: str) -> None:
    """Check that a reply is no error, or the kind of error that the document shows."""
    is_error = shown.startswith('{"error"')
    assert (status >= 400) == is_error, f"{where}: {status} {reply}"
    code = re.search(r'"code":"(\w+)"', shown)
    if shown.startswith("{"):
        first = next(iter(json.loads(reply)))
        assert shown.startswith(f'{{"{first}"'), f"{where}: {reply}"
        assert not code or f'"{code[1]}"' in reply, f"{where}: {reply}"


# --- Types


@pytest.fixture(scope="module")
def folder_of_snippets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a module for each block."""
    folder = tmp_path_factory.mktemp("snippets")
    for snippet in PYTHON:
        (folder / f"{snippet.module}.py").write_text(snippet.text, encoding="utf-8")
    return folder


def test_code_passes_mypy(folder_of_snippets: Path) -> None:
    options = ["--config-file=", "--strict", "--follow-imports=silent", "--cache-dir=.cache"]
    files = sorted(path.name for path in folder_of_snippets.glob("*.py"))

    ran = run_checker(folder_of_snippets, "mypy", *options, *files)

    assert ran.returncode == 0, ran.stdout
    assert f"{len(PYTHON)} source files" in ran.stdout


def test_code_passes_pyright(folder_of_snippets: Path) -> None:
    (folder_of_snippets / "pyrightconfig.json").write_text(json.dumps(PYRIGHT), encoding="utf-8")

    ran = run_checker(
        folder_of_snippets, "basedpyright", "--outputjson", "--pythonpath", sys.executable
    )

    summary = json.loads(ran.stdout)["summary"]
    assert ran.returncode == 0, ran.stdout
    assert summary["filesAnalyzed"] == len(PYTHON)


def run_checker(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
