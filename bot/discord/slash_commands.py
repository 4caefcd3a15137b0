"""Slash commands: `/council` as a command group with autocomplete, and the context menu."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands
from discord.app_commands import Choice, Range

from bot.commands.dispatch import Command
from bot.render.text_safety import shorten_to_line

if TYPE_CHECKING:
    from bot.discord.listeners import DiscordListeners

MAX_CHOICES, MAX_CHOICE_LENGTH = 25, 100
MAX_DESCRIPTION_LENGTH = 100
MAX_QUESTION_LENGTH = 6000
CONTEXT_MENU_NAME = "Ask the council"

Interaction = discord.Interaction[Any]
Callback = Callable[..., Awaitable[None]]


@dataclass(frozen=True, slots=True)
class AskFields:
    """The options of `/council ask`."""

    text: str
    panel: str | None
    private: bool
    attachment: discord.Attachment | None


def add_commands(
    tree: app_commands.CommandTree[Any], commands: Iterable[Command], listeners: "DiscordListeners"
) -> None:
    """Add the `/council` group of slash commands, and the context menu, to a tree."""
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
                callback=_callback(command, listeners),
            )
        )
    tree.add_command(group)

    async def ask_about(interaction: Interaction, message: discord.Message) -> None:
        await listeners.on_ask_about(interaction, message)

    menu = app_commands.ContextMenu(name=CONTEXT_MENU_NAME, callback=ask_about)
    tree.add_command(menu)


def build_choices(pairs: Iterable[tuple[str, str]]) -> list[Choice[str]]:
    """Return autocomplete choices from pairs of label and value, as many as Discord accepts."""
    choices = [
        Choice(name=shorten_to_line(label, MAX_CHOICE_LENGTH), value=value)
        for label, value in pairs
    ]
    return choices[:MAX_CHOICES]


def _callback(command: Command, listeners: "DiscordListeners") -> Any:  # noqa: ANN401
    """Return a callback with the parameters that the command takes: they become its options."""
    factories: dict[str | None, Callable[[Command, DiscordListeners], Callback]] = {
        "question": _with_question,
        "panel": _with_panel,
        "round": _with_round,
        "number": _with_number,
        "words": _with_words,
        "file": _with_file,
    }
    return factories.get(command.takes, _with_nothing)(command, listeners)


def _with_question(_: Command, listeners: "DiscordListeners") -> Callback:
    @app_commands.describe(
        question="What the council should answer",
        panel="Which models answer; the channel's own where you leave it out",
        private="Have the answer for yourself, as a direct message",
        attachment="A text file that the question refers to",
    )
    @app_commands.autocomplete(panel=listeners.suggest_panels)
    async def ask(
        interaction: Interaction,
        question: Range[str, 1, MAX_QUESTION_LENGTH],
        panel: str | None = None,
        private: bool = False,
        attachment: discord.Attachment | None = None,
    ) -> None:
        await listeners.on_ask(interaction, AskFields(question, panel, private, attachment))

    return ask


def _with_panel(command: Command, listeners: "DiscordListeners") -> Callback:
    @app_commands.describe(name="The panel to use in this channel; left out, all are listed")
    @app_commands.autocomplete(name=listeners.suggest_panels)
    async def with_panel(interaction: Interaction, name: str = "") -> None:
        await listeners.on_command(interaction, command, name)

    return with_panel


def _with_round(command: Command, listeners: "DiscordListeners") -> Callback:
    @app_commands.describe(round="A round's id, or the start of it")
    @app_commands.autocomplete(round=listeners.suggest_rounds)
    async def with_round(interaction: Interaction, round: str) -> None:  # noqa: A002
        await listeners.on_command(interaction, command, round)

    return with_round


def _with_number(command: Command, listeners: "DiscordListeners") -> Callback:
    @app_commands.describe(number="How many")
    async def with_number(interaction: Interaction, number: Range[int, 1, 100] = 10) -> None:
        await listeners.on_command(interaction, command, str(number))

    return with_number


def _with_words(command: Command, listeners: "DiscordListeners") -> Callback:
    @app_commands.describe(words=_usage(command))
    async def with_words(interaction: Interaction, words: str = "") -> None:
        await listeners.on_command(interaction, command, words)

    return with_words


def _with_file(command: Command, listeners: "DiscordListeners") -> Callback:
    @app_commands.describe(
        words=_usage(command), file="A file of questions: .csv, .jsonl, .yaml or .txt"
    )
    async def with_file(
        interaction: Interaction, words: str = "", file: discord.Attachment | None = None
    ) -> None:
        await listeners.on_command(interaction, command, words, file)

    return with_file


def _with_nothing(command: Command, listeners: "DiscordListeners") -> Callback:
    async def with_nothing(interaction: Interaction) -> None:
        await listeners.on_command(interaction, command, "")

    return with_nothing


def _usage(command: Command) -> str:
    return command.usage.removeprefix("/council ")[:MAX_DESCRIPTION_LENGTH]
