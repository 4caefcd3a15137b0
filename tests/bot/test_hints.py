"""A hint works where it is read."""

import pytest

from bot.hints import page_link, shell_hints


@pytest.mark.parametrize(
    ("hint", "command"),
    [
        ("`/council rounds` lists them.", "`council rounds` lists them."),
        ("See `/council bakeoff show b1`.", "See `council bakeoff show b1`."),
        ("Resume `/council bakeoff resume b1`.", "Resume `council bakeoff run --resume b1`."),
        ("Start `/council bakeoff SUITE`.", "Start `council bakeoff run SUITE`."),
        ("Ask one with `/council QUESTION`.", 'Ask one with `council ask "QUESTION"`.'),
        ("No hint: /council rounds, `code`.", "No hint: /council rounds, `code`."),
    ],
)
def test_in_a_shell_a_hint_is_a_command_of_the_shell(hint: str, command: str) -> None:
    assert shell_hints(hint) == command


@pytest.mark.parametrize(
    ("code", "link"),
    [
        ("/council rounds", ("Rounds", "/rounds")),
        ("/council suite list", ("Suites", "/suites")),
        ("/council show abcdef0123", ("this round", "/rounds/abcdef0123")),
        ("/council bakeoff show b1", ("this bake-off", "/bakeoffs/b1")),
        ("/council bakeoff resume b1", ("the button on its page", "/bakeoffs/b1")),
        ("/council bakeoff SUITE", None),
        ("/council QUESTION", ("New question", "/")),
        ("/council forget b1 yes", ("Delete this round", "/rounds/b1/forget")),
        ("council.toml", None),
    ],
)
def test_on_the_page_a_hint_is_a_link(code: str, link: tuple[str, str] | None) -> None:
    assert page_link(code) == link
