"""Sites with a stored round, and a second site to import into."""

import shutil
from pathlib import Path

import pytest

from tests.bot.homes import Home, scripted_config


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
