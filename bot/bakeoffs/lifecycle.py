"""Life of a bake-off: start it, watch it from any process, cancel it, resume it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Any

import structlog

from bot.bakeoffs.parts import bakeoff_registry, bakeoff_stores
from bot.bakeoffs.posting import BakeoffPoster
from bot.bakeoffs.registry import RunningBakeoff
from bot.bakeoffs.runner import BakeoffRunner
from bot.chat import Chat, FindChat, PostingForbiddenError
from bot.context import AppContext
from bot.coordination.tasks import BackgroundTasks
from bot.ports import (
    BAKEOFFS,
    PAGE,
    Job,
    JobQueue,
    PlaceQueues,
    is_probably_queued,
    job_for,
    queue_for,
)
from council.bakeoffs.graders import check_graders
from council.bakeoffs.models import Bakeoff, BakeoffProgress, Ending, FailedQuestion
from council.bakeoffs.ports import BakeoffQuery
from council.errors import BakeoffError, CouncilError, StoreError
from council.places import LOCAL_CHATS
from council.ports import RoundQuery

RELOAD_SECONDS = 3.0  # without an event, after which the rows are read
MAX_END_SECONDS, POLL_SECONDS = 10.0, 0.2  # for a job that has published its end to be over
MIN_PUBLISH_SECONDS = 0.5  # between two events of one bake-off


# --- Start and watch


async def run_bakeoff(app: AppContext, chat: Chat | None, bakeoff: Bakeoff) -> BakeoffProgress:
    """Start a stored bake-off, wait for its end and return its last progress.

    Cancelling the wait does not stop the bake-off. Raise RunningElsewhereError if another process
    runs it, PostingForbiddenError if it cannot be posted and no question was asked.
    """
    newest = BakeoffProgress(bakeoff)
    with app.pubsub.subscription(_progress_topic(bakeoff.id)) as messages:  # before it starts
        await begin_bakeoff(app, chat, bakeoff)
        if app.job_queue is None:
            events = bakeoff_registry(app).subscribe(bakeoff.id)
        else:
            events = _follow(app, app.job_queue, bakeoff, messages)
        async for progress in events:
            newest = progress
    return newest


async def begin_bakeoff(app: AppContext, chat: Chat | None, bakeoff: Bakeoff) -> None:
    """Start a stored bake-off and return; post its progress with `chat` if there is one.

    In a cluster any process runs it, and finds the chat itself. Raise SuiteError if a grader is
    missing.
    """
    check_graders(bakeoff.suite, app.registry)
    if app.job_queue is None:
        bakeoff_registry(app).start(bakeoff, partial(_run, app, chat))
    else:
        with suppress(StoreError):  # then the sweep finds it
            await app.job_queue.enqueue(_job(app, bakeoff))


async def watch_bakeoff(app: AppContext, bakeoff: Bakeoff) -> AsyncIterator[BakeoffProgress]:
    """Yield the progress of a running bake-off, from the newest to its end.

    Raise the error that it fails with. Yield nothing if it does not run.
    """
    if app.job_queue is None or bakeoff_registry(app).latest(bakeoff.id):
        async for progress in bakeoff_registry(app).subscribe(bakeoff.id):
            yield progress
    elif await is_bakeoff_running(app, bakeoff):
        with app.pubsub.subscription(_progress_topic(bakeoff.id)) as messages:
            async for progress in _follow(app, app.job_queue, bakeoff, messages):
                yield progress


async def load_progress(app: AppContext, bakeoff: Bakeoff) -> BakeoffProgress:
    """Return the progress of a bake-off: from memory if it runs here, else from its rows."""
    if latest := bakeoff_registry(app).latest(bakeoff.id):
        return latest
    runner = BakeoffRunner(app, bakeoff, lambda _: None, asyncio.Event())
    await runner.load_state()
    return runner.progress


async def is_bakeoff_running(app: AppContext, bakeoff: Bakeoff) -> bool:
    """Return whether a bake-off is running, here or in another process of the cluster."""
    if bakeoff_registry(app).latest(bakeoff.id):
        return True
    return app.job_queue is not None and await app.job_queue.is_queued(_job(app, bakeoff))


def _job(app: AppContext, bakeoff: Bakeoff) -> Job:
    return job_for(BAKEOFFS, bakeoff.place, bakeoff.id, app.parts.all(PlaceQueues))


async def _follow(
    app: AppContext, job_queue: JobQueue, bakeoff: Bakeoff, messages: "asyncio.Queue[str]"
) -> AsyncIterator[BakeoffProgress]:
    """Yield the progress of a queued bake-off from its published events; rows fill the gaps."""
    is_over, is_unclear = False, True
    while True:
        is_queued = not is_over and await is_probably_queued(job_queue, _job(app, bakeoff))
        stored = await bakeoff_stores(app).bakeoffs.load(bakeoff.id)
        if is_unclear or not is_queued:
            yield await load_progress(app, stored)
        if not is_queued and not stored.ending:
            raise BakeoffError(
                f"The bake-off of {bakeoff.suite.name} was interrupted. Resume it with "
                f"`/council bakeoff resume {bakeoff.typed_name}`."
            )
        if not is_queued:
            return
        event = await _next_event(stored, messages)
        while isinstance(event, BakeoffProgress):
            yield event
            event = await _next_event(stored, messages)
        if isinstance(event, CouncilError):
            raise event
        is_over, is_unclear = event is Signal.OVER, event is Signal.UNCLEAR


# --- Cancel and resume


async def stop_bakeoff(app: AppContext, bakeoff: Bakeoff, why: str) -> int:
    """Stop a bake-off at once and return how many of its rounds are closed.

    The process that runs it posts the result. Raise BakeoffError if it is over.
    """
    stored = await bakeoff_stores(app).bakeoffs.load(bakeoff.id)
    if stored.ending:
        raise BakeoffError("This bake-off has already ended.")
    await bakeoff_stores(app).bakeoffs.end(bakeoff.id, Ending(app.now(), why))
    bakeoff_registry(app).reload(bakeoff.id)
    await app.pubsub.publish(_reload_topic(bakeoff.id))
    lines = await app.store.list_summaries(wanted=RoundQuery(bakeoff=bakeoff.id))
    unfinished = [line.id for line in lines if line.seconds is None]
    await asyncio.gather(*(app.runner.stop(round_id) for round_id in unfinished))
    for round_id in unfinished:
        await app.budget.ledger.release(round_id)
    return len(lines) - len(unfinished)


async def reopen_bakeoff(
    app: AppContext, bakeoff: Bakeoff, cap_micro: int | None = None
) -> Bakeoff:
    """Mark a bake-off with open questions as unfinished, under a new cap if given; return it.

    Raise BakeoffError if it is running or every question is closed, SuiteError if a grader is
    missing.
    """
    check_graders(bakeoff.suite, app.registry)
    if (await bakeoff_stores(app).bakeoffs.load(bakeoff.id)).ending:
        await _wait_for_end(app, bakeoff)
    if await is_bakeoff_running(app, bakeoff):
        raise BakeoffError("This bake-off is still running, so there is nothing to resume.")
    if (await load_progress(app, bakeoff)).is_complete:
        raise BakeoffError(
            f"This bake-off has no questions left. `/council bakeoff {bakeoff.suite.name}` "
            "starts a new one."
        )
    if cap_micro is not None:
        await bakeoff_stores(app).bakeoffs.limit(bakeoff.id, cap_micro)
    await bakeoff_stores(app).bakeoffs.end(bakeoff.id, None)
    return await bakeoff_stores(app).bakeoffs.load(bakeoff.id)


async def _wait_for_end(app: AppContext, bakeoff: Bakeoff) -> None:
    """Wait until a bake-off that has ended no longer runs."""
    with suppress(CouncilError):
        async for _ in watch_bakeoff(app, bakeoff):
            pass
    with suppress(TimeoutError):  # it has published its end, and its job is about to finish
        async with asyncio.timeout(MAX_END_SECONDS):
            while await is_bakeoff_running(app, bakeoff):  # noqa: ASYNC110 - another process ends it
                await asyncio.sleep(POLL_SECONDS)


async def resume_bakeoffs_of_chat(app: AppContext, chat: str, way: FindChat) -> None:
    """Restart the unfinished bake-offs of a chat, in the places that `way` finds a chat for."""
    for bakeoff in await _unfinished(app):
        if bakeoff.place.chat == chat and (found := way(bakeoff.place)):
            await _restart(app, found, bakeoff)


async def resume_local_bakeoffs(app: AppContext) -> None:
    """Restart the unfinished bake-offs of the web page and the command line."""
    for bakeoff in await _unfinished(app):
        if bakeoff.place.chat in LOCAL_CHATS:
            await _restart(app, None, bakeoff)


async def _unfinished(app: AppContext) -> tuple[Bakeoff, ...]:
    return await bakeoff_stores(app).bakeoffs.list_recent(wanted=BakeoffQuery(unfinished=True))


async def _restart(app: AppContext, chat: Chat | None, bakeoff: Bakeoff) -> None:
    try:
        await begin_bakeoff(app, chat, bakeoff)
    except CouncilError as error:  # another process runs it
        structlog.get_logger().info("bakeoff_not_resumed", bakeoff_id=bakeoff.id, why=str(error))


# --- The run itself, in the process that has the bake-off's task or job


async def _run(app: AppContext, chat: Chat | None, running: RunningBakeoff) -> None:
    bakeoff = running.state.bakeoff
    if trial := bakeoff.panel.trial:
        app.seat(trial.candidate)  # it may be in no panel, so that nothing else made it ready
    runner = BakeoffRunner(app, bakeoff, running.publish, running.reload)
    await runner.load_state()
    poster = BakeoffPoster(app, chat, runner.progress) if chat else None
    if poster:
        try:
            await poster.begin()
        except PostingForbiddenError as error:  # no question was asked yet, and none is asked now
            await bakeoff_stores(app).bakeoffs.end(bakeoff.id, Ending(app.now(), str(error)))
            raise
    try:
        async with poster.keep_updated(running) if poster else nullcontext():
            blocked = await runner.run()
    except CouncilError as error:
        if poster:
            await poster.stop(runner.progress, f"It stopped because of an error: {error}")
        raise
    cancelled = (await bakeoff_stores(app).bakeoffs.load(bakeoff.id)).ending
    ending = cancelled or Ending(app.now(), blocked)
    final = runner.progress.ended(ending)
    if poster:
        await poster.end(final, is_cancelled=cancelled is not None)
    if not cancelled:
        await bakeoff_stores(app).bakeoffs.end(bakeoff.id, ending)
    structlog.get_logger().info(
        "bakeoff_ended",
        bakeoff_id=bakeoff.id,
        questions=final.questions,
        over=final.over,
        failed=len(final.failed),
        spent_micro=final.spent_micro,
        unknown_calls=final.unknown_calls,
        early=ending.failure is not None,
    )
    running.publish(final)


@dataclass(frozen=True, slots=True)
class BakeoffJobs:
    """Worker for the bake-offs of a chat, one of its connections or the page, as jobs of a cluster.

    `way` finds the chat for a place. Bake-offs of the page are not posted: people look there.
    """

    app: AppContext
    teller: str
    way: FindChat = lambda _: None

    def serve_queue(self, job_queue: JobQueue) -> AbstractAsyncContextManager[None]:
        """Run queued bake-offs, and those whose process died, for the duration of the block."""
        queue, concurrency = f"{BAKEOFFS} {self.teller}", 20
        return job_queue.serve_queue(queue, self.run, self.unfinished, concurrency)

    async def unfinished(self) -> list[str]:
        """Return the ids of this queue's unfinished bake-offs; not those of the command line."""
        return [bakeoff.id for bakeoff in await _unfinished(self.app) if self._is_ours(bakeoff)]

    def _is_ours(self, bakeoff: Bakeoff) -> bool:
        if self.teller == PAGE:
            return bakeoff.place.chat == PAGE
        queues = self.app.parts.all(PlaceQueues)
        is_of_queue = queue_for(bakeoff.place, queues) == self.teller
        return is_of_queue and self.way(bakeoff.place) is not None

    async def run(self, bakeoff_id: str) -> None:
        """Run a bake-off to its end and publish its events; raise the error that it fails with."""
        pubsub, topic = self.app.pubsub, _progress_topic(bakeoff_id)
        bakeoff = await bakeoff_stores(self.app).bakeoffs.load(bakeoff_id)
        tasks = BackgroundTasks()
        tasks.start(self._publish_progress(bakeoff_id))
        tasks.start(self._pass_on_reloads(bakeoff_id))
        try:
            run = partial(_run, self.app, self.way(bakeoff.place))
            await bakeoff_registry(self.app).run(bakeoff, run)
        except CouncilError as error:
            await pubsub.publish(topic, encode_error(error))
            raise
        finally:
            await tasks.close()
        await pubsub.publish(topic, ENDED)

    async def _publish_progress(self, bakeoff_id: str) -> None:
        previous = None
        while True:
            latest = bakeoff_registry(self.app).latest(bakeoff_id)
            if latest and latest != previous:
                await self.app.pubsub.publish(_progress_topic(bakeoff_id), encode_progress(latest))
                previous = latest
            await asyncio.sleep(MIN_PUBLISH_SECONDS)

    async def _pass_on_reloads(self, bakeoff_id: str) -> None:
        """Reload the row whenever another process asks for that."""
        with self.app.pubsub.subscription(_reload_topic(bakeoff_id)) as requests:
            while True:
                await requests.get()
                bakeoff_registry(self.app).reload(bakeoff_id)


# --- Events of a bake-off as published messages

ENDED = json.dumps({"ended": True})


class Signal(Enum):
    """An event without content: the end, an unclear message, or none for a while."""

    OVER = auto()
    UNCLEAR = auto()
    TIMEOUT = auto()


# New progress, the error that a bake-off failed with, or a signal.
BakeoffEvent = BakeoffProgress | CouncilError | Signal


def _progress_topic(bakeoff_id: str) -> str:
    return f"bakeoff {bakeoff_id}"


def _reload_topic(bakeoff_id: str) -> str:
    return f"bell {bakeoff_id}"


def encode_progress(progress: BakeoffProgress) -> str:
    """Return the message for new progress."""
    return json.dumps(
        {
            "over": progress.over,
            "failed": [[one.number, one.why] for one in progress.failed],
            "under_way": progress.under_way,
            "spent_micro": progress.spent_micro,
            "unknown_calls": progress.unknown_calls,
            "seconds_left": progress.seconds_left,
            "changed": progress.changed,
            "stored": progress.stored,
        }
    )


def encode_error(error: CouncilError) -> str:
    """Return the message for the error that a bake-off failed with."""
    return json.dumps({"why": str(error), "unwelcome": isinstance(error, PostingForbiddenError)})


def parse_event(text: str, bakeoff: Bakeoff) -> BakeoffEvent:
    """Parse a message; it is unclear if it is "" or from another version."""
    try:
        document: dict[str, Any] = json.loads(text)
        if "why" in document:
            kind = PostingForbiddenError if document["unwelcome"] else BakeoffError
            return kind(document["why"])
        if "over" in document:
            failed = tuple(FailedQuestion(number, why) for number, why in document.pop("failed"))
            return BakeoffProgress(bakeoff, failed=failed, **document)
        return Signal.OVER if document["ended"] else Signal.UNCLEAR
    except (ValueError, TypeError, KeyError, AttributeError):
        return Signal.UNCLEAR


async def _next_event(bakeoff: Bakeoff, messages: "asyncio.Queue[str]") -> BakeoffEvent:
    with suppress(TimeoutError):
        async with asyncio.timeout(RELOAD_SECONDS):
            return parse_event(await messages.get(), bakeoff)
    return Signal.TIMEOUT
