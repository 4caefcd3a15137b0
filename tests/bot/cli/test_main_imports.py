"""Start-up: a command imports only the libraries, and our own modules, that it needs."""

import json
import subprocess
import sys

import pytest

from tests.bot.homes import TIMEOUT_SECONDS, Home

PRINT_WHAT_IS_LOADED = """
import sys
sys.argv = ["council", *sys.argv[1:]]
from council_entry_point import main
try:
    main()
finally:
    print("loaded:", *sys.modules, file=sys.stderr)
"""
MODELS = {"litellm", "openai", "httpx", "aiohttp", "tokenizers"}
CHATS = {"slack_bolt", "slack_sdk", "discord"}
SERVING = {"starlette", "uvicorn", "jinja2", "apscheduler", "croniter", "procrastinate", "psycopg"}
REPORTS = {"matplotlib", "scipy", "latex2mathml", "yaml"}
ARRAYS = {"numpy"}
DATABASE = {"sqlalchemy", "sqlmodel", "aiosqlite"}
OTHERS = {"alembic", "filelock", "pypdf", "cryptography", "opentelemetry", "mcp"}
EVERYTHING = MODELS | CHATS | SERVING | REPORTS | ARRAYS | DATABASE | OTHERS
SETTINGS = {"pydantic", "pydantic_settings", "structlog", "rich"}
# What MCP's library imports itself.
BY_MCP = {"mcp", "starlette", "uvicorn", "cryptography", "opentelemetry"}

# Of our own: what the plug-ins bring, the commands of chats, the page, the gateways to models.
BAKEOFF_REPORTS = ("bot.bakeoffs.render", "bot.bakeoffs.commands", "bot.bakeoffs.scheduler")
SERVED_PARTS = ("bot.web", "bot.slack.app", "bot.discord.app", "bot.commands.table", "bot.cluster")
LABORATORY = ("council.research", "storage.research", "bot.research.services")
STORED_BAKEOFFS = ("storage.bakeoffs", "council.bakeoffs", "bot.bakeoffs.service")
TO_MODELS = ("council.gateways.local.download", "council.gateways.litellm.transport")
APPLICATION = ("bot.bootstrap", "bot.context", "bot.runners", "storage.rounds")


def loaded_by(home: Home, *arguments: str) -> set[str]:
    return loaded_in(run(home, *arguments))


def run(home: Home, *arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PRINT_WHAT_IS_LOADED, *arguments],
        cwd=home.folder,
        env=home.environment,
        input=said,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=True,
    )


def loaded_in(ended: subprocess.CompletedProcess[str]) -> set[str]:
    loaded = ended.stderr.splitlines()[-1].split()
    assert loaded[0] == "loaded:"
    return {*loaded[1:]}


def libraries(loaded: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in loaded}


def own(loaded: set[str], *packages: str) -> list[str]:
    """Return which of these modules are loaded, or of the modules in these packages."""
    starts = tuple(f"{package}." for package in packages)
    return sorted(name for name in loaded if f"{name}.".startswith(starts))


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_import_neither_settings_nor_database(home: Home, argument: str) -> None:
    loaded = loaded_by(home, argument)

    assert libraries(loaded) & (EVERYTHING | SETTINGS) == set()
    assert own(loaded, "storage", "bot.settings", *APPLICATION) == []


@pytest.mark.parametrize(
    "arguments",
    [("rounds", "--json"), ("rounds",), ("show", "last", "--json"), ("verify", "--all")],
    ids=" ".join,
)
def test_reading_stored_rounds_imports_no_model_server_or_report(
    stored_round: tuple[Home, str], arguments: tuple[str, ...]
) -> None:
    needed = DATABASE | (ARRAYS if arguments[0] == "verify" else set())

    loaded = loaded_by(stored_round[0], *arguments)

    assert libraries(loaded) & EVERYTHING == needed
    assert own(loaded, *BAKEOFF_REPORTS, *SERVED_PARTS, *TO_MODELS) == []
    if arguments[0] != "verify":  # it checks the numbers of leaderboards
        assert own(loaded, *LABORATORY, *STORED_BAKEOFFS) == []


@pytest.mark.parametrize("arguments", [("ask", "Why?", "--json"), ("ask", "Why?")], ids=" ".join)
def test_a_question_to_scripted_models_imports_no_library_of_models(
    home: Home, arguments: tuple[str, ...]
) -> None:
    loaded = loaded_by(home, *arguments)

    assert libraries(loaded) & EVERYTHING == DATABASE | ARRAYS
    assert own(loaded, *BAKEOFF_REPORTS, *SERVED_PARTS, *LABORATORY, *TO_MODELS) == []


def test_the_doctor_imports_no_library_of_models(home: Home) -> None:
    assert libraries(loaded_by(home, "doctor")) & {"litellm", "openai", "matplotlib"} == set()


def test_listing_tools_over_mcp_opens_nothing(home: Home) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]

    ended = run(home, "mcp", said="".join(f"{json.dumps(one)}\n" for one in messages))

    [listed] = [line for line in map(json.loads, ended.stdout.splitlines()) if line.get("id") == 2]
    assert "ask_council" in [tool["name"] for tool in listed["result"]["tools"]]
    loaded = loaded_in(ended)
    assert libraries(loaded) & EVERYTHING <= BY_MCP
    parts = (*BAKEOFF_REPORTS, *SERVED_PARTS, *LABORATORY, *STORED_BAKEOFFS, *TO_MODELS)
    assert own(loaded, *parts, *APPLICATION) == []


def test_the_library_imports_what_it_runs_when_it_is_called(home: Home) -> None:
    program = "import sys\nfrom council import ask, rank\nprint(*sys.modules)"

    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=home.folder,
        env=home.environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=True,
    )

    loaded = {*ran.stdout.split()}
    assert libraries(loaded) & (EVERYTHING | SETTINGS | {"typer", "bot", "storage"}) == set()
    assert own(loaded, "council.pipeline", "council.prompts", "council.gateways") == []
