"""What buttons do in Discord; they work whenever they are pressed, also after a restart."""

import re
from typing import Any, Self

import discord

from bot.chat import Chat, Said
from bot.commands.buttons import (
    OTHER_VERSION,
    PRESSES,
    asked_back,
    confirmed,
    in_its_place,
    is_asked_about,
    opine,
    posts_of,
    readable_round,
)
from bot.commands.buttons import add_to_suite as add
from bot.commands.context import Desk
from bot.commands.rounds import Opinion
from bot.commands.suites import Joining
from bot.discord.modals import ANSWER, NAME, REASON
from council.errors import CouncilError

SHOWN = ("answers", "ballots")


class Button(
    discord.ui.DynamicItem[discord.ui.Button[Any]],
    template=r"council:(?P<action>[a-z_]+):(?P<value>[^#]+)(#\d+)?",
):
    """Any button under a round, known by its custom id alone."""

    def __init__(self, action: str, value: str, custom_id: str) -> None:
        self.action = action
        self.value = value
        super().__init__(discord.ui.Button(label=action, custom_id=custom_id))

    @classmethod
    async def from_custom_id(
        cls, _: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str]
    ) -> Self:
        """Read a pressed button."""
        return cls(match["action"], match["value"], match[0])

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Have the press heard."""
        await interaction.client.pressed(interaction, self.action, self.value)


async def press(desk: Desk, chat: Chat, said: Said, action: str, value: str) -> None:
    """Do what a button says, for the one who pressed it."""
    if action in SHOWN:
        round_ = await readable_round(desk, said, value)
        for post in posts_of(round_, action):
            await chat.whisper(said, post)
    elif action in {"helpful", "unhelpful"}:
        await opine(desk, chat, said, value, Opinion(action == "helpful"))
    elif is_asked_about(action):
        await chat.whisper(said, await asked_back(desk, said, action, value))
    elif does := PRESSES.get(confirmed(action) or action):
        await does(desk, chat, said, value)
    elif in_its_place(action) is None:
        raise CouncilError(OTHER_VERSION)


async def keep_reason(
    desk: Desk, chat: Chat, said: Said, round_id: str, fields: dict[str, str]
) -> None:
    """Keep why a round was of no help."""
    await opine(desk, chat, said, round_id, Opinion(helpful=False, reason=fields.get(REASON, "")))


async def add_to_suite(
    desk: Desk, chat: Chat, said: Said, round_id: str, fields: dict[str, str]
) -> None:
    """Keep a round's question in the suite that was named."""
    await add(desk, chat, said, round_id, Joining(fields[NAME], fields.get(ANSWER, "")))
