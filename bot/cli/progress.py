"""Progress bars of the terminal; where output is no terminal, they print plain lines."""

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
)

from bot.render.bakeoffs import progress_summary
from bot.render.formatting import rough_duration
from bot.research.experiment_report import experiment_title, progress_details, progress_line
from council.bakeoffs.models import Bakeoff
from council.bakeoffs.models import BakeoffProgress as BakeoffProgress
from council.money import format_usd
from council.research.experiment import Experiment
from council.research.experiment import ExperimentProgress as ExperimentProgress

MAX_EXPERIMENT_LINES = 20  # where output is no terminal


class DownloadBar:
    """A bar for each file of the demonstration models; one line each on no terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}"), BarColumn(), DownloadColumn(), console=console
        )
        self._tasks: dict[str, TaskID] = {}

    def show(self, file: str, done_bytes: int, total_bytes: int) -> None:
        """Show how much of a file is downloaded."""
        if file not in self._tasks:
            if self._console.is_terminal:
                self._bars.start()
            else:
                self._console.print(f"Fetching {file} ({total_bytes / 1e6:.0f} MB)")
            self._tasks[file] = self._bars.add_task(file, total=total_bytes)
        self._bars.update(self._tasks[file], completed=done_bytes)
        if self._bars.finished:
            self._bars.stop()


class _CountBar:
    """A bar of so many steps, with a note behind it."""

    def __init__(self, console: Console, title: str, total: int) -> None:
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
        )
        self._task = self._bars.add_task(title, total=total, note="")
        if console.is_terminal:
            self._bars.start()

    def _update(self, completed: int, note: str) -> None:
        self._bars.update(self._task, completed=completed, note=note)

    def close(self) -> None:
        """Stop redrawing and leave the bar where it is."""
        self._bars.stop()


class BakeoffBar(_CountBar):
    """A bar of a bake-off's questions; on no terminal, a line for each question that ends."""

    def __init__(self, console: Console, bakeoff: Bakeoff) -> None:
        name = f"{bakeoff.suite.name} by {bakeoff.panel.name}"
        super().__init__(console, name, len(bakeoff.suite.questions))
        self._over = 0

    def show(self, progress: BakeoffProgress) -> None:
        """Show the progress of the bake-off."""
        failed = f" · {len(progress.failed)} failed" if progress.failed else ""
        spent = f" · {format_usd(progress.spent_micro)}" if progress.spent_micro else ""
        note = f"{failed}{spent}"
        self._update(progress.over, note)
        if not self._console.is_terminal and progress.over > self._over:
            self._console.print(f"{progress_summary(progress)}{note}", markup=False)
        self._over = progress.over


class ExperimentBar(_CountBar):
    """A bar of an experiment's calls with the time left; on no terminal, a line now and then."""

    def __init__(self, console: Console, experiment: Experiment) -> None:
        super().__init__(console, experiment_title(experiment), experiment.calls)
        self._step = max(1, experiment.calls // MAX_EXPERIMENT_LINES)
        self._printed_step = -1

    def show(self, progress: ExperimentProgress) -> None:
        """Show the progress of the experiment."""
        left = progress.seconds_left
        time = "" if left is None else f"about {rough_duration(left)} left"
        self._update(progress.over, f"{time}{progress_details(progress)}")
        if not self._console.is_terminal and progress.over // self._step > self._printed_step:
            self._printed_step = progress.over // self._step
            self._console.print(progress_line(progress), markup=False)
