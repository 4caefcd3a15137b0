"""A round under way in this process, and everybody who watches it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from bot.ports import RoundStoppedError, Sight, Sights
from council.prompts.synthesis import draft_of
from council.rounds import Round, in_panel_order

DRAFT_SECONDS = 0.1

News = asyncio.Queue[Sight | Exception]


class Carried:
    """Holds the newest sight of a round, and tells every watcher each one, in order."""

    def __init__(self, round_: Round, clock: Callable[[], float]) -> None:
        self.task: asyncio.Task[None] | None = None
        self.sight = Sight(round_)
        # What keeps it from its end: as long as it has none, that somebody stops it.
        self.fault: Exception | None = RoundStoppedError(
            f"Round {round_.id} was stopped before its end."
        )
        self._clock = clock
        self._started = clock()
        self._drafted = 0.0
        self._watchers: list[News] = []

    def begin(self) -> None:
        """Count time from now: before, the round waited for its turn or for its models."""
        self._started = self._clock()

    @contextmanager
    def watched(self) -> Iterator[News]:
        """Give a queue of every sight from the newest one on."""
        news: News = asyncio.Queue()
        news.put_nowait(self.sight)
        self._watchers.append(news)
        try:
            yield news
        finally:
            self._watchers.remove(news)

    def show(self, round_: Round) -> None:
        """Let every watcher see the round as it is now."""
        self.sight = Sight(in_panel_order(round_), self.sight.draft, self._clock() - self._started)
        self.tell(self.sight)

    def show_draft(self, text: str) -> None:
        """Let every watcher see how far the synthesis is, some times a second."""
        if self._clock() - self._drafted >= DRAFT_SECONDS:
            self._drafted = self._clock()
            seconds = self._drafted - self._started
            self.sight = replace(self.sight, draft=draft_of(text), seconds=seconds)
            self.tell(self.sight)

    def tell(self, news: Sight | Exception) -> None:
        """Let every watcher hear the news, in order."""
        for watcher in self._watchers:
            watcher.put_nowait(news)


async def sights_until_closed(news: News) -> Sights:
    """Give sights as they come, until the round is closed; raise what stopped it before."""
    closed = False
    while not closed:
        new = await news.get()
        if isinstance(new, Exception):
            raise new
        yield new
        closed = new.round_.closing is not None
