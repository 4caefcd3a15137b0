"""The shell completes commands of bake-offs, and suites."""

from tests.bot.cli.test_completion import completed
from tests.bot.homes import Home, scripted_config

SUITES = '[suites.sql]\nquestions = ["Why WAL?"]\n'


def test_commands_and_suites_are_completed(home: Home) -> None:
    home.with_config(scripted_config(3) + SUITES)
    home.invoke("ask", "Why is the sky blue?")

    assert completed(home, "council lead") == ["leaderboard"]
    assert completed(home, "council bakeoff run ") == ["sql"]
