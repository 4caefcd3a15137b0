"""A process that sends the messages of some rounds through the outbox, to be killed at any moment.

`python -m tests.bot.outbox_process DATABASE FILE ROUNDS PARTS GRACE_SECONDS`
"""

import asyncio
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bot import outbox
from bot.chat import Line, Post
from bot.outbox import Outbox
from council.places import Place
from storage.engine import open_engine
from storage.migrate import upgrade
from storage.outbox import SqlOutbox
from storage.rounds import SqlRoundStore
from tests.bot.file_chat import FileChat
from tests.builders import a_round


async def main(database: str, file: str, rounds: int, parts: int, grace_seconds: float) -> None:
    outbox.GRACE_SECONDS = grace_seconds
    engine = open_engine(database)
    await upgrade(engine)
    store, chat = SqlRoundStore(engine), FileChat(Path(file))
    sending = Outbox(SqlOutbox(engine), lambda: datetime.now(UTC))

    async def send(number: int) -> None:
        await store.open(replace(a_round(), id=f"r{number}"))
        place = Place("file", channel=f"c{number % 2}")
        for part in range(parts):
            post = Post((Line(f"part {part}"),), f"part {part}")
            await sending.send(chat, f"r{number}", part, post, place)

    async with asyncio.TaskGroup() as group:
        for number in range(rounds):
            group.create_task(send(number))
    await engine.dispose()


if __name__ == "__main__":
    _, database, file, rounds, parts, grace = sys.argv
    asyncio.run(main(database, file, int(rounds), int(parts), float(grace)))
