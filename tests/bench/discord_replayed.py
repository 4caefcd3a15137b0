"""What the fake Discord was sent, sent again as it was, and drawn by simcord's preview."""

import io
import json
from collections.abc import Sequence

import discord
import simcord
from discord.http import Route

from tests.bench.discord_pictures import PHONE, WIDE
from tests.bench.pictures import PICTURES
from tests.wire.discord import Message


async def replayed(name: str, messages: Sequence[Message], height: int) -> None:
    """Draw a channel that holds these messages, wide and on a phone, so many pixels of it."""
    client = discord.Client(intents=discord.Intents(guilds=True))
    async with simcord.run(client) as env:
        if client.user:
            await client.user.edit(username="Council")
        guild = env.create_guild()
        channel = guild.create_text_channel("models")
        ada = guild.add_member(env.create_user("Ada"))
        for message in messages:
            await _again(client, channel.id, message)
        async with env.preview(channel, viewers=[ada], layout="channel") as preview:
            for suffix, size in (("", (WIDE[0], height)), ("-phone", (PHONE[0], height + 140))):
                path = PICTURES / f"discord-{name}{suffix}.png"
                await preview.screenshot(path, mode="viewport", viewport=size, viewer=ada)
                print(f"{path.name}: {path.stat().st_size // 1000} KB")


async def _again(client: discord.Client, channel: int, message: Message) -> None:
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
