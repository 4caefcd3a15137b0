"""A conversation in the terminal: a line is a command or a question."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.console import Console

from bot.chat import Asker, Said
from bot.commands.context import Desk
from bot.commands.dispatch import hear
from bot.terminal.chat import HERE, TerminalChat
from bot.terminal.lines import Lines

GREETING = "Type a question, or help. Ctrl-C stops a round and keeps it; Ctrl-D leaves."
WORDS_TO_LEAVE = {"exit", "quit", ":q", "bye"}


async def talk(desk: Desk, console: Console) -> None:
    """Read lines until the end of input, and do what each says."""
    chat, lines = TerminalChat(console), Lines()
    console.print(GREETING, style="dim")
    while (line := await lines.next()) is not None:
        if line.strip().lower() in WORDS_TO_LEAVE:
            return
        if line.strip():
            await _say(desk, chat, line)


async def _say(desk: Desk, chat: TerminalChat, line: str) -> None:
    said = Said(line, Asker("terminal", "you"), HERE, desk.new_id())
    doing = asyncio.create_task(hear(desk, chat, said))
    with _interrupting(doing), suppress(asyncio.CancelledError):
        await doing
    chat.close()
    if doing.cancelled():
        chat.say(f"Stopped; what there is is kept. Go on with: council ask --resume {said.key}")


@contextmanager
def _interrupting(task: asyncio.Task[None]) -> Iterator[None]:
    """Let Ctrl-C stop this task alone, as long as it lasts."""
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
