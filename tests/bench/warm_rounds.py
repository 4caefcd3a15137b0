"""Many rounds of this product in one process: a question a line in, the word "done" out."""

import asyncio
import sys

from rich.console import Console

from bot.bootstrap import StartOptions, opened_app
from bot.chat import Asker, IncomingMessage
from bot.commands.ask import ask
from bot.observability import logs
from bot.settings import load_settings
from bot.terminal import HERE, TerminalChat


async def main() -> None:
    logs.set_up()
    chat = TerminalChat(Console(quiet=True))
    async with opened_app(load_settings(), StartOptions()) as app:
        while question := await asyncio.to_thread(sys.stdin.readline):
            said = IncomingMessage(question.strip(), Asker("bench", "bench"), HERE, app.new_id())
            await ask(app, chat, said, said.text)
            print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
