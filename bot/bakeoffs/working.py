"""Bake-offs held as work of a cluster: by one process at a time, told of to all."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from bot.bakeoffs import news
from bot.bakeoffs.holding import carry
from bot.bakeoffs.house import House
from bot.chat import Chat
from bot.coordination.tasks import Doing
from bot.ports import BAKEOFFS, PAGE, Works, teller_of
from council.bakeoffs.ports import WantedBakeoffs
from council.errors import CouncilError
from council.places import Place

MOST_BAKEOFFS = 20  # held at once by one process
TELL_SECONDS = 0.5  # between two words of how one stands


@dataclass(frozen=True, slots=True)
class Holding:
    """Holds what is told by one teller, such as a chat, in the places that the way leads to.

    What the page tells is told to nobody: whoever wants to know looks there.
    """

    house: House
    teller: str
    way: Callable[[Place], Chat | None] = lambda _: None

    def serving(self, works: Works) -> AbstractAsyncContextManager[None]:
        """Hold what is begun, and what nobody holds any more, as long as the block lasts."""
        queue = f"{BAKEOFFS} {self.teller}"
        return works.serving(queue, self.hold, self.unfinished, MOST_BAKEOFFS)

    async def unfinished(self) -> list[str]:
        """Give the ids of what is not over, and was not begun on the command line."""
        wanted = WantedBakeoffs(unfinished=True)
        found = await self.house.bench.bakeoffs.recent(wanted=wanted)
        return [bakeoff.id for bakeoff in found if self._is_ours(bakeoff.place)]

    def _is_ours(self, place: Place) -> bool:
        if self.teller == PAGE:
            return place.chat == PAGE
        is_told = teller_of(place, self.house.shards) == self.teller
        return is_told and self.way(place) is not None

    async def hold(self, bakeoff_id: str) -> None:
        """Carry a bake-off to its end; raise what kept it from that, once all have been told."""
        bus, topic = self.house.bus, news.topic_of(bakeoff_id)
        bakeoff = await self.house.bench.bakeoffs.load(bakeoff_id)
        beside = Doing()
        beside.begin(self._told(bakeoff_id))
        beside.begin(self._rung(bakeoff_id))
        try:
            await self.house.holds.keep(bakeoff, carry(self.house, self.way(bakeoff.place)))
        except CouncilError as error:
            await bus.tell(topic, news.failed(error))
            raise
        finally:
            await beside.close()
        await bus.tell(topic, news.ENDED)

    async def _told(self, bakeoff_id: str) -> None:
        """Tell how it stands, when that has changed."""
        before = None
        while True:
            now = self.house.holds.seen(bakeoff_id)
            if now and now != before:
                await self.house.bus.tell(news.topic_of(bakeoff_id), news.told(now))
                before = now
            await asyncio.sleep(TELL_SECONDS)

    async def _rung(self, bakeoff_id: str) -> None:
        """Have its row read again whenever somebody asks for that."""
        with self.house.bus.heard(news.bell_of(bakeoff_id)) as asked:
            while True:
                await asked.get()
                self.house.holds.ring(bakeoff_id)
