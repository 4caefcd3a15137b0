"""A package that is not installed is named with the extra that brings it."""

import subprocess
import sys

import pytest

from bot.extras import EXTRAS, missing_extra
from tests.bot.homes import Home, scripted_config

# Runs the program as if these packages were not installed.
WITHOUT = """
import sys
for name in {names!r}:
    sys.modules[name] = None
from bot.__main__ import main
main()
"""


def run_without(home: Home, *arguments: str, names: tuple[str, ...] = tuple(EXTRAS)) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(names=names), *arguments],
        cwd=home.folder,
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_the_core_asks_and_shows_without_any_extra(home: Home) -> None:
    home.with_config(scripted_config())

    assert "Results" in run_without(home, "ask", "Why?", "--full")
    assert "database" in run_without(home, "doctor")


@pytest.mark.parametrize(
    ("command", "settings", "extra"),
    [
        ("serve", {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}, "slack"),
        ("serve", {"DISCORD_TOKEN": "abc"}, "discord"),
        ("rounds", {"COUNCIL_DATABASE_URL": "postgresql://127.0.0.1:1/x"}, "postgres"),
    ],
)
def test_what_needs_an_extra_says_which(
    home: Home, command: str, settings: dict[str, str], extra: str
) -> None:
    if command == "serve":
        pytest.importorskip(f"bot.{extra}")
    home.with_config(scripted_config())
    wanted = tuple(name for name, one in EXTRAS.items() if one == extra)

    said = run_without(home.with_settings(**settings), command, names=wanted)

    assert f"pip install 'council-bot[{extra}]'" in said


def test_a_bug_is_not_taken_for_a_missing_extra() -> None:
    assert missing_extra(ModuleNotFoundError("No module named 'bot.nothing'", name="bot.x")) is None
