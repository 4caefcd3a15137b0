"""The progress bar of an experiment."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars

from bot.render.formatting import roughly
from bot.research.experiment_report import experiment_title, going, going_beside
from council.research.experiment import Experiment, Progress

_LINES = 20  # on no terminal, so many lines for the whole experiment


class ExperimentBar:
    """Shows a bar of calls with the time that is left; on no terminal, a line now and then."""

    def __init__(self, console: Console, experiment: Experiment) -> None:
        self._console = console
        self._step = max(1, experiment.calls // _LINES)
        self._told = -1
        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}", markup=False),
            console=console,
        )
        title = experiment_title(experiment)
        self._task = self._bars.add_task(title, total=experiment.calls, told="")
        if console.is_terminal:
            self._bars.start()

    def show(self, progress: Progress) -> None:
        """Take note of how far it is."""
        left = progress.seconds_left
        time = "" if left is None else f"about {roughly(left)} left"
        told = f"{time}{going_beside(progress)}"
        self._bars.update(self._task, completed=progress.over, told=told)
        if not self._console.is_terminal and progress.over // self._step > self._told:
            self._told = progress.over // self._step
            self._console.print(going(progress), markup=False)

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._bars.stop()
