"""`council ask` counts its round for leaderboards."""

import sqlite3
from contextlib import closing

from tests.bot.homes import Home


def test_a_round_of_a_command_is_counted_as_it_closes(stored_round: tuple[Home, str]) -> None:
    home, round_id = stored_round

    with closing(sqlite3.connect(home.database)) as connection:
        counted = connection.execute("SELECT round_id FROM record").fetchall()

    assert counted == [(round_id,)]
