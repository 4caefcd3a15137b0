"""Hints to commands, written `/council show ID` everywhere, as each surface understands them.

Chats show them as they are or as mentions of their own, the page as links (`bot/web/pages.py`);
here are those for the shell and for MCP clients.
"""

import re

HINT = re.compile(r"`/council ([^`\n]+)`")
# Where a command has another form in the shell.
_SHELL_FORMS = (
    ("QUESTION", 'ask "QUESTION"'),
    ("bakeoff resume ", "bakeoff run --resume "),
    ("bakeoff show ", "bakeoff show "),
    ("bakeoff list", "bakeoff list"),
    ("bakeoff cancel ", "bakeoff cancel "),
    ("bakeoff ", "bakeoff run "),
    ("panel NAME", "ask --panel NAME"),
)
# The tools of MCP that do what a command does; an argument stands for the rest.
_TOOL_FORMS = (
    ("QUESTION", "ask_council"),
    ("show ", "get_round"),
    ("rounds", "list_rounds"),
    ("decide ", "decide"),
    ("leaderboard", "leaderboard"),
    ("panel NAME", "panel"),
)


def shell_hints(text: str) -> str:
    """Return a text whose hints are commands of the shell: `council show ID`."""
    return HINT.sub(lambda match: f"`council {_shell_form(match[1])}`", text)


def tool_hints(text: str) -> str:
    """Return a text whose hints are tools of MCP, `get_round`, or else commands of the shell."""
    return HINT.sub(lambda match: f"`{_tool_form(match[1])}`", text)


def _tool_form(command: str) -> str:
    tools = (tool for chat, tool in _TOOL_FORMS if command.startswith(chat))
    return next(tools, f"council {_shell_form(command)}")


def _shell_form(command: str) -> str:
    for chat, shell in _SHELL_FORMS:
        if command.startswith(chat):
            return shell + command.removeprefix(chat)
    return command
