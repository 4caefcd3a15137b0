"""`/council` in Discord: the registered commands as one group, with a field for what each takes."""

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Choice, Range

from bot.commands.registry import Command
from bot.render.text_safety import in_one_line

MOST_CHOICES, CHOICE = 25, 100
LONGEST_QUESTION = 6000
ABOUT_MESSAGE = "Ask the council"

Interaction = discord.Interaction[Any]
Callback = Callable[..., Awaitable[None]]
Suggest = Callable[[Interaction, str], Coroutine[Any, Any, list[Choice[str]]]]


@dataclass(frozen=True, slots=True)
class AskFields:
    """What the fields of `/council ask` hold."""

    text: str
    panel: str | None
    private: bool
    attachment: discord.Attachment | None


@dataclass(frozen=True, slots=True)
class CommandHandlers:
    """What is done for whoever uses a command, and what is suggested while they type."""

    ask: Callable[[Interaction, AskFields], Awaitable[None]]
    about: Callable[[Interaction, discord.Message], Awaitable[None]]
    do: Callable[[Interaction, Command, str], Awaitable[None]]
    take: Callable[[Interaction, Command, str, discord.Attachment | None], Awaitable[None]]
    panels: Suggest
    rounds: Suggest


def plant(
    tree: app_commands.CommandTree[Any], commands: Iterable[Command], deeds: CommandHandlers
) -> None:
    """Add every registered command to a tree, and the one in the menu of a message."""
    group = app_commands.Group(
        name="council",
        description="Several models answer, rank each other without names, and one sums up",
        allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True),
        allowed_installs=app_commands.AppInstallationType(guild=True),
    )
    for command in commands:
        callback = _callback(command, deeds)
        group.add_command(
            app_commands.Command(
                name=command.name, description=command.summary[:CHOICE], callback=callback
            )
        )
    tree.add_command(group)
    tree.add_command(app_commands.ContextMenu(name=ABOUT_MESSAGE, callback=_about(deeds)))


def choices(pairs: Iterable[tuple[str, str]]) -> list[Choice[str]]:
    """Give suggestions from pairs of a label and what it stands for."""
    named = [Choice(name=in_one_line(label, CHOICE), value=value) for label, value in pairs]
    return named[:MOST_CHOICES]


def _callback(command: Command, deeds: CommandHandlers) -> Any:  # noqa: ANN401
    kinds: dict[str | None, Callable[[Command, CommandHandlers], Callback]] = {
        "question": _with_question,
        "panel": _with_panel,
        "round": _with_round,
        "number": _with_number,
        "words": _with_words,
        "file": _with_file,
    }
    return kinds.get(command.takes, _with_nothing)(command, deeds)


def _with_question(_: Command, deeds: CommandHandlers) -> Callback:
    @app_commands.describe(
        question="What the council should answer",
        panel="Which models answer; the channel's own where you leave it out",
        private="Have the answer for yourself, as a direct message",
        attachment="A text file that the question refers to",
    )
    @app_commands.autocomplete(panel=deeds.panels)
    async def ask(
        interaction: Interaction,
        question: Range[str, 1, LONGEST_QUESTION],
        panel: str | None = None,
        private: bool = False,
        attachment: discord.Attachment | None = None,
    ) -> None:
        await deeds.ask(interaction, AskFields(question, panel, private, attachment))

    return ask


def _with_panel(command: Command, deeds: CommandHandlers) -> Callback:
    @app_commands.describe(name="The panel to use in this channel; left out, all are listed")
    @app_commands.autocomplete(name=deeds.panels)
    async def with_panel(interaction: Interaction, name: str = "") -> None:
        await deeds.do(interaction, command, name)

    return with_panel


def _with_round(command: Command, deeds: CommandHandlers) -> Callback:
    @app_commands.describe(round="A round's id, or the start of it")
    @app_commands.autocomplete(round=deeds.rounds)
    async def with_round(interaction: Interaction, round: str) -> None:  # noqa: A002
        await deeds.do(interaction, command, round)

    return with_round


def _with_number(command: Command, deeds: CommandHandlers) -> Callback:
    @app_commands.describe(number="How many")
    async def with_number(interaction: Interaction, number: Range[int, 1, 100] = 10) -> None:
        await deeds.do(interaction, command, str(number))

    return with_number


def _with_words(command: Command, deeds: CommandHandlers) -> Callback:
    @app_commands.describe(words=command.usage.removeprefix("/council ")[:CHOICE])
    async def with_words(interaction: Interaction, words: str = "") -> None:
        await deeds.do(interaction, command, words)

    return with_words


def _with_file(command: Command, deeds: CommandHandlers) -> Callback:
    @app_commands.describe(
        words=command.usage.removeprefix("/council ")[:CHOICE],
        file="A file of questions: .csv, .jsonl, .yaml or .txt",
    )
    async def with_file(
        interaction: Interaction, words: str = "", file: discord.Attachment | None = None
    ) -> None:
        await deeds.take(interaction, command, words, file)

    return with_file


def _with_nothing(command: Command, deeds: CommandHandlers) -> Callback:
    async def with_nothing(interaction: Interaction) -> None:
        await deeds.do(interaction, command, "")

    return with_nothing


def _about(deeds: CommandHandlers) -> Any:  # noqa: ANN401
    async def about(interaction: Interaction, message: discord.Message) -> None:
        await deeds.about(interaction, message)

    return about
