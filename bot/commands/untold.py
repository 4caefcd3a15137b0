"""Rounds whose place has not been told all: after a restart, and at the very end."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from bot.chat import Asker, Chat, Said
from bot.commands.desk import Desk
from bot.commands.hearing import kindly
from bot.commands.showing import see_through
from bot.coordination.tasks import Doing
from council.ports import RoundLine, Wanted


class Untold:
    """What rounds of one chat have still to be told; telling goes on in `doing`."""

    def __init__(self, desk: Desk, new_chat: Callable[[], Chat], doing: Doing) -> None:
        self._desk = desk
        self._new_chat = new_chat
        self._doing = doing

    async def lines(self, wanted: Wanted) -> tuple[RoundLine, ...]:
        """Give the rounds among those wanted whose place has not been told all, oldest first."""
        found = await self._desk.store.recent(wanted=replace(wanted, undelivered=True))
        return tuple(reversed(found))

    def tell(self, lines: Iterable[RoundLine]) -> None:
        """Begin to tell what is untold of these."""
        for line in lines:
            self._doing.begin(self._told(line))

    async def _told(self, line: RoundLine) -> None:
        said = Said(line.question, Asker(line.asked_by, line.asked_by), line.place, line.id)
        chat = self._new_chat()
        await kindly(chat, said, self._seen_through(chat, line.id))

    async def _seen_through(self, chat: Chat, round_id: str) -> None:
        round_ = await self._desk.store.load(round_id)
        await see_through(self._desk, chat, round_.question.place, round_)
