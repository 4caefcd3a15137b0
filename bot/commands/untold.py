"""Rounds whose place has not been told all: after a restart, and at the very end."""

from dataclasses import replace

from bot.chat import Asker, Chat, Said
from bot.commands.desk import Desk
from bot.commands.hearing import kindly
from bot.commands.showing import see_through
from bot.doing import Doing
from council.ports import RoundLine, Wanted


class Untold:
    """What the rounds of one chat, or of one workspace of it, have still to be told."""

    def __init__(self, desk: Desk, chat: Chat, doing: Doing, wanted: Wanted) -> None:
        self._desk = desk
        self._chat = chat
        self._doing = doing
        self._wanted = wanted

    async def tell(self) -> None:
        """Begin to tell all of it, oldest first."""
        wanted = replace(self._wanted, undelivered=True)
        for line in reversed(await self._desk.store.recent(wanted=wanted)):
            self._doing.begin(self._told(line))

    async def drop(self, chat: str, workspace: str) -> int:
        """Let a workspace's rounds go, with all that hangs on them: the bot is not wanted there."""
        wanted = Wanted(chats=(chat,), workspace=workspace, unfinished=True)
        for line in await self._desk.store.recent(wanted=wanted):
            await self._desk.runner.stop(line.id)
        rounds = await self._desk.store.drop(chat, workspace)
        await self._desk.store.wipe()
        return rounds

    async def _told(self, line: RoundLine) -> None:
        said = Said(line.question, Asker(line.asked_by, line.asked_by), line.place, line.id)
        await kindly(self._chat, said, self._seen_through(line.id))

    async def _seen_through(self, round_id: str) -> None:
        round_ = await self._desk.store.load(round_id)
        await see_through(self._desk, self._chat, round_.question.place, round_)
