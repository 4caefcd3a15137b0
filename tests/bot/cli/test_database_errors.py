"""A database that cannot be used is one sentence, and what is in it stays."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bot.homes import TIMEOUT_SECONDS, Home, Result, scripted_config

# The whole program, on a disk that holds so many pages of the database and no more.
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


def assert_one_sentence(ran: Result, said: str) -> None:
    assert (ran.code, ran.out) == (1, "")
    assert "Traceback" not in ran.err
    assert len(ran.lines) == 1
    assert said in ran.err


def on_a_full_disk(home: Home, pages: int, *arguments: str) -> Result:
    ran = subprocess.run(
        [sys.executable, "-c", FULL_DISK, *arguments],
        cwd=home.folder,
        env={**home.environment, "PAGES": str(pages)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    return Result(ran.returncode, ran.stdout, ran.stderr)


def test_a_database_of_a_newer_program_is_left_alone(held: tuple[Home, str]) -> None:
    home, _ = held
    home.sql("UPDATE alembic_version SET version_num = '9999'")
    home.sql("UPDATE compatible SET oldest = '9999'")

    ran = home.invoke("ask", "Why?")

    assert_one_sentence(ran, "belongs to a newer version of the program")
    assert home.sql("SELECT count(*) FROM round") == [(1,)]
    assert home.sql("SELECT version_num FROM alembic_version") == [("9999",)]


def test_a_data_folder_that_cannot_be_made_is_a_sentence(home: Home) -> None:
    (home.folder / "file").touch()

    ran = home.with_settings(COUNCIL_DATA_DIR=str(home.folder / "file" / "data")).invoke("rounds")

    assert_one_sentence(ran, "file")


def test_a_file_in_place_of_the_data_folder_is_a_sentence(home: Home) -> None:
    home.data.touch()

    ran = home.invoke("rounds")

    assert_one_sentence(ran, str(home.data))


def test_a_database_in_a_folder_that_is_not_there_is_a_sentence(home: Home) -> None:
    url = f"sqlite:///{home.folder}/nowhere/rounds.db"

    ran = home.with_settings(COUNCIL_DATABASE_URL=url).invoke("rounds")

    assert_one_sentence(ran, "check that its folder exists")


def test_a_file_that_is_no_database_is_a_sentence_and_stays_as_it_is(home: Home) -> None:
    home.data.mkdir()
    home.database.write_text("Dear diary, " * 1000, encoding="utf-8")

    ran = home.invoke("rounds")

    assert_one_sentence(ran, "is not one")
    assert home.database.read_text(encoding="utf-8") == "Dear diary, " * 1000


def test_a_folder_in_place_of_the_database_is_a_sentence(home: Home) -> None:
    home.database.mkdir(parents=True)

    assert_one_sentence(home.invoke("rounds"), "cannot be opened")


def test_a_full_disk_stops_the_round_in_a_sentence_and_keeps_what_was_saved(home: Home) -> None:
    home.invoke("db", "upgrade")
    [(pages,)] = home.sql("PRAGMA page_count")

    ran = on_a_full_disk(home, pages + 4, "ask", "Why? " * 1000, "--json")

    [(round_id,)] = home.sql("SELECT id FROM round")
    assert_one_sentence(ran, "The disk is full")
    assert round_id in ran.err
    again = home.invoke("ask", "--resume", round_id, "--json")
    assert (again.code, again.json["stage"]) == (0, "closed")
    assert home.invoke("verify", round_id).code == 0
