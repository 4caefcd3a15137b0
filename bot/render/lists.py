"""Lists whose lines open by a button, so that nobody retypes an id."""

from collections.abc import Sequence

from bot.chat import Button, Buttons, Heading, Line, Note, Part, Post

COMMAND = "command"  # the action of buttons whose value is a command as it is typed
NEW = "new"  # the value of buttons that open an empty form
MAX_LISTED = 20  # lines with a button each, so that a list fits one message of every chat


def command_button(label: str, command: str) -> Button:
    """Return a button that runs a command for its presser."""
    return Button(COMMAND, label, command)


def list_post(title: str, lines: Sequence[tuple[str, str]], note: str = "") -> Post:
    """Return a list of lines, each with the command that opens it; the first ones of a long list.

    Lines may have moments and styled words, as in a `Line`.
    """
    shown = lines[:MAX_LISTED]
    parts: list[Part] = [Heading(title)]
    parts += [Line(f"**{n}.** {text}") for n, (text, _) in enumerate(shown, start=1)]
    buttons = [
        command_button(f"Open {n}" if len(shown) > 1 else "Open", command)
        for n, (_, command) in enumerate(shown, start=1)
    ]
    if left_out := len(lines) - len(shown):
        parts.append(Note(f"{left_out} older ones are not shown."))
    parts += [Note(note)] if note else []
    return Post((*parts, Buttons(tuple(buttons))), title)
