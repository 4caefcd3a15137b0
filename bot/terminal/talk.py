"""A conversation in the terminal: a line is a command or a question."""

import asyncio
import sys

from rich.console import Console

from bot.chat import Asker, Said
from bot.commands.desk import Desk
from bot.commands.hearing import hear
from bot.terminal.chat import HERE, TerminalChat

PROMPT = "\n/council › "
GREETING = "Type a question, or help. Ctrl-C stops a round and keeps it; Ctrl-D leaves."
WORDS_TO_LEAVE = {"exit", "quit", ":q", "bye"}


async def talk(desk: Desk, console: Console) -> None:
    """Read lines until the end of input, and do what each says."""
    chat = TerminalChat(console)
    console.print(GREETING, style="dim")
    while (line := await asyncio.to_thread(_line, console)) is not None:
        if line.strip().lower() in WORDS_TO_LEAVE:
            return
        if line.strip():
            await _say(desk, chat, line)


async def _say(desk: Desk, chat: TerminalChat, line: str) -> None:
    said = Said(line, Asker("terminal", "you"), HERE, desk.new_id())
    try:
        await hear(desk, chat, said)
    finally:
        chat.close()


def _line(console: Console) -> str | None:
    if console.is_terminal and sys.stdin.isatty():
        console.print(PROMPT, end="", style="bold", highlight=False)
    line = sys.stdin.readline()
    return line or None
