"""The command `council` and its subcommands."""

import os
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from bot.extras import missing_extra
from bot.plugins import Plugins, check_type, find_plugins, read_switches
from council.plugin import PluginError, load_object

new_typer = partial(
    typer.Typer, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)

# By name: the address of a function or app, and the line in `council --help`; hidden without one.
COMMANDS = {
    "ask": ("bot.cli.rounds:ask", "Ask a question, or resume a round that stopped."),
    "chat": ("bot.cli.serve:chat", "Talk to the council in the terminal."),
    "serve": ("bot.cli.serve:serve", "Start the web app and every configured chat."),
    "rank": (
        "bot.cli.rank:rank",
        "Let models rank texts from a file, without names.",
    ),
    "mcp": ("bot.cli.mcp:mcp", "Serve tools to an MCP client on stdin and stdout."),
    "show": ("bot.cli.rounds:show", "Show a stored round."),
    "vote": (
        "bot.cli.rounds:vote",
        "Vote for the best answer of a round, without names.",
    ),
    "decide": (
        "bot.cli.rounds:decide",
        "Decide disputed points; the chairman writes once more.",
    ),
    "rounds": ("bot.cli.rounds:rounds", "List stored rounds, newest first."),
    "budget": ("bot.cli.rounds:budget", "Show what was spent, is reserved and is left."),
    "verify": ("bot.cli.verify:verify", "Recompute stored rounds and check the hash chain."),
    "export": ("bot.cli.data:export", "Export one round or everything as JSON Lines."),
    "import": ("bot.cli.data:import_", "Import an export."),
    "forget": ("bot.cli.data:forget", "Delete the texts of a round, or of all old rounds."),
    "doctor": ("bot.cli.doctor:doctor", "Check settings, tokens, database and models."),
    "plugins": ("bot.cli.plugins:plugins", "List plug-ins, and why one is off."),
    "key": ("bot.cli.keys:key_app", "Manage API keys."),
    "db": ("bot.cli.database:database_app", "Upgrade the database."),
    "tally": ("bot.cli.tally:tally", ""),
    "slates": ("bot.cli.tally:slates", ""),
}


class LazyGroup(TyperGroup):
    """A group that imports a subcommand's module only when that subcommand runs.

    Plug-ins are only looked for if a command is not one of the core's, or all are listed.
    """

    _plugins: Plugins | None = None

    # Typer does not export the types of its contexts and commands.
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Return the names of all subcommands: the core's, then those of plug-ins."""
        return [*COMMANDS, *(name for name in self._plugin_commands() if name not in COMMANDS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        """Return a subcommand with its line of help, not imported yet."""
        found = COMMANDS.get(cmd_name) or self._plugin_commands().get(cmd_name)
        if found is None:
            return None
        return TyperCommand(cmd_name, help=found[1], hidden=not found[1])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        """Return the subcommand that the arguments name, imported now."""
        if args and not self.get_command(ctx, args[0]):
            self._refuse_disabled(args[0])
        name, placeholder, rest = super().resolve_command(ctx, args)
        return name, self.load_command(name) if name and placeholder else None, rest

    def load_command(self, name: str) -> Any:  # noqa: ANN401
        """Import a subcommand and return it, ready to run, with what plug-ins add below it."""
        address, _ = COMMANDS.get(name) or self._plugin_commands()[name]
        try:
            command = _new_command(name, _load_checked(address))
        except PluginError as error:
            self._report(name, error)
            raise typer.Exit(1) from None
        if not isinstance(command, TyperGroup):
            return command
        for full_name, (address, line) in self._find_plugins().names(lambda one: one.cli).items():
            group, _, below = full_name.partition(" ")
            if not below or group != name:
                continue
            try:
                found = _load_checked(address)
                command.commands[below] = _new_command(below, found, is_hidden=not line)
            except PluginError as error:  # the other commands of the group can still be used
                self._report(full_name, error)
        return command

    def _report(self, name: str, error: PluginError) -> None:
        """Print why a command can't be used, and whose it is."""
        cause = error.__cause__
        missing = missing_extra(cause) if isinstance(cause, ModuleNotFoundError) else None
        sentence = str(error)
        if name not in COMMANDS:
            owner = next(one.name for one in self._find_plugins().active if name in one.cli)
            sentence = f"The plug-in {owner} can't be used here: {error}"
        typer.echo(str(missing or sentence), err=True)

    def _find_plugins(self) -> Plugins:
        if self._plugins is None:
            self._plugins = _find_plugins()
        return self._plugins

    def _plugin_commands(self) -> dict[str, tuple[str, str]]:
        named = self._find_plugins().names(lambda plugin: plugin.cli)
        return {name: value for name, value in named.items() if " " not in name}

    def _refuse_disabled(self, name: str) -> None:
        """Exit with a sentence if the command is one of a plug-in that is present, but not on."""
        for plugin in self._find_plugins().present:
            if name in plugin.cli:
                typer.echo(
                    f"council {name} is part of the plug-in {plugin.name}, which is not on. "
                    "`council plugins` says why.",
                    err=True,
                )
                raise typer.Exit(2)


def _new_command(name: str, found: Any, *, is_hidden: bool = False) -> Any:  # noqa: ANN401
    parent = new_typer()
    if isinstance(found, typer.Typer):
        parent.add_typer(found, name=name, hidden=is_hidden)
    else:
        parent.command(name, hidden=is_hidden)(found)
    command = typer.main.get_group(parent).commands[name]
    _name_types(command)
    return command


def _name_types(command: Any) -> None:  # noqa: ANN401
    """Show the type of one value where there may be more: <path>, not <list[Path]>."""
    for below in getattr(command, "commands", {}).values():
        _name_types(below)
    for parameter in command.params:
        if parameter.type_descriptor.is_list:
            label = parameter.bare_type().removeprefix("list[").removesuffix("]").lower()
            parameter.display_type = partial(_angled, label)


def _angled(label: str, ctx: Any) -> str:  # noqa: ANN401
    return f"<{label}>"


def _load_checked(address: str) -> Any:  # noqa: ANN401
    found = load_object(address)
    check_type("cli", address, found)
    return found


def _find_plugins() -> Plugins:
    """Return the plug-ins; a council.toml that can't be read does not break the help."""
    try:
        return find_plugins(read_switches(_config_file()))
    except (ValueError, OSError):
        return find_plugins()


def _config_file() -> Path | None:
    """Return the council.toml of the settings, whose libraries are too slow for `--help`."""
    named = os.environ.get("COUNCIL_CONFIG")  # noqa: TID251 - see above
    if not named and Path(".env").exists():
        from dotenv import dotenv_values

        named = dotenv_values(".env").get("COUNCIL_CONFIG")
    file = Path(named or "council.toml")
    return file if named or file.exists() else None


app = new_typer(
    add_completion=True,
    help="Ask several AI models, let them rank each other blind, and get one answer.",
    no_args_is_help=True,
    cls=LazyGroup,
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"council {version('council-bot')}")
        raise typer.Exit


@app.callback()
def council(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Take the options of `council` itself."""
