"""The command `council` and its subcommands."""

import typer

from bot.cli import asking, counting, discord, keeping, leaderboard, looking, running, slack

app = typer.Typer(
    help="Several LLMs answer, rank each other blind, and a chairman writes one answer.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
slack_app = typer.Typer(help="Set up the Slack app.", no_args_is_help=True)
discord_app = typer.Typer(help="Set up the Discord application.", no_args_is_help=True)
database = typer.Typer(help="Look after the database.", no_args_is_help=True)

app.command()(asking.ask)
app.command()(running.chat)
app.command()(running.serve)
app.command()(looking.show)
app.command()(looking.rounds)
app.command()(looking.budget)
app.command()(leaderboard.leaderboard)
app.command()(looking.verify)
app.command()(keeping.export)
app.command("import")(keeping.import_)
app.command()(keeping.forget)
app.command()(counting.tally)
app.command()(counting.slates)
app.command()(looking.doctor)
database.command("upgrade")(looking.upgrade_database)
slack_app.command()(slack.manifest)
slack_app.command()(slack.validate)
discord_app.command()(discord.invite)
app.add_typer(slack_app, name="slack")
app.add_typer(discord_app, name="discord")
app.add_typer(database, name="db")
