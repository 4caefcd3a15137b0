"""Bake-offs in a cluster: run by one process; started, watched and cancelled from any."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest

from bot.bakeoffs import lifecycle as holding
from bot.bakeoffs import lifecycle as news
from bot.bakeoffs.lifecycle import BakeoffJobs, is_bakeoff_running, watch_bakeoff
from bot.chat import PostingForbiddenError
from bot.context import AppContext
from bot.ports import Job, JobQueue
from council.bakeoffs.models import Bakeoff, BakeoffProgress, FailedQuestion
from council.errors import BakeoffError
from council.places import Place
from tests.bot.bakeoffs.fakes import Room, a_bakeoff, kept, questions_asked
from tests.bot.cluster_fakes import Board, processes
from tests.bot.slack.in_process import BlockedGateway

PATIENCE_SECONDS = 10
WORK = Job("bakeoffs slack", "bo:beef")


@dataclass(slots=True)
class House:
    """Three processes; what holds in Slack holds in one room."""

    board: Board
    apps: Sequence[AppContext]
    gateway: BlockedGateway
    room: Room

    def holding(self, app: AppContext, teller: str = "slack") -> BakeoffJobs:
        way = (lambda _: self.room) if teller == "slack" else (lambda _: None)
        return BakeoffJobs(app, teller, way)


@pytest.fixture
async def house() -> AsyncIterator[House]:
    gateway = BlockedGateway()
    board, apps = processes(3, gateway)
    async with asyncio.timeout(PATIENCE_SECONDS):
        yield House(board, apps, gateway, Room())
    for line in await apps[0].store.list_summaries():
        await apps[0].runner.stop(line.id)


async def until(holds: Callable[[], object]) -> None:
    while not holds():  # noqa: ASYNC110 - many tasks together bring it about
        await asyncio.sleep(0.005)


async def until_free(house: House, work: Job = WORK) -> None:
    await until(lambda: not house.board.is_queued(work))


async def test_one_process_holds_it_and_another_waits_for_its_end(house: House) -> None:
    begins, holds, _ = house.apps
    bakeoff = await kept(begins)
    house.gateway.goes_on.set()
    async with house.holding(holds).serve_queue(_works(holds)):
        final = await holding.run_bakeoff(begins, None, bakeoff)

    assert final.is_complete
    assert final.bakeoff.ending
    assert house.board.begun == [WORK]
    assert begins.bakeoff_registry.latest(bakeoff.id) is None
    assert len(house.room.keys) == len({*house.room.keys})  # nothing was posted twice


async def test_every_process_sees_how_it_goes(house: House) -> None:
    begins, holds, watches = house.apps
    bakeoff = await kept(begins)
    async with house.holding(holds).serve_queue(_works(holds)):
        await holding.begin_bakeoff(begins, None, bakeoff)
        await until_held(house)
        assert await is_bakeoff_running(watches, bakeoff)
        seen: list[BakeoffProgress] = []
        watching_it = asyncio.create_task(_watched(watches, bakeoff, seen))
        await until(lambda: any(progress.under_way for progress in seen))
        house.gateway.goes_on.set()
        await watching_it

    assert seen[-1].bakeoff.ending
    assert seen[-1].is_complete
    assert not await is_bakeoff_running(watches, bakeoff)


async def until_held(house: House) -> None:
    await until(lambda: house.apps[1].bakeoff_registry.latest(WORK.name))


async def _watched(app: AppContext, bakeoff: Bakeoff, seen: list[BakeoffProgress]) -> None:
    async for progress in watch_bakeoff(app, bakeoff):
        seen.append(progress)  # noqa: PERF401 - one by one, for whoever looks meanwhile


async def test_another_process_goes_on_with_it_when_its_holder_leaves(house: House) -> None:
    begins, first, second = house.apps
    bakeoff = await kept(begins)
    async with AsyncExitStack() as stack:
        leaving = await stack.enter_async_context(AsyncExitStack())
        await leaving.enter_async_context(house.holding(first).serve_queue(_works(first)))
        waiting = asyncio.create_task(holding.run_bakeoff(begins, None, bakeoff))
        await until_held(house)
        await stack.enter_async_context(house.holding(second).serve_queue(_works(second)))

        await leaving.aclose()
        house.gateway.goes_on.set()
        final = await waiting

    assert final.is_complete
    assert house.board.begun == [WORK, WORK]
    assert len(house.room.keys) == len({*house.room.keys})  # nothing was posted twice
    assert len(questions_asked(house.gateway)) == 3 * len(bakeoff.panel.members)


async def test_what_nobody_holds_any_more_is_held_by_whoever_serves(house: House) -> None:
    _, holds, _ = house.apps
    bakeoff = await kept(holds)
    house.gateway.goes_on.set()

    async with house.holding(holds).serve_queue(_works(holds)):
        await until_free(house)

    assert (await holds.bakeoff_stores.bakeoffs.load(bakeoff.id)).ending


async def test_it_is_cancelled_from_any_process_and_gone_on_with_from_another(
    house: House,
) -> None:
    begins, holds, other = house.apps
    bakeoff = await kept(begins)
    async with house.holding(holds).serve_queue(_works(holds)):
        waiting = asyncio.create_task(holding.run_bakeoff(begins, None, bakeoff))
        await until_held(house)

        await holding.stop_bakeoff(other, bakeoff, "It was cancelled.")
        ended = await waiting
        assert ended.bakeoff.ending
        again = await holding.reopen_bakeoff(begins, bakeoff)
        house.gateway.goes_on.set()
        final = await holding.run_bakeoff(begins, None, again)

    assert final.is_complete
    assert "cancelled" in " ".join(house.room.edited)


async def test_where_it_cannot_be_told_whoever_began_it_hears_why(house: House) -> None:
    begins, holds, _ = house.apps
    house.room.closed = True
    bakeoff = await kept(begins)
    async with house.holding(holds).serve_queue(_works(holds)):
        with pytest.raises(PostingForbiddenError, match="The channel is archived"):
            await holding.run_bakeoff(begins, None, bakeoff)

    assert house.gateway.asked == []


async def test_one_that_is_under_way_elsewhere_is_not_gone_on_with(house: House) -> None:
    begins, holds, other = house.apps
    bakeoff = await kept(begins)
    async with house.holding(holds).serve_queue(_works(holds)):
        await holding.begin_bakeoff(begins, None, bakeoff)

        with pytest.raises(BakeoffError, match="is under way: there is nothing to go on with"):
            await holding.reopen_bakeoff(other, bakeoff)


async def test_what_was_begun_on_the_page_is_the_pages_alone(house: House) -> None:
    page, slack, _ = house.apps
    await kept(page, a_bakeoff(place=Place("web"), id_="bo:page"))
    await kept(page, a_bakeoff(place=Place("terminal"), id_="bo:typed"))
    house.gateway.goes_on.set()

    async with house.holding(slack).serve_queue(_works(slack)):
        assert house.board.begun == []
    async with house.holding(page, "web").serve_queue(_works(page)):
        await until_free(house, Job("bakeoffs web", "bo:page"))

    assert house.board.begun == [Job("bakeoffs web", "bo:page")]
    assert (await page.bakeoff_stores.bakeoffs.load("bo:page")).ending
    assert (await page.bakeoff_stores.bakeoffs.load("bo:typed")).ending is None


def _works(app: AppContext) -> JobQueue:
    assert app.job_queue
    return app.job_queue


def test_what_is_told_of_one_is_read_as_it_was_meant() -> None:
    progress = BakeoffProgress(a_bakeoff(), 2, (FailedQuestion(1, "why"),), 1, 5, 2.5, "abc", 3)

    assert news.parse_event(news.encode_progress(progress), a_bakeoff()) == news.BakeoffEvent(
        progress
    )


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"over": 1}', '{"new": "kind"}', "null"])
def test_what_another_version_told_otherwise_is_looked_up(text: str) -> None:
    assert news.parse_event(text, a_bakeoff()) == news.BakeoffEvent(is_unclear=True)


async def test_one_whose_work_was_left_is_said_to_be_interrupted(house: House) -> None:
    begins, *_ = house.apps
    bakeoff = await kept(begins)
    waiting = asyncio.create_task(holding.run_bakeoff(begins, None, bakeoff))
    await until(lambda: house.board.waiting)

    house.board.waiting.clear()
    await begins.pubsub.publish(f"bakeoff {bakeoff.id}")

    with pytest.raises(BakeoffError, match="was interrupted: `/council bakeoff resume bo:beef`"):
        await waiting
