"""Homes for the program, empty and with a stored round; plain tracebacks in logs."""

import shutil
from pathlib import Path

import pytest
import structlog

from tests.bot.homes import Home, scripted_config

# The default renderer takes seconds for a traceback: it shows the local variables of each frame.
PLAIN = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], PLAIN])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a home whose panel is scripted."""
    return Home(tmp_path).with_config(scripted_config()).with_tables()


@pytest.fixture(scope="session")
def held_home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, str]:
    """Return a home with one stored round, and the round's id; not to be changed."""
    held = Home(tmp_path_factory.mktemp("held")).with_config(scripted_config()).with_tables()
    ran = held.invoke("ask", "Which queue should we use?", "--seed", "s", "--json")
    return held, str(ran.json["id"])


@pytest.fixture
def held(held_home: tuple[Home, str], tmp_path: Path) -> tuple[Home, str]:
    """Return a copy of the home with a stored round, to be changed, and the round's id."""
    original, round_id = held_home
    shutil.copytree(original.folder, tmp_path, dirs_exist_ok=True)
    return Home(tmp_path), round_id
