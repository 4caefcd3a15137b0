"""`council db copy`: from SQLite to Postgres and back, checked round by round."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tests.bot.cli.test_data_export_bakeoffs import benched, one_of_each
from tests.bot.homes import Home
from tests.bot.runners.test_local_claims import got, other
from tests.postgres import Server

SECRET = "hunter2"


@pytest.fixture
def full(held: tuple[Home, str]) -> tuple[Home, str]:
    """Return a home with rounds, one of them forgotten, and with a bake-off, suite and schedule."""
    home, round_id = held
    gone = home.invoke("ask", "And how?", "--json").json["id"]
    assert home.invoke("forget", gone).code == 0
    benched(home, one_of_each)
    return home, round_id


@pytest.fixture
def served(migrated_url: str) -> str:
    """Return the URL of an empty database with a password, as people write it."""
    url = make_url(migrated_url).set(drivername="postgresql", password=SECRET)
    return url.render_as_string(hide_password=False)


def test_everything_is_copied_and_the_copy_is_used_by_one_setting(
    full: tuple[Home, str], served: str
) -> None:
    home, round_id = full

    ran = home.invoke("db", "copy", served)

    assert (ran.code, ran.err) == (0, "")
    *_, last = ran.out.splitlines()
    assert "2 rounds: each is equal in both, and as recomputed." in ran.out
    assert "The chain of the house is whole: 2 links" in ran.out
    assert last == "Every table has as many rows in both, and the same money is spent."
    moved = home.with_settings(COUNCIL_DATABASE_URL=served)
    assert moved.invoke("rounds").out == home.invoke("rounds").out
    assert moved.invoke("verify", "--all").out == home.invoke("verify", "--all").out
    assert moved.invoke("show", round_id).out == home.invoke("show", round_id).out


def test_it_goes_back_to_a_file(full: tuple[Home, str], served: str) -> None:
    home, _ = full
    home.invoke("db", "copy", "--to", served)

    ran = home.invoke("db", "copy", served, str(home.folder / "back.db"))

    assert (ran.code, ran.err) == (0, "")
    back = home.with_settings(COUNCIL_DATABASE_URL=f"sqlite:///{home.folder / 'back.db'}")
    assert back.invoke("export").out == home.invoke("export").out


def test_the_password_is_nowhere_said(full: tuple[Home, str], served: str) -> None:
    home, _ = full

    runs = [home.invoke("db", "copy", served) for _ in range(2)]

    assert [ran.code for ran in runs] == [0, 1]
    assert all(SECRET not in ran.out + ran.err for ran in runs)


def test_one_changed_row_is_named_and_copied_as_it_is(full: tuple[Home, str], served: str) -> None:
    home, round_id = full
    home.sql("UPDATE ballot SET reason = 'No.' WHERE judge = 'north' AND round_id = ?", round_id)

    ran = home.invoke("db", "copy", served)

    assert ran.code == 1
    assert f"Round {round_id}: differs in ballots[north].reason" in ran.out
    assert "it was so before, and was copied as it is" in ran.out
    assert "1 of 2 rounds equal in both, and as recomputed." in ran.out
    assert home.with_settings(COUNCIL_DATABASE_URL=served).invoke("verify", round_id).code == 1


def test_a_round_that_cannot_be_read_is_named_and_copied_as_it_is(
    full: tuple[Home, str], served: str
) -> None:
    home, round_id = full
    home.sql("UPDATE verdict SET strength = 'bogus' WHERE round_id = ?", round_id)

    ran = home.invoke("db", "copy", served)

    assert ran.code == 1
    assert f"Round {round_id}: Round {round_id!r} holds what no round can: verdict.str" in ran.out


def test_a_database_that_holds_rounds_is_refused(full: tuple[Home, str], served: str) -> None:
    home, _ = full
    moved = home.with_settings(COUNCIL_DATABASE_URL=served)
    moved.invoke("ask", "Is anybody there?")

    ran = home.invoke("db", "copy", served)

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("The database to copy into holds 1 round already, so nothing was")
    assert len(moved.invoke("rounds").out.splitlines()) == 1


def test_a_file_that_a_program_serves_is_refused(full: tuple[Home, str], served: str) -> None:
    home, _ = full
    with other(home.database.with_name("council.db.lock"), "chat web") as serving:
        assert got(serving)

        ran = home.invoke("db", "copy", served)

        serving.kill()
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"A program uses {home.database} now: stop it first")


def test_a_server_that_a_program_uses_is_refused(
    full: tuple[Home, str], served: str, postgres: Server
) -> None:
    home, _ = full
    import psycopg

    with psycopg.connect(f"{served}?application_name=council"):
        ran = home.invoke("db", "copy", served)

    assert ran.code == 1
    assert ran.err.startswith("A program uses the server's database now: stop it first")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param((), "Name the database to copy into", id="nothing"),
        pytest.param(("a.db", "b.db", "--to", "c.db"), "Name the database to copy", id="three"),
        pytest.param(("nowhere.db", "new.db"), "There is no database", id="no-such-file"),
        pytest.param(("mysql://x/y",), "it must begin with sqlite:/// or postgresql://", id="kind"),
        pytest.param(("data/council.db",), "cannot be copied into itself", id="itself"),
    ],
)
def test_what_is_asked_wrongly_is_a_sentence(
    home: Home, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    home.invoke("db", "upgrade")
    monkeypatch.chdir(home.folder)

    ran = home.invoke("db", "copy", *words)

    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert not Path("nowhere.db").exists()


def test_a_server_that_is_not_there_is_a_sentence(home: Home) -> None:
    home.invoke("db", "upgrade")

    ran = home.invoke("db", "copy", f"postgresql://council:{SECRET}@127.0.0.1:1/council")

    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("The database server cannot be reached")
    assert SECRET not in ran.err


def test_the_help_names_it(home: Home) -> None:
    assert "copy" in home.invoke("db", "--help").out
    assert "from SQLite to Postgres or back" in " ".join(
        home.invoke("db", "copy", "--help").out.split()
    )


def test_what_was_there_stays_as_it_was(full: tuple[Home, str], served: str) -> None:
    home, _ = full
    before = dump(home.database)

    home.invoke("db", "copy", served)

    assert dump(home.database) == before


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return [*connection.iterdump()]
