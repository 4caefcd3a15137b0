"""Help: the list of commands, how to use one of them, and what a typo may mean."""

from collections.abc import Iterable, Sequence

from bot.chat import Button, Buttons, Heading, Line, Note, Part, Post
from bot.commands.parameters import Parameter
from bot.commands.registry import ASK, Command, Typo
from bot.render.formatting import join_words
from bot.render.text_safety import shorten_to_line

_EVERYDAY = (ASK, "show", "rounds", "panel", "vote", "leaderboard", "help")
_MAX_MEANT = 3  # commands that a typo is answered with


def help_post(commands: Iterable[Command]) -> Post:
    """Return the commands: everyday ones, others, and those for admins."""
    shown = {one.full_name: one for one in commands if not one.hidden}
    everyday = [shown[name] for name in _EVERYDAY if name in shown]
    admins = [one for one in shown.values() if one.for_admins]
    others = [one for one in shown.values() if one not in (*everyday, *admins)]
    parts: list[Part] = [Heading("Council"), *map(_summary_line, everyday)]
    for title, listed in (("More", others), ("For admins", admins)):
        if listed:
            parts += [Line(f"**{title}**"), *map(_summary_line, listed)]
    note = "`/council help COMMAND` shows how to use a command. Answers are AI-generated."
    return Post((*parts, Note(note)), "Council: help")


def command_help_post(commands: Sequence[Command]) -> Post:
    """Return how to use a command, or each command of a group."""
    parts: list[Part] = []
    for command in commands:
        parts += [Line(f"`{command.usage}`"), Note(f"{command.summary}.")]
        parts += [Note(_parameter_text(one)) for one in command.parameters if not one.form_only]
    title = f"/council {commands[0].group or commands[0].name}"
    return Post((Heading(title), *parts), title)


def typo_post(typo: Typo, ask_it: Button | None) -> Post:
    """Return what a mistyped line may mean; nothing was asked. Without a button, say how to ask."""
    line = (
        f"“{shorten_to_line(typo.text, 100)}” looks like a command, so the council was not asked."
    )
    parts: list[Part] = [Line(line)]
    parts += [Line(f"`{one.usage}`: {_lower(one.summary)}.") for one in typo.meant[:_MAX_MEANT]]
    if len(typo.meant) > _MAX_MEANT:
        names = join_words([f"`{one.name}`" for one in typo.meant])
        parts = [parts[0], Line(f"`/council {typo.meant[0].group}` takes {names}.")]
    if ask_it:
        return Post((*parts, Buttons((ask_it,))), line)
    parts.append(Note(f"To ask it anyway, type `ask {shorten_to_line(typo.text, 100)}`."))
    return Post(tuple(parts), line)


def _summary_line(command: Command) -> Line:
    name = "QUESTION" if command.name == ASK else command.full_name
    return Line(f"`/council {name}`: {_lower(command.summary)}")


def _parameter_text(parameter: Parameter) -> str:
    name = f"{parameter.name}:" if parameter.named else parameter.name.upper()
    return f"`{name}` {_lower(parameter.help)}"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
