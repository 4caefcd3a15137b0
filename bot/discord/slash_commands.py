"""Slash commands built from the command registry, with typed options, and the context menu.

`/council` holds what everybody may use, `/council-admin` what changes things for everyone: Discord
shows that one only to those who may manage the server. A group is a group of subcommands.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import replace
from inspect import Parameter as PythonParameter
from inspect import Signature
from typing import Any

import discord
import structlog
from discord import ChannelType, app_commands
from discord.app_commands import AppCommandChannel, Choice, Range

from bot.commands.completion import MAX_SUGGESTIONS
from bot.commands.parameters import Kind, Parameter, Suggestion
from bot.commands.registry import ASK, Command
from bot.render.text_safety import shorten_to_line

MAX_CHOICE_LENGTH, MAX_TEXT_LENGTH = 100, 6000
COUNCIL, ADMIN = "council", "council-admin"
COMMANDS_CHANGED = (
    "This command has changed. Reload Discord (Ctrl+R, or close and open the app), and try again."
)
UNEXPECTED = "Something went wrong; it is in the log. Nothing you saved is lost."

Interaction = discord.Interaction[Any]
RunCommand = Callable[[Interaction, Command], Awaitable[None]]
AskAbout = Callable[[Interaction, discord.Message], Awaitable[None]]
Suggest = Callable[[Interaction, Parameter, str], Awaitable[list[Suggestion]]]

_COMPLETED = {Kind.ROUND, Kind.PANEL, Kind.METHOD, Kind.TOPIC, Kind.LABEL}


class CommandTree(app_commands.CommandTree[Any]):
    """The tree of slash commands, which answers also where a command is out of date."""

    async def on_error(self, interaction: Interaction, error: app_commands.AppCommandError) -> None:
        """Reply with a sentence; log what is not a stale command."""
        is_stale = isinstance(
            error, app_commands.CommandNotFound | app_commands.CommandSignatureMismatch
        )
        if not is_stale:
            structlog.get_logger().error("discord_command_failed", exc_info=error)
        if not interaction.response.is_done():
            line = COMMANDS_CHANGED if is_stale else UNEXPECTED
            await interaction.response.send_message(line, ephemeral=True)


def add_commands(
    tree: CommandTree,
    commands: Iterable[Command],
    on_command: RunCommand,
    on_ask_about: AskAbout,
    suggest: Suggest,
) -> None:
    """Add `/council`, `/council-admin` and the context menu to a tree."""
    contexts = app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=True)
    installs = app_commands.AppInstallationType(guild=True, user=True)
    council = app_commands.Group(
        name=COUNCIL,
        description=(
            "Several models answer, rank each other without names, and one writes the final answer"
        ),
        allowed_contexts=contexts,
        allowed_installs=installs,
    )
    admin = app_commands.Group(
        name=ADMIN,
        description="What changes things for everybody, for those who manage this server",
        allowed_contexts=app_commands.AppCommandContext(guild=True),
        allowed_installs=app_commands.AppInstallationType(guild=True),
        default_permissions=discord.Permissions(manage_guild=True),
    )
    for command in commands:
        if not command.hidden:
            top = admin if command.for_admins else council
            holder = _group(top, command) if command.group else top
            holder.add_command(_subcommand(command, on_command, suggest))
    for top in (council, admin):
        if top.commands:  # Discord takes no empty group
            tree.add_command(top)

    @app_commands.allowed_contexts(guilds=True, dms=True, private_channels=True)
    @app_commands.allowed_installs(guilds=True, users=True)
    @tree.context_menu(name="Ask the council")
    async def ask_about(interaction: Interaction, message: discord.Message) -> None:
        await on_ask_about(interaction, message)


def option_values(
    interaction: Interaction, command: Command
) -> tuple[dict[str, str], list[discord.Attachment]]:
    """Return the arguments in an interaction's options, by name, and its files."""
    arguments, files = dict[str, str](), list[discord.Attachment]()
    kinds = {one.name: one.kind for one in command.parameters}
    for name, value in interaction.namespace:
        if isinstance(value, discord.Attachment):
            files.append(value)
        elif kinds.get(name) is Kind.FLAG:
            arguments |= {name: name} if value else {}
        elif value is not None:
            id_ = getattr(value, "id", value)  # of a channel
            arguments[name] = str(id_)
    return arguments, files


def _group(top: app_commands.Group, command: Command) -> app_commands.Group:
    """Return a command's group of subcommands, which is made when first needed."""
    found = top.get_command(command.group)
    if isinstance(found, app_commands.Group):
        return found
    description = command.group_summary or command.group
    return app_commands.Group(name=command.group, description=description, parent=top)


def _subcommand(
    command: Command, on_command: RunCommand, suggest: Suggest
) -> app_commands.Command[Any, ..., Any]:
    async def run(interaction: Interaction, **_: object) -> None:
        await on_command(interaction, command)

    shown = [one for one in command.parameters if not one.text_only]
    if command.name == ASK or command.form:  # given nothing, the command opens a form
        shown = [replace(one, required=False) for one in shown]
    if command.name == ASK:
        shown.sort(key=lambda one: one.kind is not Kind.TEXT)
    # Named by number: an option may have a name that Python reserves, such as "as".
    names = {f"option_{number}": one for number, one in enumerate(shown)}
    interaction = PythonParameter("interaction", PythonParameter.POSITIONAL_OR_KEYWORD)
    options = [_python_parameter(name, one) for name, one in names.items()]
    run.__signature__ = Signature([interaction, *options])  # type: ignore[attr-defined]
    app_commands.rename(**{name: one.name for name, one in names.items()})(run)
    app_commands.describe(**{name: one.help for name, one in names.items()})(run)
    choices = {
        name: [Choice(name=choice, value=choice) for choice in one.choices]
        for name, one in names.items()
        if one.choices
    }
    app_commands.choices(**choices)(run)
    completed = {
        name: _autocomplete(one, suggest)
        for name, one in names.items()
        if one.suggest or one.kind in _COMPLETED
    }
    app_commands.autocomplete(**completed)(run)
    return app_commands.Command(name=command.name, description=command.summary, callback=run)


def _python_parameter(name: str, parameter: Parameter) -> PythonParameter:
    """Return the parameter of a callback that discord.py makes into an option."""
    most = MAX_TEXT_LENGTH if parameter.kind is Kind.TEXT else MAX_CHOICE_LENGTH
    annotations: dict[Kind, Any] = {
        Kind.NUMBER: Range[int, 1, 999],
        Kind.FLAG: bool,
        Kind.FILE: discord.Attachment,
        Kind.CHANNEL: app_commands.Transform[AppCommandChannel, TextChannel],
        Kind.CHOICE: str,
    }
    return PythonParameter(
        name,
        PythonParameter.KEYWORD_ONLY,
        default=PythonParameter.empty if parameter.required else None,
        annotation=annotations.get(parameter.kind, Range[str, 1, most]),
    )


class TextChannel(app_commands.Transformer):
    """A text channel, also one that the bot cannot see: the command says so."""

    @property
    def type(self) -> discord.AppCommandOptionType:
        """Return the type of the option."""
        return discord.AppCommandOptionType.channel

    @property
    def channel_types(self) -> list[ChannelType]:
        """Return the kinds of channels that Discord offers."""
        return [ChannelType.text, ChannelType.news]

    async def transform(self, _: Interaction, value: Any, /) -> object:  # noqa: ANN401
        """Return the channel as Discord sent it."""
        return value


def _autocomplete(
    parameter: Parameter, suggest: Suggest
) -> Callable[[Interaction, str], Coroutine[Any, Any, list[Choice[str]]]]:
    async def complete(interaction: Interaction, typed: str) -> list[Choice[str]]:
        found = await suggest(interaction, parameter, typed)
        return [
            Choice(name=shorten_to_line(label, MAX_CHOICE_LENGTH), value=value)
            for label, value in found[:MAX_SUGGESTIONS]
            if len(value) <= MAX_CHOICE_LENGTH
        ]

    return complete
