"""Rounds of a workspace whose place has not been told all: after a restart, and at the very end."""

import asyncio

import structlog

from bot.chat import Asker, Said
from bot.commands.desk import Desk
from bot.commands.hearing import kindly
from bot.commands.showing import see_through
from bot.slack.chat import SlackChat
from bot.slack.doing import Doing
from bot.slack.whispers import Whispers
from bot.slack.workspace import CHAT, Workspace
from council.ports import RoundLine, Wanted


class Untold:
    """What a workspace has still to be told; it goes on in `doing`."""

    def __init__(self, desk: Desk, workspace: Workspace) -> None:
        self.doing = Doing()
        self.gone = asyncio.Event()
        self._desk = desk
        self._workspace = workspace

    async def tell(self) -> None:
        """Begin to tell all of it, oldest first."""
        wanted = Wanted(chats=(CHAT,), workspace=self._workspace.team, undelivered=True)
        for line in reversed(await self._desk.store.recent(wanted=wanted)):
            self.doing.begin(self._told(line))

    async def leave(self) -> None:
        """Take note that the app was uninstalled."""
        self.gone.set()

    async def drop(self) -> None:
        """Let the workspace's rounds go, once nothing is told any more."""
        wanted = Wanted(chats=(CHAT,), workspace=self._workspace.team)
        for line in await self._desk.store.recent(wanted=wanted):
            await self._desk.runner.stop(line.id)
        rounds = await self._desk.store.drop(CHAT, self._workspace.team)
        structlog.get_logger().warning("slack_uninstalled", rounds_deleted=rounds)
        await self._desk.store.wipe()

    async def _told(self, line: RoundLine) -> None:
        said = Said(line.question, Asker(line.asked_by, line.asked_by), line.place, line.id)
        chat = SlackChat(self._workspace, Whispers(self._workspace))
        await kindly(chat, said, self._seen_through(chat, line.id))

    async def _seen_through(self, chat: SlackChat, round_id: str) -> None:
        round_ = await self._desk.store.load(round_id)
        await see_through(self._desk, chat, round_.question.place, round_)
