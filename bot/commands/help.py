"""Help: the welcome, the list of commands, how to use one of them, and what a typo may mean."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from bot.chat import Button, Buttons, Caution, Heading, Line, Note, Part, Post
from bot.commands.parameters import Parameter
from bot.commands.registry import ASK, Command, Typo
from bot.render.formatting import join_words
from bot.render.lists import command_button
from bot.render.text_safety import shorten_to_line

# The action that opens the form to ask in; its value is the number of the example in it, or:
ASK_FORM, NO_EXAMPLE = "starter", "0"
EXAMPLES = (
    "How do we shorten meetings?",
    "What is a good handover?",
    "What should we do first?",
)
HELLO = "Ask several models at once."
ALL_COMMANDS = command_button("All commands", "commands")
_EVERYDAY = (ASK, "show", "rounds", "panel", "vote", "leaderboard", "help")
_MAX_MEANT = 3  # commands that a typo is answered with


def welcome_post(*, is_direct: bool, refusal: str = "") -> Post:
    """Return the first thing that people read: four lines, and three questions to start from.

    A reader who may not ask here reads why, and gets no buttons.
    """
    what = "They rank each other's answers without names, and one writes the final answer."
    lines: tuple[Part, ...] = (Line(f"**{HELLO}** {what}"),)
    if refusal:
        return Post((*lines, Caution(refusal)), HELLO)
    how = "Write me a question" if is_direct else "Type `/council QUESTION`"
    who = "" if is_direct else "Everybody here can read the answer. "
    examples = (Button(ASK_FORM, text, str(n)) for n, text in enumerate(EXAMPLES, start=1))
    return Post(
        (
            *lines,
            Line(f"{how}, or start from one of these:"),
            Buttons(tuple(examples)),
            Note(f"{who}Answers are AI-generated. Nothing is asked until you send the form."),
            Buttons((ask_button("Write your own"), ALL_COMMANDS)),
        ),
        HELLO,
    )


def ask_button(label: str = "Ask the council") -> Button:
    """Return the button that opens the form to ask in."""
    return Button(ASK_FORM, label, NO_EXAMPLE)


def example_of(value: str) -> str:
    """Return the question that the form to ask in is filled with; "" for none."""
    examples = {str(n): text for n, text in enumerate(EXAMPLES, start=1)}
    return examples.get(value, "")


def empty_question_post() -> Post:
    """Return what answers `ask` without a question."""
    line = "What would you like to ask?"
    return Post((Line(line), Buttons((ask_button(),))), line)


def help_post(commands: Iterable[Command]) -> Post:
    """Return the commands: everyday ones, then others, a line for each group of them."""
    shown = {one.full_name: one for one in commands if not one.hidden}
    everyday = [shown[name] for name in _EVERYDAY if name in shown]
    admins = [one for one in shown.values() if one.for_admins]
    others = [one for one in shown.values() if one not in (*everyday, *admins)]
    parts: list[Part] = [Heading("Council"), *map(_summary_line, everyday)]
    for title, listed in (("More", others), ("For admins", admins)):
        parts += [Line(f"**{title}**"), *_group_lines(listed)] if listed else []
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


def typo_post(typo: Typo, ask_it: Button | None, forms: Sequence[Button] = ()) -> Post:
    """Return what a line may mean that was not asked, with the forms of what may be meant.

    Without a button that asks it, say how to ask it.
    """
    text = shorten_to_line(typo.text, 100)
    looks = "looks like a command" if typo.meant else "is short and has no question mark"
    line = f"“{text}” {looks}, so the council was not asked."
    parts: list[Part] = [Line(line)]
    if len(typo.meant) > _MAX_MEANT:
        names = join_words([f"`{one.name}`" for one in typo.meant])
        parts.append(Line(f"`/council {typo.meant[0].group}` takes {names}."))
    else:
        parts += [Line(f"`{one.usage}`: {_lower(one.summary)}.") for one in typo.meant]
    if ask_it:
        return Post((*parts, Buttons((*forms, ask_it, ALL_COMMANDS))), line)
    parts.append(Note("To ask it anyway, end it with a question mark."))
    return Post(tuple(parts), line)


def _summary_line(command: Command) -> Line:
    name = "QUESTION" if command.name == ASK else command.full_name
    return Line(f"`/council {name}`: {_lower(command.summary)}")


def _group_lines(commands: Iterable[Command]) -> Iterator[Line]:
    """Yield a line for each command without a group, and one for each group with its commands."""
    for group, members in groupby(commands, lambda one: one.group):
        if not group:
            yield from map(_summary_line, members)
        else:
            names = ", ".join(f"`/council {one.full_name}`" for one in members)
            yield Line(f"{group.capitalize()}s: {names}")


def _parameter_text(parameter: Parameter) -> str:
    name = f"{parameter.name}:" if parameter.named else parameter.name.upper()
    return f"`{name}` {_lower(parameter.help)}"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
