"""Rounds shown as work of a cluster: by whichever process of their chat comes first."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from bot.chat import Asker, Caution, Chat, Post, Said, Whisper
from bot.commands.desk import Desk
from bot.commands.relaying import Relay, begin_and_hear
from bot.commands.showing import see_through
from bot.observability import logs
from bot.ports import SHOW, RoundStoppedError, Work, Works, teller_of, work_of
from council.errors import CouncilError
from council.ports import RoundLine, Wanted
from council.rounds import Round

MOST_SHOWN = 200  # at once by one process
AGAIN_SECONDS = 1.0  # before a round is shown on whose process stopped


async def have_shown(desk: Desk, chat: Chat, said: Said, round_: Round) -> None:
    """Have a stored round carried to its end and shown in its place; raise what is not told there.

    In a cluster any process of a room's chat does it, and whoever waits here may leave: it goes on.
    """
    place = round_.question.place
    if desk.works is None or not chat.is_room:
        await see_through(desk, chat, place, round_)
        return
    work = work_of(SHOW, place, round_.id, desk.shards)
    await begin_and_hear(desk.works, desk.bus, work, chat, said)


@dataclass(frozen=True, slots=True)
class Displaying:
    """Shows what is told by one teller, such as a chat.

    `wanted` are the rounds among which it looks for those that are not told yet, `new_chat` gives
    the chat that they are shown in, and `whisper` is how askers are told whom nobody here heard.
    """

    desk: Desk
    teller: str
    wanted: Wanted
    new_chat: Callable[[Whisper], Chat]
    whisper: Whisper

    def serving(self, works: Works) -> AbstractAsyncContextManager[None]:
        """Show what is begun, and what nobody shows any more, as long as the block lasts."""
        return works.serving(f"{SHOW} {self.teller}", self.show, self.unfinished, MOST_SHOWN)

    async def unfinished(self) -> list[str]:
        """Give the ids of the rounds whose place has not been told all, oldest first."""
        wanted = replace(self.wanted, undelivered=True)
        found = await self.desk.store.recent(wanted=wanted)
        return [line.id for line in reversed(found) if self._is_ours(line)]

    def _is_ours(self, line: RoundLine) -> bool:
        return teller_of(line.place, self.desk.shards) == self.teller

    async def show(self, round_id: str) -> None:
        """Show a round to its end; raise CouncilError, its asker told, where that fails."""
        line = await self.desk.store.line(round_id)
        said = Said(line.question, Asker(line.asked_by, line.asked_by), line.place, line.id)
        work = Work(f"{SHOW} {self.teller}", round_id)
        relay = Relay(self.desk.bus, work, self.whisper)
        try:
            await self._shown(self.new_chat(relay), round_id)
        except CouncilError as error:
            await _failed(relay, said, str(error))
            raise
        # The outermost handler: what nobody foresaw is logged once and told without its insides.
        except Exception as error:
            why = logs.unforeseen("showing_failed", error, round_id=round_id)
            await _failed(relay, said, f"{why} Nothing that was saved is lost.")
            raise CouncilError(why) from error
        await relay.end()

    async def _shown(self, chat: Chat, round_id: str) -> None:
        while True:
            round_ = await self.desk.store.load(round_id)
            try:
                await see_through(self.desk, chat, round_.question.place, round_)
            except RoundStoppedError:  # with the process that carried it: another goes on
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                return


async def _failed(relay: Relay, said: Said, why: str) -> None:
    await relay(said, Post((Caution(why),), why))
    await relay.end()
