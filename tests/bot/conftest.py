"""A site for the program to run in."""

from pathlib import Path

import pytest

from tests.bot.homes import Home, scripted_config


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a site whose panel is scripted."""
    return Home(tmp_path).with_config(scripted_config()).with_tables()
