"""The progress bar of the demonstration models' fetch."""

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn


class FetchBar:
    """Shows a bar for each file while it is fetched; on no terminal, a line for each file."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}"), BarColumn(), DownloadColumn(), console=console
        )
        self._tasks: dict[str, TaskID] = {}

    def show(self, what: str, done_bytes: int, total_bytes: int) -> None:
        """Take note of how far a file is."""
        if what not in self._tasks:
            if self._console.is_terminal:
                self._bars.start()
            else:
                self._console.print(f"Fetching {what} ({total_bytes / 1e6:.0f} MB)")
            self._tasks[what] = self._bars.add_task(what, total=total_bytes)
        self._bars.update(self._tasks[what], completed=done_bytes)
        if self._bars.finished:
            self.close()

    def close(self) -> None:
        """Leave the bars as they stand."""
        self._bars.stop()
