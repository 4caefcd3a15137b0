"""Command tree: `/council` as a group of slash commands, and the message context menu."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Choice, Range

from bot.commands.dispatch import Command
from bot.render.text_safety import shorten_to_line

MAX_CHOICES, MAX_CHOICE_LENGTH = 25, 100
MAX_DESCRIPTION_LENGTH = 100
MAX_QUESTION_LENGTH = 6000
CONTEXT_MENU_NAME = "Ask the council"

Interaction = discord.Interaction[Any]
Callback = Callable[..., Awaitable[None]]
Autocomplete = Callable[[Interaction, str], Coroutine[Any, Any, list[Choice[str]]]]


@dataclass(frozen=True, slots=True)
class AskFields:
    """The options of `/council ask`."""

    text: str
    panel: str | None
    private: bool
    attachment: discord.Attachment | None


@dataclass(frozen=True, slots=True)
class CommandHandlers:
    """The handlers of commands, and the autocomplete callbacks of their options."""

    ask: Callable[[Interaction, AskFields], Awaitable[None]]
    ask_about: Callable[[Interaction, discord.Message], Awaitable[None]]
    run: Callable[[Interaction, Command, str], Awaitable[None]]
    run_with_file: Callable[[Interaction, Command, str, discord.Attachment | None], Awaitable[None]]
    suggest_panels: Autocomplete
    suggest_rounds: Autocomplete


def add_commands(
    tree: app_commands.CommandTree[Any], commands: Iterable[Command], handlers: CommandHandlers
) -> None:
    """Add the `/council` group with these commands, and the context menu, to a tree."""
    group = app_commands.Group(
        name="council",
        description="Several models answer, rank each other without names, and one sums up",
        allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True),
        allowed_installs=app_commands.AppInstallationType(guild=True),
    )
    for command in commands:
        group.add_command(
            app_commands.Command(
                name=command.name,
                description=command.summary[:MAX_DESCRIPTION_LENGTH],
                callback=_callback(command, handlers),
            )
        )
    tree.add_command(group)
    menu = app_commands.ContextMenu(name=CONTEXT_MENU_NAME, callback=_context_menu(handlers))
    tree.add_command(menu)


def build_choices(pairs: Iterable[tuple[str, str]]) -> list[Choice[str]]:
    """Return autocomplete choices from pairs of label and value, as many as Discord accepts."""
    choices = [
        Choice(name=shorten_to_line(label, MAX_CHOICE_LENGTH), value=value)
        for label, value in pairs
    ]
    return choices[:MAX_CHOICES]


def _callback(command: Command, handlers: CommandHandlers) -> Any:  # noqa: ANN401
    """Return a callback with the parameters that the command takes: they become its options."""
    factories: dict[str | None, Callable[[Command, CommandHandlers], Callback]] = {
        "question": _with_question,
        "panel": _with_panel,
        "round": _with_round,
        "number": _with_number,
        "words": _with_words,
        "file": _with_file,
    }
    return factories.get(command.takes, _with_nothing)(command, handlers)


def _with_question(_: Command, handlers: CommandHandlers) -> Callback:
    @app_commands.describe(
        question="What the council should answer",
        panel="Which models answer; the channel's own where you leave it out",
        private="Have the answer for yourself, as a direct message",
        attachment="A text file that the question refers to",
    )
    @app_commands.autocomplete(panel=handlers.suggest_panels)
    async def ask(
        interaction: Interaction,
        question: Range[str, 1, MAX_QUESTION_LENGTH],
        panel: str | None = None,
        private: bool = False,
        attachment: discord.Attachment | None = None,
    ) -> None:
        await handlers.ask(interaction, AskFields(question, panel, private, attachment))

    return ask


def _with_panel(command: Command, handlers: CommandHandlers) -> Callback:
    @app_commands.describe(name="The panel to use in this channel; left out, all are listed")
    @app_commands.autocomplete(name=handlers.suggest_panels)
    async def with_panel(interaction: Interaction, name: str = "") -> None:
        await handlers.run(interaction, command, name)

    return with_panel


def _with_round(command: Command, handlers: CommandHandlers) -> Callback:
    @app_commands.describe(round="A round's id, or the start of it")
    @app_commands.autocomplete(round=handlers.suggest_rounds)
    async def with_round(interaction: Interaction, round: str) -> None:  # noqa: A002
        await handlers.run(interaction, command, round)

    return with_round


def _with_number(command: Command, handlers: CommandHandlers) -> Callback:
    @app_commands.describe(number="How many")
    async def with_number(interaction: Interaction, number: Range[int, 1, 100] = 10) -> None:
        await handlers.run(interaction, command, str(number))

    return with_number


def _with_words(command: Command, handlers: CommandHandlers) -> Callback:
    @app_commands.describe(words=_usage(command))
    async def with_words(interaction: Interaction, words: str = "") -> None:
        await handlers.run(interaction, command, words)

    return with_words


def _with_file(command: Command, handlers: CommandHandlers) -> Callback:
    @app_commands.describe(
        words=_usage(command), file="A file of questions: .csv, .jsonl, .yaml or .txt"
    )
    async def with_file(
        interaction: Interaction, words: str = "", file: discord.Attachment | None = None
    ) -> None:
        await handlers.run_with_file(interaction, command, words, file)

    return with_file


def _with_nothing(command: Command, handlers: CommandHandlers) -> Callback:
    async def with_nothing(interaction: Interaction) -> None:
        await handlers.run(interaction, command, "")

    return with_nothing


def _usage(command: Command) -> str:
    return command.usage.removeprefix("/council ")[:MAX_DESCRIPTION_LENGTH]


def _context_menu(handlers: CommandHandlers) -> Any:  # noqa: ANN401
    async def ask_about(interaction: Interaction, message: discord.Message) -> None:
        await handlers.ask_about(interaction, message)

    return ask_about
