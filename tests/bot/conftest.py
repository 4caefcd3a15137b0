"""Sites for the program to run in, also with a stored round; plain tracebacks in logs."""

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
    """Return a site whose panel is scripted."""
    return Home(tmp_path).with_config(scripted_config()).with_tables()


@pytest.fixture(scope="session")
def shared_stored_round(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, str]:
    """Return a site with one closed round, and the round's id; only for reading."""
    home = Home(tmp_path_factory.mktemp("stored")).with_config(scripted_config()).with_tables()
    result = home.invoke("ask", "Which queue should we use?", "--seed", "s", "--json")
    return home, result.json["id"]


@pytest.fixture
def stored_round(shared_stored_round: tuple[Home, str], tmp_path: Path) -> tuple[Home, str]:
    """Return a copy of the site with a closed round, which a test may change, and the id."""
    original, round_id = shared_stored_round
    shutil.copytree(original.folder, tmp_path, dirs_exist_ok=True)
    return Home(tmp_path), round_id


@pytest.fixture
def other_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a second site, without rounds."""
    return Home(tmp_path_factory.mktemp("other")).with_config(scripted_config()).with_tables()
