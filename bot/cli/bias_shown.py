"""What came of experiments, listed and printed."""

from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from bot.books import opened_books
from bot.cli.bias_file import show_report
from bot.cli.outcome import say_json
from bot.cli.whole_file import written_whole
from bot.experiments.file import lines_of
from bot.experiments.meant import meant_experiment
from bot.research.experiment_report import ending_lines, experiment_document, going
from bot.settings import load_settings
from council.research.experiment import Held, Progress, grade_of, is_settled, last_marks, standing
from council.research.grades import GradeReport, grade_report


@dataclass(frozen=True, slots=True)
class Shown:
    """An experiment as it stands, with what is held of it."""

    progress: Progress
    held: Held

    @property
    def report(self) -> GradeReport:
        """What its grades tell."""
        settled = [mark for mark in last_marks(self.held).values() if is_settled(mark)]
        return grade_report([grade_of(self.progress.experiment, mark) for mark in settled])


def show(shown: Shown, output: Path | None, *, as_json: bool) -> None:
    """Print what came of an experiment, and write the file that is wanted."""
    console = Console(stderr=True, highlight=False)
    for line in ending_lines(shown.progress):
        console.print(line, markup=False, soft_wrap=True)
    if output:
        with written_whole(output) as file:
            lines = lines_of(shown.progress.experiment, shown.held)
            file.writelines(f"{line}\n".encode() for line in lines)
        console.print(f"Written to {output}.", markup=False, soft_wrap=True)
    if as_json:
        say_json(experiment_document(shown.progress, shown.report))
    else:
        show_report(shown.report, as_json=False)


async def show_stored(wanted: str, output: Path | None, *, as_json: bool) -> None:
    """Print what came of a stored experiment."""
    async with opened_books(load_settings()) as books:
        experiment = meant_experiment(await books.experiments.recent(), wanted)
        held = await books.experiments.held(experiment.id)
        spent = await books.ledger.spent(experiment.id)
    show(Shown(standing(experiment, held, spent), held), output, as_json=as_json)


async def list_stored() -> None:
    """Print a line for each experiment, newest first."""
    async with opened_books(load_settings()) as books:
        for experiment in await books.experiments.recent():
            held = await books.experiments.held(experiment.id)
            spent = await books.ledger.spent(experiment.id)
            name = f"{experiment.suite.name} by {experiment.panel.name}"
            state = going(standing(experiment, held, spent))
            typer.echo(f"{experiment.id}  {experiment.at:%Y-%m-%d %H:%M}  {name}  {state}")
