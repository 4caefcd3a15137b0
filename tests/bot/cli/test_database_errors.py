"""A database that cannot be used is one line on stderr, and is not changed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bot.homes import TIMEOUT_SECONDS, Home, Result, scripted_config

# The whole program, on a disk with room for so many pages of the database.
FULL_DISK = """
import os, sys
from sqlalchemy import Engine, event

@event.listens_for(Engine, "connect")
def limit(connection, _):
    connection.execute(f"PRAGMA max_page_count = {os.environ['PAGES']}").close()

sys.argv = ["council", *sys.argv[1:]]
from bot.__main__ import main
main()
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a home without a database."""
    return Home(tmp_path).with_config(scripted_config())


def assert_one_line(result: Result, message: str) -> None:
    assert (result.code, result.out) == (1, "")
    assert "Traceback" not in result.err
    assert len(result.lines) == 1
    assert message in result.err


def on_a_full_disk(home: Home, pages: int, *arguments: str) -> Result:
    result = subprocess.run(
        [sys.executable, "-c", FULL_DISK, *arguments],
        cwd=home.folder,
        env={**home.environment, "PAGES": str(pages)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    return Result(result.returncode, result.stdout, result.stderr)


def test_a_database_of_a_newer_version_is_not_changed(stored_round: tuple[Home, str]) -> None:
    home, _ = stored_round
    home.sql("UPDATE alembic_version SET version_num = '9999'")
    home.sql("UPDATE compatible SET oldest = '9999'")

    result = home.invoke("ask", "Why?")

    assert_one_line(result, "belongs to a newer version of the program")
    assert home.sql("SELECT count(*) FROM round") == [(1,)]
    assert home.sql("SELECT version_num FROM alembic_version") == [("9999",)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"COUNCIL_DATA_DIR": "file/data"}, "file"),
        ({"COUNCIL_DATA_DIR": "file"}, "file"),
        (
            {"COUNCIL_DATABASE_URL": "sqlite:///nowhere/rounds.db"},
            "Check that its folder exists and is writable",
        ),
        ({"COUNCIL_DATABASE_URL": "sqlite:///folder"}, "The database file can't be opened"),
    ],
)
def test_a_folder_or_a_file_in_the_wrong_place_is_reported(
    home: Home, settings: dict[str, str], message: str
) -> None:
    (home.folder / "file").touch()
    (home.folder / "folder").mkdir()

    assert_one_line(home.with_settings(**settings).invoke("rounds"), message)


def test_a_file_that_is_no_database_is_reported_and_not_changed(home: Home) -> None:
    home.data.mkdir()
    home.database.write_text("Dear diary, " * 1000, encoding="utf-8")

    result = home.invoke("rounds")

    assert_one_line(result, "The database file is not a database")
    assert home.database.read_text(encoding="utf-8") == "Dear diary, " * 1000


def test_a_full_disk_stops_the_round_and_keeps_what_was_saved(home: Home) -> None:
    home.invoke("db", "upgrade")
    [(pages,)] = home.sql("PRAGMA page_count")

    result = on_a_full_disk(home, pages + 4, "ask", "Why? " * 1000, "--json")

    [(round_id,)] = home.sql("SELECT id FROM round")
    assert_one_line(result, "The disk is full")
    assert round_id in result.err
    again = home.invoke("ask", "--resume", round_id, "--json")
    assert (again.code, again.json["stage"]) == (0, "closed")
    assert home.invoke("verify", round_id).code == 0
