"""The command `council db upgrade`."""

import typer

from bot.cli.output import MISUSED, async_command, fail
from bot.database import open_database
from bot.settings import load_settings
from storage.migrate import HEAD_REVISION

USE_EXPORT = (
    "Copy a database with `council export --to FILE`, then `council import FILE` with "
    "COUNCIL_DATABASE_URL set to the new one."
)

database_app = typer.Typer(help="Upgrade the database.", no_args_is_help=True)


@database_app.callback()
def database() -> None:
    """Upgrade the database."""


@database_app.command()
@async_command
async def upgrade() -> None:
    """Upgrade the database schema."""
    async with open_database(load_settings()):
        typer.echo(f"The database is at schema {HEAD_REVISION}.")


@database_app.command(
    hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
def copy() -> None:
    """Stop with the names of the commands that copy a database."""
    fail(USE_EXPORT, MISUSED)
