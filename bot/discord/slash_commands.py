"""Slash commands: `/council` as a command group with autocomplete, and the context menu."""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

import discord
from discord import app_commands
from discord.app_commands import Choice, Range

from bot.commands.registry import Command
from bot.discord.actions import ask_modal
from bot.render.text_safety import shorten_to_line

if TYPE_CHECKING:
    from bot.discord.listeners import DiscordClient

MAX_CHOICES, MAX_CHOICE_LENGTH = 25, 100
MAX_DESCRIPTION_LENGTH = 100

Interaction = discord.Interaction[Any]

_TAKES = {
    "ask": "question",
    "panel": "panel",
    "show": "round",
    "cancel": "round",
    "forget": "round",
    "rounds": "number",
    "suite": "file",
    **dict.fromkeys(("vote", "bakeoff", "leaderboard", "bias", "schedule", "help"), "words"),
}


def add_commands(
    tree: app_commands.CommandTree[Any], commands: Iterable[Command], client: "DiscordClient"
) -> None:
    """Add the `/council` group of slash commands, and the context menu, to a tree."""
    group = app_commands.Group(
        name="council",
        description="Several models answer, rank each other without names, and one sums up",
        allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True),
        allowed_installs=app_commands.AppInstallationType(guild=True),
    )
    for command in {one.group or one.name: one for one in commands}.values():
        description = command.summary[:MAX_DESCRIPTION_LENGTH]
        register = group.command(name=command.group or command.name, description=description)
        register(_callback(command, client))
    tree.add_command(group)

    @tree.context_menu(name="Ask the council")
    async def ask_about(interaction: Interaction, message: discord.Message) -> None:
        await interaction.response.send_modal(ask_modal(message))


def build_choices(pairs: Iterable[tuple[str, str]]) -> list[Choice[str]]:
    """Return autocomplete choices from pairs of label and value, as many as Discord accepts."""
    return [
        Choice(name=shorten_to_line(label, MAX_CHOICE_LENGTH), value=value)
        for label, value in islice(pairs, MAX_CHOICES)
    ]


def _callback(command: Command, client: "DiscordClient") -> Any:  # noqa: ANN401
    """Return a callback with the parameters that the command takes: they become its options."""
    usage = command.usage.removeprefix("/council ")[:MAX_DESCRIPTION_LENGTH]

    @app_commands.describe(
        question="What the council should answer",
        panel="Which models answer; the channel's own where you leave it out",
        private="Have the answer for yourself, as a direct message",
        attachment="A text file that the question refers to",
    )
    @app_commands.autocomplete(panel=client.suggest_panels)
    async def ask(
        interaction: Interaction,
        question: Range[str, 1, 6000],
        panel: str | None = None,
        private: bool = False,
        attachment: discord.Attachment | None = None,
    ) -> None:
        await client.on_ask(interaction, question, panel, attachment, private=private)

    @app_commands.describe(name="The panel to use in this channel; left out, all are listed")
    @app_commands.autocomplete(name=client.suggest_panels)
    async def with_panel(interaction: Interaction, name: str = "") -> None:
        await client.on_command(interaction, command, name)

    @app_commands.describe(round="A round's id, or the start of it")
    @app_commands.autocomplete(round=client.suggest_rounds)
    async def with_round(interaction: Interaction, round: str) -> None:  # noqa: A002
        await client.on_command(interaction, command, round)

    @app_commands.describe(number="How many")
    async def with_number(interaction: Interaction, number: Range[int, 1, 100] = 10) -> None:
        await client.on_command(interaction, command, str(number))

    @app_commands.describe(words=usage)
    async def with_words(interaction: Interaction, words: str = "") -> None:
        await client.on_command(interaction, command, words)

    @app_commands.describe(words=usage, file="A file of questions: .csv, .jsonl, .yaml or .txt")
    async def with_file(
        interaction: Interaction, words: str = "", file: discord.Attachment | None = None
    ) -> None:
        await client.on_command(interaction, command, words, file)

    async def with_nothing(interaction: Interaction) -> None:
        await client.on_command(interaction, command, "")

    callbacks: dict[str | None, Any] = {
        "question": ask,
        "panel": with_panel,
        "round": with_round,
        "number": with_number,
        "words": with_words,
        "file": with_file,
    }
    takes = _TAKES.get(command.group or command.name)
    return callbacks.get(takes, with_nothing)
