"""The commands `council lab`: tools for researchers of judges."""

import typer

from bot.cli.tally import slates, tally
from bot.research.cli.bias import show_perplexity
from bot.research.cli.calibrate import criteria
from bot.research.cli.simulate import simulate
from bot.research.cli.study import study_app

lab_app = typer.Typer(help="Tools for researchers of judges.", no_args_is_help=True)
lab_app.command("tally")(tally)
lab_app.command("slates")(slates)
lab_app.command("simulate")(simulate)
lab_app.command("criteria")(criteria)
lab_app.command("perplexity")(show_perplexity)
lab_app.add_typer(study_app, name="study")
