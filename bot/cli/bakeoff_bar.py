"""The progress bar of a bake-off."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars

from bot.render.bakeoffs import summary_of
from council.bakeoffs.models import Bakeoff, Progress
from council.money import dollars


class BakeoffBar:
    """Shows a bar of questions; on no terminal, a line whenever one more is over."""

    def __init__(self, console: Console, bakeoff: Bakeoff) -> None:
        self._console = console
        self._over = 0
        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}", markup=False),
            console=console,
        )
        total = len(bakeoff.suite.questions)
        name = f"{bakeoff.suite.name} by {bakeoff.panel.name}"
        self._task = self._bars.add_task(name, total=total, told="")
        if console.is_terminal:
            self._bars.start()

    def show(self, progress: Progress) -> None:
        """Take note of how far it is."""
        self._bars.update(self._task, completed=progress.over, told=_told(progress))
        if not self._console.is_terminal and progress.over > self._over:
            self._console.print(f"{summary_of(progress)}{_told(progress)}", markup=False)
        self._over = progress.over

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._bars.stop()


def _told(progress: Progress) -> str:
    failed = f" · {len(progress.failed)} failed" if progress.failed else ""
    spent = f" · {dollars(progress.spent_micro)}" if progress.spent_micro else ""
    return f"{failed}{spent}"
