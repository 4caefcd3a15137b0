"""`council bakeoff vote`: votes on a whole bake-off in the terminal."""

from pathlib import Path

import pytest

from bot.bakeoffs.cli import bakeoffs
from bot.bakeoffs.commands.voting import NO_MORE
from tests.bot.cli.test_rounds_vote import VOTES
from tests.bot.homes import LETTERS, Home, scripted_config


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sql.txt").write_text("Is Postgres enough?\nWhich queue?\n")
    home = Home(tmp_path).with_config(scripted_config(3)).with_tables()
    assert home.invoke("bakeoff", "run", "sql.txt", "--json").code == 0
    return home


class Terminal:
    """Standard input that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_bakeoff_is_voted_on_in_the_terminal(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    read = home.invoke("bakeoff", "vote")
    monkeypatch.setattr(bakeoffs, "stdin", Terminal())
    letters = [chr(code) for code in range(ord("K"), ord("Z") + 1)]

    voted = home.invoke("bakeoff", "vote", "last", stdin="\n".join(letters * 2))

    assert "0 of 2 questions voted, by 0 people; 0 by you." in " ".join(read.out.split())
    assert not [name for name in LETTERS if f" {name} " in read.out.lower()]
    assert NO_MORE in " ".join(voted.out.split())
    assert "There is no Response" in voted.err
    assert [row[1] for row in home.sql(VOTES)] == [1, 1]


def test_voting_stops_at_the_end_of_the_input(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bakeoffs, "stdin", Terminal())

    voted = home.invoke("bakeoff", "vote", "last", stdin="")

    assert (voted.code, voted.err) == (0, "")
    assert home.sql(VOTES) == []
