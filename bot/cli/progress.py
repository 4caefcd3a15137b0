"""Progress bars of the terminal; where output is no terminal, they print plain lines."""

from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
)


class DownloadBar:
    """A bar for each file of the demo models; one line each on no terminal."""

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


class CountBar:
    """A bar of `total` steps with a note; nothing where output is no terminal. A context."""

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._bars.stop()

    def update(self, completed: int, note: str = "") -> None:
        """Show how many steps are completed."""
        self._bars.update(self._task, completed=completed, note=note)

    def advance(self, steps: int) -> None:
        """Show that more steps are completed."""
        self._bars.advance(self._task, steps)
