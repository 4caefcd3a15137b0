"""The command `council` and its subcommands."""

import typer

from bot.cli import (
    asking,
    checking,
    counting,
    databases,
    discord,
    keeping,
    leaderboard,
    looking,
    running,
    schedules,
    simulating,
    slack,
    suite,
)
from bot.cli.bakeoffs import bakeoff_app
from bot.cli.bias import bias_app

app = typer.Typer(
    help="Several LLMs answer, rank each other blind, and a chairman writes one answer.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
slack_app = typer.Typer(help="Set up the Slack app.", no_args_is_help=True)
discord_app = typer.Typer(help="Set up the Discord application.", no_args_is_help=True)
schedule_app = typer.Typer(help="Recurring bake-offs.", no_args_is_help=True)
suites = typer.Typer(help="Keep lists of questions for bake-offs.", no_args_is_help=True)
database = typer.Typer(help="Look after the database.", no_args_is_help=True)

app.command()(asking.ask)
app.command()(running.chat)
app.command()(running.serve)
app.command()(looking.show)
app.command()(looking.rounds)
app.command()(looking.budget)
app.command()(leaderboard.leaderboard)
app.command()(checking.verify)
app.command()(keeping.export)
app.command("import")(keeping.import_)
app.command()(keeping.forget)
app.command()(counting.tally)
app.command()(counting.slates)
app.command()(simulating.simulate)
app.command()(looking.doctor)
suites.command("list")(suite.list_)
suites.command()(suite.show)
suites.command()(suite.add)
suites.command()(suite.remove)
database.command()(databases.upgrade)
database.command()(databases.copy)
schedule_app.command()(schedules.add)
schedule_app.command("list")(schedules.list_)
schedule_app.command()(schedules.edit)
schedule_app.command()(schedules.pause)
schedule_app.command()(schedules.resume)
schedule_app.command()(schedules.remove)
schedule_app.command("run")(schedules.run_)
slack_app.command()(slack.manifest)
slack_app.command()(slack.validate)
discord_app.command()(discord.invite)
app.add_typer(schedule_app, name="schedule")
app.add_typer(bakeoff_app, name="bakeoff")
app.add_typer(bias_app, name="bias")
app.add_typer(suites, name="suite")
app.add_typer(slack_app, name="slack")
app.add_typer(discord_app, name="discord")
app.add_typer(database, name="db")
