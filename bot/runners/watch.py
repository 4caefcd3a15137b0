"""A round watched from any process: what is said of it on the bus, and the rows behind that."""

import asyncio
from collections.abc import Awaitable, Callable

from bot.cluster.works import Standing
from bot.ports import Sight, Sights
from bot.runners.words import Word, fault_of, parts_of, read
from council.errors import StoreError
from council.ports import Store

LOOK_SECONDS = 5.0  # without a word for so long, whoever watches looks for himself
GATHER_SECONDS = 0.2  # what is said together is read together: a look reads the whole round


class Watch:
    """Watches one round; `standing` says how its work stands, `seen` what is seen of it here."""

    def __init__(
        self,
        round_id: str,
        store: Store,
        standing: Callable[[], Awaitable[Standing]],
        seen: Callable[[str], Sight | None],
    ) -> None:
        self._round_id = round_id
        self._store = store
        self._standing = standing
        self._seen = seen

    async def sights(
        self, heard: asyncio.Queue[str], look_seconds: float, *, is_started: bool
    ) -> Sights:
        """Give the newest sight, and every one after it while the round is carried.

        One that was started here a moment ago is carried, however it ended meanwhile.
        """
        standing = await self._standing()
        sight = await self._sight(standing)
        yield sight
        is_carried = standing.is_begun or is_started
        while is_carried and not sight.round_.closing:
            if not standing.is_begun:
                raise fault_of(standing.fault, self._round_id)
            word = read(await _next(heard, look_seconds))
            try:
                standing = standing if word else await self._standing()
                newer = await self._newer(sight, standing, word)
            except StoreError:  # the database is away for a while: what it says comes later
                continue
            if newer is not sight:
                sight = newer
                yield sight

    async def _sight(self, standing: Standing) -> Sight:
        own = self._seen(self._round_id) if standing.is_begun else None
        return own or Sight(await self._store.load(self._round_id), "", standing.seconds)

    async def _newer(self, before: Sight, standing: Standing, word: Word | None) -> Sight:
        """Give what is seen after a word, or after a look; the same sight where nothing changed."""
        own = self._seen(self._round_id) if standing.is_begun else None
        if own:
            return own
        draft = word.draft if word and word.draft is not None else before.draft
        round_ = before.round_
        if word is None or word.parts > parts_of(round_):
            round_ = await self._store.load(self._round_id)
        if parts_of(round_) == parts_of(before.round_) and draft == before.draft:
            return before
        return Sight(round_, draft, word.seconds if word else standing.seconds)


async def _next(heard: asyncio.Queue[str], seconds: float) -> str:
    """Give the newest of what was said; nothing where one has to look, as after a silence."""
    try:
        async with asyncio.timeout(seconds):
            said = [await heard.get()]
    except TimeoutError:
        return ""
    await asyncio.sleep(GATHER_SECONDS)
    while not heard.empty():
        said.append(heard.get_nowait())
    return said[-1] if all(said) else ""
