"""Progress bar of a bake-off in the terminal."""

from rich.console import Console

from bot.bakeoffs.render.bakeoffs import progress_summary
from bot.cli.progress import CountBar
from bot.render.formatting import spending_text
from council.bakeoffs.models import Bakeoff, BakeoffProgress
from council.money import Spending


class BakeoffBar(CountBar):
    """A bar of a bake-off's questions; on no terminal, a line for each question that ends."""

    def __init__(self, console: Console, bakeoff: Bakeoff) -> None:
        name = f"{bakeoff.suite.name} by {bakeoff.panel.name}"
        super().__init__(console, name, len(bakeoff.suite.questions))
        self._over = 0

    def show(self, progress: BakeoffProgress) -> None:
        """Show the progress of the bake-off."""
        failed = f" · {len(progress.failed)} failed" if progress.failed else ""
        spent = f" · {spending_text(progress.spending)}" if progress.spending != Spending() else ""
        note = f"{failed}{spent}"
        self.update(progress.over, note)
        if not self._console.is_terminal and progress.over > self._over:
            self._console.print(f"{progress_summary(progress)}{note}", markup=False)
        self._over = progress.over
