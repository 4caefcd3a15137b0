"""A chat that is a file: each message is a line, flushed before the send returns."""

import asyncio
import json
import os
from pathlib import Path

from bot.chat import Chat, IncomingMessage, Post, SentMessage
from council.places import Place

ARRIVAL_SECONDS = 0.01


class FileChat(Chat):
    """Appends what is sent, and finds it again by its key."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.file.touch()

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        await asyncio.sleep(ARRIVAL_SECONDS)
        with self.file.open("a") as lines:
            lines.write(json.dumps({"key": key, "summary": post.summary}) + "\n")
            lines.flush()
            os.fsync(lines.fileno())
        await asyncio.sleep(ARRIVAL_SECONDS)
        return SentMessage(place, f"at {key}")

    async def find(
        self, place: Place, key: str, age_seconds: float | None = None
    ) -> SentMessage | None:
        return SentMessage(place, f"at {key}") if key in self.keys else None

    async def edit(self, sent: SentMessage, post: Post) -> None:
        """Forget it: only what is sent is counted."""

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        """Forget it: only what is sent is counted."""

    @property
    def keys(self) -> list[str]:
        """Return the key of every message, in the order they were sent."""
        return [json.loads(line)["key"] for line in self.file.read_text().splitlines()]
