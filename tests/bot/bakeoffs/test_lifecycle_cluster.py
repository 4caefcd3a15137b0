"""Bake-offs in a cluster: run by one process; started, watched and cancelled from any."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from bot.bakeoffs import lifecycle
from bot.bakeoffs.lifecycle import BakeoffJobs, is_bakeoff_running, watch_bakeoff
from bot.bakeoffs.parts import bakeoff_registry, bakeoff_stores
from bot.chat import PostingForbiddenError
from bot.context import AppContext
from bot.ports import Job, JobQueue
from council.bakeoffs.models import Bakeoff, BakeoffProgress, FailedQuestion
from council.errors import BakeoffError
from council.places import Place
from tests.bot.app_fakes import Room
from tests.bot.bakeoffs.fakes import a_bakeoff, questions_asked, store_bakeoff
from tests.bot.cluster_fakes import Board, processes
from tests.fakes.gateway import BlockedGateway

PATIENCE_SECONDS = 10
WORK = Job("bakeoffs slack", "bo:beef")


@dataclass(slots=True)
class ClusterHarness:
    """Three processes; what holds in Slack holds in one room."""

    board: Board
    apps: Sequence[AppContext]
    gateway: BlockedGateway
    chat: Room

    def worker(self, app: AppContext, teller: str = "slack") -> BakeoffJobs:
        way = (lambda _: self.chat) if teller == "slack" else (lambda _: None)
        return BakeoffJobs(app, teller, way)


@pytest.fixture
async def harness() -> AsyncIterator[ClusterHarness]:
    gateway = BlockedGateway()
    board, apps = processes(3, gateway)
    async with asyncio.timeout(PATIENCE_SECONDS):
        yield ClusterHarness(board, apps, gateway, Room())
    for line in await apps[0].store.list_summaries():
        await apps[0].runner.stop(line.id)


async def until(holds: Callable[[], object]) -> None:
    while not holds():  # noqa: ASYNC110 - many tasks together bring it about
        await asyncio.sleep(0.005)


async def until_free(harness: ClusterHarness, work: Job = WORK) -> None:
    await until(lambda: not harness.board.is_queued(work))


async def test_every_process_sees_how_it_goes(harness: ClusterHarness) -> None:
    begins, holds, watches = harness.apps
    bakeoff = await store_bakeoff(begins)
    async with harness.worker(holds).serve_queue(_works(holds)):
        await lifecycle.begin_bakeoff(begins, None, bakeoff)
        await until_held(harness)
        assert await is_bakeoff_running(watches, bakeoff)
        seen: list[BakeoffProgress] = []
        watching_it = asyncio.create_task(_watched(watches, bakeoff, seen))
        await until(lambda: any(progress.under_way for progress in seen))
        harness.gateway.goes_on.set()
        await watching_it

    assert seen[-1].bakeoff.ending
    assert seen[-1].is_complete
    assert not await is_bakeoff_running(watches, bakeoff)


async def until_held(harness: ClusterHarness) -> None:
    await until(lambda: bakeoff_registry(harness.apps[1]).latest(WORK.name))


async def _watched(app: AppContext, bakeoff: Bakeoff, seen: list[BakeoffProgress]) -> None:
    async for progress in watch_bakeoff(app, bakeoff):
        seen.append(progress)  # noqa: PERF401 - one by one, for whoever looks meanwhile


async def test_another_process_takes_over_a_bakeoff_when_its_process_stops(
    harness: ClusterHarness,
) -> None:
    begins, first, second = harness.apps
    bakeoff = await store_bakeoff(begins)
    async with AsyncExitStack() as stack:
        leaving = await stack.enter_async_context(AsyncExitStack())
        await leaving.enter_async_context(harness.worker(first).serve_queue(_works(first)))
        waiting = asyncio.create_task(lifecycle.run_bakeoff(begins, None, bakeoff))
        await until_held(harness)
        await stack.enter_async_context(harness.worker(second).serve_queue(_works(second)))

        await leaving.aclose()
        harness.gateway.goes_on.set()
        final = await waiting

    assert final.is_complete
    assert harness.board.begun == [WORK, WORK]
    assert len(harness.chat.keys) == len({*harness.chat.keys})  # nothing was posted twice
    assert len(questions_asked(harness.gateway)) == 3 * len(bakeoff.panel.members)


async def test_a_bakeoff_is_cancelled_from_any_process_and_resumed_from_another(
    harness: ClusterHarness,
) -> None:
    begins, holds, other = harness.apps
    bakeoff = await store_bakeoff(begins)
    async with harness.worker(holds).serve_queue(_works(holds)):
        waiting = asyncio.create_task(lifecycle.run_bakeoff(begins, None, bakeoff))
        await until_held(harness)

        await lifecycle.stop_bakeoff(other, bakeoff, "It was cancelled.")
        ended = await waiting
        assert ended.bakeoff.ending
        again = await lifecycle.reopen_bakeoff(begins, bakeoff)
        harness.gateway.goes_on.set()
        final = await lifecycle.run_bakeoff(begins, None, again)

    assert final.is_complete
    assert "cancelled" in " ".join(harness.chat.edited)


async def test_a_bakeoff_that_cannot_be_posted_fails_for_its_starter(
    harness: ClusterHarness,
) -> None:
    begins, holds, _ = harness.apps
    harness.chat.closed = True
    bakeoff = await store_bakeoff(begins)
    async with harness.worker(holds).serve_queue(_works(holds)):
        with pytest.raises(PostingForbiddenError, match="The channel is archived"):
            await lifecycle.run_bakeoff(begins, None, bakeoff)

    assert harness.gateway.asked == []


async def test_a_bakeoff_that_runs_elsewhere_is_not_resumed(harness: ClusterHarness) -> None:
    begins, holds, other = harness.apps
    bakeoff = await store_bakeoff(begins)
    async with harness.worker(holds).serve_queue(_works(holds)):
        await lifecycle.begin_bakeoff(begins, None, bakeoff)

        with pytest.raises(BakeoffError, match="is still running"):
            await lifecycle.reopen_bakeoff(other, bakeoff)


async def test_bakeoffs_of_the_page_run_only_in_the_pages_queue(harness: ClusterHarness) -> None:
    page, slack, _ = harness.apps
    await store_bakeoff(page, a_bakeoff(place=Place("web"), id_="bo:page"))
    await store_bakeoff(page, a_bakeoff(place=Place("terminal"), id_="bo:typed"))
    harness.gateway.goes_on.set()

    async with harness.worker(slack).serve_queue(_works(slack)):
        assert harness.board.begun == []
    async with harness.worker(page, "web").serve_queue(_works(page)):
        await until_free(harness, Job("bakeoffs web", "bo:page"))

    assert harness.board.begun == [Job("bakeoffs web", "bo:page")]
    assert (await bakeoff_stores(page).bakeoffs.load("bo:page")).ending
    assert (await bakeoff_stores(page).bakeoffs.load("bo:typed")).ending is None


def _works(app: AppContext) -> JobQueue:
    assert app.job_queue
    return app.job_queue


def test_events_of_a_bakeoff_survive_encoding() -> None:
    progress = BakeoffProgress(a_bakeoff(), 2, (FailedQuestion(1, "why"),), 1, 5, 2.5, "abc", 3, 4)

    assert lifecycle.parse_event(lifecycle.encode_progress(progress), a_bakeoff()) == progress


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"over": 1}', '{"new": "kind"}', "null"])
def test_an_unclear_event_of_another_version_causes_a_reload(text: str) -> None:
    assert lifecycle.parse_event(text, a_bakeoff()) == lifecycle.Signal.UNCLEAR


async def test_a_bakeoff_whose_job_is_gone_is_reported_as_interrupted(
    harness: ClusterHarness,
) -> None:
    begins, *_ = harness.apps
    bakeoff = await store_bakeoff(begins)
    waiting = asyncio.create_task(lifecycle.run_bakeoff(begins, None, bakeoff))
    await until(lambda: harness.board.waiting)

    harness.board.waiting.clear()
    await begins.pubsub.publish(f"bakeoff {bakeoff.id}")

    with pytest.raises(BakeoffError, match="Resume it with `/council bakeoff resume bo:beef`"):
        await waiting
