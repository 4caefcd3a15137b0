"""Hints to commands, written `/council show ID` everywhere, as each surface understands them.

Chats show them as they are or as mentions of their own; here are those for the shell and the page.
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
_PAGES = {
    "bakeoff": ("Bake-offs", "/bakeoffs"),
    "suite": ("Suites", "/suites"),
    "schedule": ("Schedules", "/schedules"),
    "panel": ("Panels", "/panels"),
    "rounds": ("Rounds", "/rounds"),
    "leaderboard": ("Leaderboard", "/leaderboard"),
    "bias": ("Bias", "/bias"),
    "QUESTION": ("New question", "/"),
}


def shell_hints(text: str) -> str:
    """Return a text whose hints are commands of the shell: `council show ID`."""
    return HINT.sub(lambda match: f"`council {_shell_form(match[1])}`", text)


def _shell_form(command: str) -> str:
    for chat, shell in _SHELL_FORMS:
        if command.startswith(chat):
            return shell + command.removeprefix(chat)
    return command


def page_link(code: str) -> tuple[str, str] | None:
    """Return the label and path of the page that does what a hint says.

    None if it is no hint, or if no page does exactly that: the command can be typed there.
    """
    if not code.startswith("/council"):
        return None
    match code.split()[1:]:
        case ["show", id_] if id_.islower():
            return "this round", f"/rounds/{id_}"
        case ["forget", id_, "yes"]:
            return "Delete this round", f"/rounds/{id_}/forget"
        case ["bakeoff", verb, id_] if id_.islower():
            has_button = verb in {"resume", "cancel"}
            label = "the button on its page" if has_button else "this bake-off"
            return label, f"/bakeoffs/{id_}"
        case [group] | [group, "list"]:
            return _PAGES.get(group)
    return None
