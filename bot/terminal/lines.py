"""Lines from the keyboard, or from whatever is piped in, without holding up the event loop."""

import asyncio
import sys
import threading
from contextlib import suppress
from importlib import import_module
from io import FileIO

PROMPT = "\n/council › "


class Lines:
    """Reads lines in a thread of its own, which an interrupted program need not wait for.

    Where a person types, `input` gives line editing and history.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._wanted = threading.Semaphore(0)
        threading.Thread(target=self._read, daemon=True).start()

    async def next(self) -> str | None:
        """Give the next line, or None at the end of input."""
        self._wanted.release()
        return await self._lines.get()

    def _read(self) -> None:
        with suppress(ImportError):
            import_module("readline")  # its import alone gives `input` editing and history
        line: str | None = ""
        while line is not None:
            self._wanted.acquire()
            line = _line()
            # The loop is gone where the program ended while we waited for a line.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


def _line() -> str | None:
    if not sys.stdin.isatty():
        return _piped_line()
    try:
        return input(PROMPT)
    except EOFError:
        return None


def _piped_line() -> str | None:
    # Unbuffered: a buffer's lock, held by a waiting thread, would abort the interpreter's exit.
    with FileIO(sys.stdin.fileno(), closefd=False) as pipe:
        return pipe.readline().decode(errors="replace") or None
