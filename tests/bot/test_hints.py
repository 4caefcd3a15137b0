"""A hint works where it is read."""

import pytest

from bot.hints import shell_hints, tool_hints


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
    ("hint", "tool"),
    [
        ("`/council rounds` lists them.", "`list_rounds` lists them."),
        ("Ask one with `/council QUESTION`.", "Ask one with `ask_council`."),
        ("Open it with `/council show last`.", "Open it with `get_round`."),
        ("`/council suite list` lists them.", "`council suite list` lists them."),
    ],
)
def test_for_a_client_of_mcp_a_hint_is_a_tool(hint: str, tool: str) -> None:
    assert tool_hints(hint) == tool
