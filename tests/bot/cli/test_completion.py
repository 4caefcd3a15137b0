"""The shell completes commands and values, and `--version` names the release."""

from importlib.metadata import version

import pytest

from tests.bot.homes import Home, scripted_config


@pytest.fixture
def asked(home: Home) -> tuple[Home, str]:
    home.with_config(scripted_config(3))
    home.invoke("ask", "Why is the sky blue?")
    return home, home.sql("SELECT id FROM round")[0][0]


def completed(home: Home, typed: str) -> list[str]:
    """Return what a shell offers after a line was typed."""
    shell = {
        "_COUNCIL_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
    }
    return home.with_settings(**shell).council(fresh=True).out.split()


def test_commands_panels_and_rounds_are_completed(asked: tuple[Home, str]) -> None:
    home, round_id = asked

    assert completed(home, "council roun") == ["rounds"]
    assert completed(home, "council ask --panel ") == ["house"]
    assert completed(home, "council show ") == [round_id]


def test_without_a_database_nothing_is_offered_and_nothing_fails(home: Home) -> None:
    home.with_config("[nonsense")

    ended = home.with_settings(
        _COUNCIL_COMPLETE="complete_bash", COMP_WORDS="council show ", COMP_CWORD="2"
    ).council(fresh=True)

    assert (ended.code, ended.out.strip(), ended.err) == (0, "", "")


def test_the_version_is_that_of_the_package(home: Home) -> None:
    assert home.invoke("--version").out == f"council {version('council-bot')}\n"
