"""Start-up: commands import slow libraries only if they need them."""

import subprocess
import sys

import pytest

from tests.bot.homes import TIMEOUT_SECONDS, Home

ASK_WHAT_IS_LOADED = """
import sys
sys.argv = ["council", *sys.argv[1:]]
from bot.__main__ import main
try:
    main()
except SystemExit:
    pass
slow = {"litellm", "openai", "alembic", "sqlalchemy", "numpy", "rich", "pydantic", "matplotlib"}
print("loaded:", *sorted(slow & sys.modules.keys()))
"""


def loaded_by(home: Home, *arguments: str) -> set[str]:
    result = subprocess.run(
        [sys.executable, "-c", ASK_WHAT_IS_LOADED, *arguments],
        cwd=home.folder,
        env=home.environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=True,
    )
    return set(result.stdout.splitlines()[-1].split()[1:])


def test_help_imports_nothing_slow(home: Home) -> None:
    assert not loaded_by(home, "--help") & {"litellm", "openai", "sqlalchemy", "numpy"}


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("ask", "Why?", "--json"), id="ask"),
        pytest.param(("rounds",), id="rounds"),
        pytest.param(("doctor",), id="doctor"),
    ],
)
def test_no_command_imports_a_library_that_it_does_not_need(
    home: Home, arguments: tuple[str, ...]
) -> None:
    assert not loaded_by(home, *arguments) & {"litellm", "openai", "matplotlib"}
