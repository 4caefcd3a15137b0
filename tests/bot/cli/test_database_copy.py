"""`council db copy`: from SQLite to Postgres and back, checked round by round."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url

from bot.cli.database import WRONG_BEFORE
from tests.bot.homes import Home
from tests.bot.runners.test_local import got, other
from tests.plugin_modules import modules_at
from tests.postgres import Server

SECRET = "hunter2"


@pytest.fixture
def full(stored_round: tuple[Home, str]) -> tuple[Home, str]:
    """Return a home with rounds, one of them forgotten, and with what plug-ins store."""
    home, round_id = stored_round
    gone = home.invoke("ask", "And how?", "--json").json["id"]
    assert home.invoke("forget", "--yes", gone).code == 0
    for plugin in modules_at("tests/bot/*/cli/stored_examples.py"):
        plugin.store_examples(home)
    return home, round_id


@pytest.fixture
def served(migrated_url: str) -> str:
    """Return the URL of an empty database with a password, as people write it."""
    url = make_url(migrated_url).set(drivername="postgresql", password=SECRET)
    return url.render_as_string(hide_password=False)


def test_everything_is_copied_to_a_server_and_back(full: tuple[Home, str], served: str) -> None:
    home, round_id = full
    before = dump(home.database)
    file = home.folder / "back.db"

    there = home.invoke("db", "copy", served)
    again = home.invoke("db", "copy", served)
    back = home.invoke("db", "copy", served, str(file))

    assert ([one.code for one in (there, again, back)], there.err) == ([0, 1, 0], "")
    assert "2 of 2 rounds equal in both, and verified." in there.out
    assert "The main hash chain is intact: 2 links" in there.out
    assert SECRET not in "".join(one.out + one.err for one in (there, again, back))
    assert dump(home.database) == before
    copy = home.with_settings(COUNCIL_DATABASE_URL=served)
    for words in (("rounds",), ("verify", "--all"), ("show", round_id)):
        assert copy.invoke(*words).out == home.invoke(*words).out
    exported = home.invoke("export").out
    assert copy.invoke("export").out == exported
    copy_back = home.with_settings(COUNCIL_DATABASE_URL=f"sqlite:///{file}")
    assert copy_back.invoke("export").out == exported


def test_a_wrong_round_is_named_and_copied_as_it_is(full: tuple[Home, str], served: str) -> None:
    home, round_id = full
    unreadable = home.invoke("ask", "Why?", "--json").json["id"]
    home.sql("UPDATE ballot SET reason = 'No.' WHERE judge = 'north' AND round_id = ?", round_id)
    home.sql("UPDATE verdict SET strength = 'bogus' WHERE round_id = ?", unreadable)

    result = home.invoke("db", "copy", served)

    assert result.code == 1
    assert f"Round {round_id}: differs in ballots[north].reason" in result.out
    assert f"Round {unreadable}: Round {unreadable!r} has invalid values" in result.out
    assert result.out.count(WRONG_BEFORE) == 2
    assert "1 of 3 rounds equal in both, and verified." in result.out
    assert home.with_settings(COUNCIL_DATABASE_URL=served).invoke("verify", round_id).code == 1


def test_a_database_with_rounds_is_no_target(full: tuple[Home, str], served: str) -> None:
    home, _ = full
    moved = home.with_settings(COUNCIL_DATABASE_URL=served)
    moved.invoke("ask", "Is anybody there?")

    result = home.invoke("db", "copy", served)

    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("The target database already holds 1 round, so nothing was")
    assert len(moved.invoke("rounds", "--json").json) == 1


def test_a_file_in_use_is_not_copied(full: tuple[Home, str], served: str) -> None:
    home, _ = full
    with other(home.database.with_name("council.db.lock"), "chat web") as serving:
        assert got(serving)

        result = home.invoke("db", "copy", served)

        serving.kill()
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"Another program is using {home.database}. Stop it first")


def test_a_server_in_use_is_no_target(
    full: tuple[Home, str], served: str, postgres: Server
) -> None:
    home, _ = full
    import psycopg

    with psycopg.connect(f"{served}?application_name=council"):
        result = home.invoke("db", "copy", served)

    assert result.code == 1
    assert result.err.startswith("Another program is using the server's database. Stop it first")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param((), "Name the database to copy into", id="nothing"),
        pytest.param(("a.db", "b.db", "--to", "c.db"), "Name the database to copy", id="three"),
        pytest.param(("nowhere.db", "new.db"), "There is no database at", id="no-such-file"),
        pytest.param(("mysql://x/y",), "it must start with sqlite:/// or postgresql://", id="kind"),
        pytest.param(("data/council.db",), "cannot be copied into itself", id="itself"),
    ],
)
def test_bad_usage_exits_with_2_and_copies_nothing(
    home: Home, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    home.invoke("db", "upgrade")
    monkeypatch.chdir(home.folder)

    result = home.invoke("db", "copy", *words)

    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert not Path("nowhere.db").exists()


def test_an_unreachable_server_is_reported_without_its_password(home: Home) -> None:
    home.invoke("db", "upgrade")

    result = home.invoke("db", "copy", f"postgresql://council:{SECRET}@127.0.0.1:1/council")

    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Can't reach the database server")
    assert SECRET not in result.err


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [*connection.iterdump()]
