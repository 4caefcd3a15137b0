"""The picture of a round in Discord: what the product sent to a Discord of our own, drawn.

The messages are the product's own, as a process beside a strict fake Discord; simcord's preview
draws them, so that Discord's own client may look a little different. Needs Debian's chromium.
"""

import asyncio
import io
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import discord
import simcord
from discord.http import Route
from PIL import Image
from playwright.async_api import BrowserType

from tests.bench.ours import QUESTION
from tests.bench.pictures.page import PICTURES, chromium_path, config, playing
from tests.bench.pictures.words import SEATS
from tests.bot.discord.process import run_process
from tests.wire.discord import FakeDiscord, Message
from tests.wire.models import ModelServer

SIZE = 760, 1130


async def the_round() -> tuple[Message, list[Message]]:
    """Ask in a channel; return the answer and what is in its thread, as they were sent."""
    with TemporaryDirectory(prefix="council-pictures-") as folder:
        async with ModelServer() as models, FakeDiscord() as fake:
            models.script |= {seat: playing(seat) for seat in SEATS}
            toml = config(models.api_base)
            async with run_process(Path(folder), fake, toml, fresh=True) as bot:
                await fake.slash("U1", "C1", "council ask", question=QUESTION)
                root = await bot.answered("C1")
                return root, await bot.wait_for_thread(root)


async def drawn(messages: Sequence[Message], channel_name: str) -> Image.Image:
    """Send messages again, as they were; return a picture of their channel."""
    client = discord.Client(intents=discord.Intents(guilds=True))
    async with simcord.run(client) as env:
        if client.user:
            await client.user.edit(username="Council")
        guild = env.create_guild()
        channel = guild.create_text_channel(channel_name)
        ada = guild.add_member(env.create_user("Ada"))
        for message in messages:
            await _send_again(client, channel.id, message)
        async with env.preview(channel, viewers=[ada], layout="channel") as preview:
            with TemporaryDirectory(prefix="council-pictures-") as folder:
                path = Path(folder) / "picture.png"
                await preview.screenshot(path, mode="viewport", viewport=SIZE, viewer=ada)
                return Image.open(io.BytesIO(path.read_bytes()))


def save(name: str, *pictures: Image.Image) -> None:
    """Save pictures side by side as one."""
    width = sum(picture.width for picture in pictures)
    joined = Image.new("RGB", (width, max(picture.height for picture in pictures)))
    left = 0
    for picture in pictures:
        joined.paste(picture, (left, 0))
        left += picture.width
    path = PICTURES / f"discord-{name}.png"
    joined.quantize(128).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size // 1000} KB")


async def _send_again(client: discord.Client, channel: int, message: Message) -> None:
    payload = {
        "components": message.components,
        "flags": message.flags,
        "allowed_mentions": {"parse": []},
        "attachments": [
            {"id": nth, "filename": file.name} for nth, file in enumerate(message.files)
        ],
    }
    files = [discord.File(io.BytesIO(file.content), file.name) for file in message.files]
    route = Route("POST", "/channels/{channel_id}/messages", channel_id=channel)
    form = [{"name": "payload_json", "value": json.dumps(payload)}]
    await client.http.request(route, files=files, form=form)


def launched_as_here() -> None:
    """Make simcord start the installed chromium instead of downloading one."""
    found = chromium_path()
    launch = BrowserType.launch

    async def here(browser: BrowserType, **more: Any) -> Any:  # noqa: ANN401
        options = {"executable_path": found, "args": ["--no-sandbox"], **more}
        return await launch(browser, **options)

    BrowserType.launch = here  # type: ignore[method-assign, assignment]  # simcord has no setting


async def main() -> None:
    launched_as_here()
    root, replies = await the_round()
    channel = await drawn([root], "backend")
    thread = await drawn(replies, root.thread.name if root.thread else "")
    save("round", channel, thread)


if __name__ == "__main__":
    asyncio.run(main())
