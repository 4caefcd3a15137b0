"""A site for the program to run in; plain tracebacks in logs."""

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
