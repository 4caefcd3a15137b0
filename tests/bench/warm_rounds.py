"""Many rounds of this product in one process: a question a line in, the word "done" out."""

import asyncio
import sys

from rich.console import Console

from bot.bootstrap import StartOptions, open_app
from bot.chat import TERMINAL, Asker, IncomingMessage
from bot.commands.ask import ask
from bot.observability import logs
from bot.settings import load_settings
from bot.terminal import TerminalChat


async def main() -> None:
    logs.configure_logging()
    chat = TerminalChat(Console(quiet=True))
    async with open_app(load_settings(), StartOptions()) as app:
        while question := await asyncio.to_thread(sys.stdin.readline):
            said = IncomingMessage(
                question.strip(), Asker("bench", "bench"), TERMINAL, app.new_id()
            )
            await ask(app, chat, said, {"question": said.text})
            print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
