"""How a bake-off stands, in a few words that every process of a cluster hears."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

from bot.bakeoffs.posting import BakeoffPoster, NullPoster
from bot.bakeoffs.registry import BakeoffContext, Carry, RunningBakeoff
from bot.bakeoffs.runner import BakeoffRunner, Outcome
from bot.chat import Chat, PostingForbiddenError
from bot.coordination.tasks import BackgroundTasks
from bot.ports import BAKEOFFS, PAGE, Job, JobQueue, job_of, queue_of_place, seems_queued
from council.bakeoffs.models import Bakeoff, Ending, FailedQuestion, Progress
from council.bakeoffs.ports import BakeoffQuery
from council.errors import BakeoffError, CouncilError, StoreError
from council.places import HOUSE, Place
from council.ports import RoundQuery

# --- How a bake-off stands, in a few words that every process of a cluster hears.

ENDED = json.dumps({"ended": True})


@dataclass(frozen=True, slots=True)
class BakeoffEvent:
    """What was heard: how it stands, what kept it from its end, that it is over, or nothing.

    It is unsure where something was said that does not tell.
    """

    progress: Progress | None = None
    error: CouncilError | None = None
    is_over: bool = False
    is_unsure: bool = False


def topic_of(bakeoff_id: str) -> str:
    """Give what news of a bake-off are said under."""
    return f"bakeoff {bakeoff_id}"


def bell_of(bakeoff_id: str) -> str:
    """Give what its holder is asked under to read its row again."""
    return f"bell {bakeoff_id}"


def told(progress: Progress) -> str:
    """Give how a bake-off stands as text."""
    return json.dumps(
        {
            "over": progress.over,
            "failed": [[one.number, one.why] for one in progress.failed],
            "under_way": progress.under_way,
            "spent_micro": progress.spent_micro,
            "seconds_left": progress.seconds_left,
            "changed": progress.changed,
            "stored": progress.stored,
        }
    )


def failed(error: CouncilError) -> str:
    """Give what kept a bake-off from its end as text."""
    return json.dumps({"why": str(error), "unwelcome": isinstance(error, PostingForbiddenError)})


def heard(text: str, bakeoff: Bakeoff) -> BakeoffEvent:
    """Read what was said of a bake-off."""
    try:
        return _read(json.loads(text), bakeoff)
    except (ValueError, TypeError, KeyError, AttributeError):
        return BakeoffEvent(is_unsure=True)


def _read(found: dict[str, Any], bakeoff: Bakeoff) -> BakeoffEvent:
    if "why" in found:
        kind = PostingForbiddenError if found["unwelcome"] else BakeoffError
        return BakeoffEvent(error=kind(found["why"]))
    if "over" in found:
        pairs = tuple(FailedQuestion(number, why) for number, why in found.pop("failed"))
        return BakeoffEvent(Progress(bakeoff, failed=pairs, **found))
    return BakeoffEvent(is_over=bool(found["ended"]))


# --- How a bake-off stands, whoever holds it and whether anybody does.


async def standing(house: BakeoffContext, bakeoff: Bakeoff) -> Progress:
    """Give what the process sees that holds it here, else what its rows tell."""
    if seen := house.bakeoff_registry.latest(bakeoff.id):
        return seen
    carrying = BakeoffRunner(house, bakeoff, lambda _: None, asyncio.Event())
    await carrying.take_stock()
    return carrying.progress


# --- A bake-off watched from any process, whichever holds it; rows are the truth of it.

LOOK_SECONDS = 3.0  # without news, after which rows are looked at
INTERRUPTED = "Bake-off {id} was interrupted: `/council bakeoff resume {id}` goes on with it."


def holding_of(house: BakeoffContext, bakeoff: Bakeoff) -> Job:
    """Give the work of holding a bake-off, in a cluster."""
    return job_of(BAKEOFFS, bakeoff.place, bakeoff.id, house.shards)


async def is_held(house: BakeoffContext, bakeoff: Bakeoff) -> bool:
    """Say whether a bake-off is under way, here or in another process of a cluster."""
    if house.bakeoff_registry.latest(bakeoff.id):
        return True
    return house.job_queue is not None and await house.job_queue.is_queued(
        holding_of(house, bakeoff)
    )


async def watching(house: BakeoffContext, bakeoff: Bakeoff) -> AsyncIterator[Progress]:
    """Give all progress of a bake-off that is held, from the newest on to its end.

    Raises what kept it from its end; gives nothing for one that is not held.
    """
    if house.job_queue is None or house.bakeoff_registry.latest(bakeoff.id):
        async for progress in house.bakeoff_registry.subscribe(bakeoff.id):
            yield progress
    elif await is_held(house, bakeoff):
        with house.pubsub.subscription(topic_of(bakeoff.id)) as said:
            async for progress in followed(house, house.job_queue, bakeoff, said):
                yield progress


async def followed(
    house: BakeoffContext, works: JobQueue, bakeoff: Bakeoff, said: "asyncio.Queue[str]"
) -> AsyncIterator[Progress]:
    """Do as `watching` for a bake-off of which news are said; its work was begun."""
    is_over, is_unsure = False, True
    while True:
        is_begun = not is_over and await seems_queued(works, holding_of(house, bakeoff))
        stored = await house.bakeoff_stores.bakeoffs.load(bakeoff.id)
        if is_unsure or not is_begun:
            yield await standing(house, stored)
        if not is_begun and not stored.ending:
            raise BakeoffError(INTERRUPTED.format(id=bakeoff.id))
        if not is_begun:
            return
        async for found in _heard(stored, said):
            if found.error:
                raise found.error
            if found.progress:
                yield found.progress
            is_over, is_unsure = found.is_over, found.is_unsure


async def _heard(bakeoff: Bakeoff, said: "asyncio.Queue[str]") -> AsyncIterator[BakeoffEvent]:
    """Give news as long as they tell how it stands, and one more."""
    has_more = True
    while has_more:
        found = BakeoffEvent()
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                found = heard(await said.get(), bakeoff)
        has_more = found.progress is not None
        yield found


# --- A bake-off held to its end, before people's eyes where it reports to a chat.

INTERRUPTED_BY_FAULT = "It was stopped by a fault: {why}"
LAST_SECONDS, POLL_SECONDS = 10.0, 0.2  # until a work that has told of its end is over, and between


async def hold(house: BakeoffContext, chat: Chat | None, bakeoff: Bakeoff) -> Progress:
    """Carry a kept bake-off to its end, shown in its place by a chat; give how it ended.

    Whoever waits for it may leave: it goes on. Raises HeldElsewhereError where another process
    holds it, PostingForbiddenError where it cannot be shown and nothing was asked yet.
    """
    newest = Progress(bakeoff)
    with house.pubsub.subscription(topic_of(bakeoff.id)) as said:  # from before it begins
        await begin(house, chat, bakeoff)
        if house.job_queue is None:
            going = house.bakeoff_registry.subscribe(bakeoff.id)
        else:
            going = followed(house, house.job_queue, bakeoff, said)
        async for progress in going:
            newest = progress
    return newest


async def begin(house: BakeoffContext, chat: Chat | None, bakeoff: Bakeoff) -> None:
    """Do as `hold`, and do not wait for it; in a cluster, whichever process comes first holds it.

    Then that process finds a chat of its own to show it in.
    """
    if house.job_queue is None:
        house.bakeoff_registry.begin(bakeoff, carry(house, chat))
    else:
        with suppress(StoreError):  # then the sweep finds it
            await house.job_queue.begin(holding_of(house, bakeoff))


def carry(house: BakeoffContext, chat: Chat | None) -> Carry:
    """Give how a bake-off is carried to its end, shown by a chat where there is one."""
    return partial(_held, house, chat)


async def cancel(house: BakeoffContext, bakeoff: Bakeoff, why: str) -> int:
    """Stop spending on a bake-off at once; give how many of its rounds are over and kept.

    Whoever holds it tells of it in its place. Raises BakeoffError for one that is over.
    """
    stored = await house.bakeoff_stores.bakeoffs.load(bakeoff.id)
    if stored.ending:
        raise BakeoffError(f"Bake-off {bakeoff.id} is over already.")
    await house.bakeoff_stores.bakeoffs.end(bakeoff.id, Ending(house.now(), why))
    house.bakeoff_registry.ring(bakeoff.id)
    await house.pubsub.publish(bell_of(bakeoff.id))
    lines = await house.store.recent(wanted=RoundQuery(bakeoff=bakeoff.id))
    unfinished = [line.id for line in lines if line.seconds is None]
    await asyncio.gather(*(house.runner.stop(round_id) for round_id in unfinished))
    for round_id in unfinished:
        await house.budget.release(round_id)
    return len(lines) - len(unfinished)


async def reopened(
    house: BakeoffContext, bakeoff: Bakeoff, cap_micro: int | None = None
) -> Bakeoff:
    """Give a bake-off that did not come to its last question, to be gone on with.

    With a cap, under that one from now on. BakeoffError where there is nothing to go on with.
    """
    if (await house.bakeoff_stores.bakeoffs.load(bakeoff.id)).ending:
        await _let_go(house, bakeoff)
    if await is_held(house, bakeoff):
        raise BakeoffError(f"Bake-off {bakeoff.id} is under way: there is nothing to go on with.")
    if (await standing(house, bakeoff)).is_whole:
        raise BakeoffError(
            f"Every question of bake-off {bakeoff.id} is over: "
            f"`/council bakeoff {bakeoff.suite.name}` holds a new one."
        )
    if cap_micro is not None:
        await house.bakeoff_stores.bakeoffs.limit(bakeoff.id, cap_micro)
    await house.bakeoff_stores.bakeoffs.end(bakeoff.id, None)
    return await house.bakeoff_stores.bakeoffs.load(bakeoff.id)


async def _let_go(house: BakeoffContext, bakeoff: Bakeoff) -> None:
    """Wait until whoever holds it has told that it is over."""
    with suppress(CouncilError):
        async for _ in watching(house, bakeoff):
            pass
    with suppress(TimeoutError):  # it has told, and is about to end
        async with asyncio.timeout(LAST_SECONDS):
            while await is_held(house, bakeoff):  # noqa: ASYNC110 - another process ends it
                await asyncio.sleep(POLL_SECONDS)


async def _held(house: BakeoffContext, chat: Chat | None, held: RunningBakeoff) -> None:
    bakeoff = held.progress.bakeoff
    carrying = BakeoffRunner(house, bakeoff, held.show, held.bell)
    await carrying.take_stock()
    telling = BakeoffPoster(house, chat, carrying.progress) if chat else NullPoster()
    try:
        await telling.begin()
    except PostingForbiddenError as error:  # nobody has been asked yet, and then nobody is
        await house.bakeoff_stores.bakeoffs.end(bakeoff.id, Ending(house.now(), str(error)))
        raise
    try:
        async with telling.kept_up(held):
            outcome = await carrying.run()
    except CouncilError as error:
        await telling.stop(carrying.progress, INTERRUPTED_BY_FAULT.format(why=error))
        raise
    final = await _ended(house, carrying.progress, outcome)
    await telling.end(final, is_cancelled=outcome.cancelled)
    if not outcome.cancelled and final.bakeoff.ending:
        await house.bakeoff_stores.bakeoffs.end(bakeoff.id, final.bakeoff.ending)
    _log(final)
    held.show(final)


def _log(final: Progress) -> None:
    structlog.get_logger().info(
        "bakeoff_ended",
        bakeoff_id=final.bakeoff.id,
        questions=final.questions,
        over=final.over,
        failed=len(final.failed),
        spent_micro=final.spent_micro,
        early=final.bakeoff.ending is not None and final.bakeoff.ending.failure is not None,
    )


async def _ended(house: BakeoffContext, progress: Progress, outcome: Outcome) -> Progress:
    stored = await house.bakeoff_stores.bakeoffs.load(progress.bakeoff.id)
    return progress.ended(stored.ending or Ending(house.now(), outcome.blocked))


# --- Bake-offs held as work of a cluster: by one process at a time, told of to all.

MOST_BAKEOFFS = 20  # held at once by one process
TELL_SECONDS = 0.5  # between two words of how one stands


@dataclass(frozen=True, slots=True)
class BakeoffJobs:
    """Holds what is told by one teller, such as a chat, in the places that the way leads to.

    What the page tells is told to nobody: whoever wants to know looks there.
    """

    house: BakeoffContext
    teller: str
    way: Callable[[Place], Chat | None] = lambda _: None

    def serve_queue(self, works: JobQueue) -> AbstractAsyncContextManager[None]:
        """Hold what is begun, and what nobody holds any more, as long as the block lasts."""
        queue = f"{BAKEOFFS} {self.teller}"
        return works.serve_queue(queue, self.hold, self.unfinished, MOST_BAKEOFFS)

    async def unfinished(self) -> list[str]:
        """Give the ids of what is not over, and was not begun on the command line."""
        wanted = BakeoffQuery(unfinished=True)
        found = await self.house.bakeoff_stores.bakeoffs.recent(wanted=wanted)
        return [bakeoff.id for bakeoff in found if self._is_ours(bakeoff.place)]

    def _is_ours(self, place: Place) -> bool:
        if self.teller == PAGE:
            return place.chat == PAGE
        is_told = queue_of_place(place, self.house.shards) == self.teller
        return is_told and self.way(place) is not None

    async def hold(self, bakeoff_id: str) -> None:
        """Carry a bake-off to its end; raise what kept it from that, once all have been told."""
        bus, topic = self.house.pubsub, topic_of(bakeoff_id)
        bakeoff = await self.house.bakeoff_stores.bakeoffs.load(bakeoff_id)
        beside = BackgroundTasks()
        beside.begin(self._told(bakeoff_id))
        beside.begin(self._rung(bakeoff_id))
        try:
            await self.house.bakeoff_registry.keep(
                bakeoff, carry(self.house, self.way(bakeoff.place))
            )
        except CouncilError as error:
            await bus.publish(topic, failed(error))
            raise
        finally:
            await beside.close()
        await bus.publish(topic, ENDED)

    async def _told(self, bakeoff_id: str) -> None:
        """Tell how it stands, when that has changed."""
        before = None
        while True:
            now = self.house.bakeoff_registry.latest(bakeoff_id)
            if now and now != before:
                await self.house.pubsub.publish(topic_of(bakeoff_id), told(now))
                before = now
            await asyncio.sleep(TELL_SECONDS)

    async def _rung(self, bakeoff_id: str) -> None:
        """Have its row read again whenever somebody asks for that."""
        with self.house.pubsub.subscription(bell_of(bakeoff_id)) as asked:
            while True:
                await asked.get()
                self.house.bakeoff_registry.ring(bakeoff_id)


# --- Bake-offs that a stop or a crash interrupted, gone on with when their chat is there again.

Way = Callable[[Place], Chat | None]


async def go_on_in(house: BakeoffContext, chat: str, way: Way) -> None:
    """Go on with what reports to a chat, in the places that the way leads to."""
    for bakeoff in await _unfinished(house):
        if bakeoff.place.chat == chat and (found := way(bakeoff.place)):
            await _go_on(house, found, bakeoff)


async def go_on_at_home(house: BakeoffContext) -> None:
    """Go on with what was begun on the page or the command line; who looks there, sees it."""
    for bakeoff in await _unfinished(house):
        if bakeoff.place.chat in HOUSE:
            await _go_on(house, None, bakeoff)


async def _unfinished(house: BakeoffContext) -> tuple[Bakeoff, ...]:
    return await house.bakeoff_stores.bakeoffs.recent(wanted=BakeoffQuery(unfinished=True))


async def _go_on(house: BakeoffContext, chat: Chat | None, bakeoff: Bakeoff) -> None:
    try:
        await begin(house, chat, bakeoff)
    except CouncilError as error:  # another process holds it
        structlog.get_logger().info("bakeoff_not_resumed", bakeoff_id=bakeoff.id, why=str(error))
