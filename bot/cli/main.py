"""The command `council` and its subcommands."""

from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bot.extras import missing_extra

new_typer = partial(
    typer.Typer, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)

# Name, module, function or app, and the line that `council --help` shows.
COMMANDS = {
    "ask": ("bot.cli.rounds:ask", "Ask a question, or resume a round that stopped."),
    "chat": ("bot.cli.serve:chat", "Talk to the council in the terminal."),
    "serve": ("bot.cli.serve:serve", "Start the web app and every configured chat."),
    "rank": (
        "bot.cli.rank:rank",
        "Let models rank texts from a file, without knowing who wrote them.",
    ),
    "mcp": ("bot.cli.mcp:mcp", "Serve the council as tools of an MCP client, on stdin and stdout."),
    "show": ("bot.cli.rounds:show", "Show a stored round."),
    "vote": (
        "bot.cli.rounds:vote",
        "Vote for the best answer of a round, without names until its result.",
    ),
    "rounds": ("bot.cli.rounds:rounds", "List stored rounds, newest first."),
    "budget": ("bot.cli.rounds:budget", "Show what was spent, is reserved and is left."),
    "leaderboard": (
        "bot.bakeoffs.cli.reports:leaderboard",
        "Rank models over many rounds, with intervals.",
    ),
    "verify": ("bot.cli.verify:verify", "Recompute stored rounds and check the hash chain."),
    "export": ("bot.cli.data:export", "Export one round or everything as JSON Lines."),
    "import": ("bot.cli.data:import_", "Import an export."),
    "forget": ("bot.cli.data:forget", "Delete the texts of a round, or of all old rounds."),
    "tally": ("bot.cli.tally:tally", "Count ballots from a file."),
    "slates": ("bot.cli.tally:slates", "Print the orders in which judges would see the answers."),
    "simulate": ("bot.research.cli.simulate:simulate", "Simulate judges with known biases."),
    "doctor": ("bot.cli.doctor:doctor", "Check settings, tokens, database and models."),
    "schedule": ("bot.bakeoffs.cli.schedules:schedule_app", "Manage recurring bake-offs."),
    "bakeoff": ("bot.bakeoffs.cli.bakeoffs:bakeoff_app", "Run a suite of questions on a panel."),
    "bias": (
        "bot.research.cli.bias:bias_app",
        "Report how biased judges are, from rounds or grades.",
    ),
    "criteria": (
        "bot.research.cli.calibrate:criteria",
        "Draft criteria for judges from blind votes.",
    ),
    "suite": ("bot.bakeoffs.cli.suites:suite_app", "Manage lists of questions for bake-offs."),
    "key": ("bot.cli.keys:key_app", "Manage API keys."),
    "slack": ("bot.cli.chats:slack_app", "Set up the Slack app."),
    "discord": ("bot.cli.chats:discord_app", "Set up the Discord application."),
    "db": ("bot.cli.database:database_app", "Upgrade or copy the database."),
}


def load_command(name: str) -> Any:  # noqa: ANN401
    """Import the module of a subcommand and return the command, ready to run."""
    module, attribute = COMMANDS[name][0].split(":")
    try:
        found = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if missing := missing_extra(error):
            typer.echo(str(missing), err=True)
            raise typer.Exit(1) from None
        raise
    parent = new_typer()
    if isinstance(found, typer.Typer):
        parent.add_typer(found, name=name)
    else:
        parent.command(name)(found)
    return typer.main.get_group(parent).commands[name]


class LazyGroup(TyperGroup):
    """A group that imports a subcommand's module only when that subcommand runs."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        """Return the subcommand that the arguments name, imported now."""
        name, placeholder, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name and placeholder else None, rest


def _placeholder() -> None:
    """Stand in for a subcommand in the list that `council --help` prints."""


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


for _name, (_, _help) in COMMANDS.items():
    app.command(_name, help=_help)(_placeholder)
