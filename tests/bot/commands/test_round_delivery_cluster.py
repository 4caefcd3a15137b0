"""Delivery of rounds in a cluster: by any process of the chat, taken over when it stops."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from bot.chat import Asker, IncomingMessage, Post, SendEphemeral, SentMessage
from bot.commands.ask import ask_with_options, open_round
from bot.commands.buttons import resume_round
from bot.commands.dispatch import handle_message, report_errors
from bot.commands.round_delivery import RoundDelivery
from bot.context import AppContext
from bot.ports import Job
from council.errors import CouncilError
from council.places import Place
from council.ports import RoundQuery
from tests.bot.bakeoffs.fakes import Room
from tests.bot.cluster_fakes import Board, processes
from tests.bot.slack.in_process import BlockedGateway

HERE = Place("slack", "T1", "C1")
ADA = Asker("U1", "Ada")
KEY = "slack:T1:1"
PATIENCE_SECONDS = 10


@dataclass(slots=True)
class Private(Room):
    """A room whose whispers go where it is told."""

    whisper_by: SendEphemeral | None = None
    broken: bool = False

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        if self.broken:
            raise CouncilError("Slack refused: it is broken.")
        return await Room.send(self, place, post, key)

    async def send_ephemeral(self, said: IncomingMessage, post: Post) -> None:
        if self.whisper_by is None:
            self.whispered.append(post.summary)
        else:
            await self.whisper_by(said, post)


@dataclass(slots=True)
class House:
    """Two processes: the first hears, both show."""

    board: Board
    apps: Sequence[AppContext]
    gateway: BlockedGateway
    rooms: list[Private] = field(default_factory=list)
    told: list[str] = field(default_factory=list)  # by the way of a process that heard nobody

    @asynccontextmanager
    async def showing(self, app: AppContext) -> AsyncIterator[None]:
        """Have a process show what is told in Slack."""

        def chat(whisper: SendEphemeral) -> Private:
            self.rooms.append(Private(whisper_by=whisper))
            if self.rooms[:-1]:
                self.rooms[-1].keys = self.rooms[0].keys  # one Slack
            self.rooms[-1].closed = any(room.closed for room in self.rooms)
            self.rooms[-1].broken = any(room.broken for room in self.rooms)
            return self.rooms[-1]

        async def whisper(_: IncomingMessage, post: Post) -> None:
            self.told.append(post.summary)

        assert app.job_queue
        wanted = RoundQuery(chats=("slack",))
        async with RoundDelivery(app, "slack", wanted, chat, whisper).serve_queue(app.job_queue):
            yield

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not holds():  # noqa: ASYNC110 - many tasks together bring it about
                await asyncio.sleep(0.005)

    @property
    def posted(self) -> list[str]:
        return [words for room in self.rooms for _, words in room.posted]


@pytest.fixture
async def house() -> AsyncIterator[House]:
    gateway = BlockedGateway()
    board, apps = processes(2, gateway)
    yield House(board, apps, gateway)
    for line in await apps[0].store.list_summaries():
        await apps[0].runner.stop(line.id)


def said(text: str = "Which queue?", key: str = KEY) -> IncomingMessage:
    return IncomingMessage(text, ADA, HERE, key)


async def test_who_hears_a_question_says_so_and_another_process_shows_its_round(
    house: House,
) -> None:
    hears, shows = house.apps
    chat = Private()
    async with house.showing(shows):
        asking = asyncio.create_task(ask_with_options(hears, chat, said()))
        await house.until(lambda: bool(house.posted))
        assert "Asking" in chat.whispered[0]
        house.gateway.goes_on.set()
        await asking

    assert chat.posted == []
    line = await hears.store.load_summary(KEY)
    assert line.delivered
    assert house.board.begun == [Job("show slack", KEY)]
    assert len(house.posted) == len({*house.rooms[0].keys}) > 1


async def test_a_round_is_shown_on_by_another_process_when_the_first_leaves(house: House) -> None:
    hears, shows = house.apps
    async with AsyncExitStack() as stack:
        leaving = await stack.enter_async_context(AsyncExitStack())
        await leaving.enter_async_context(house.showing(hears))
        asking = asyncio.create_task(ask_with_options(hears, Private(), said()))
        await house.until(lambda: bool(house.posted))
        await stack.enter_async_context(house.showing(shows))

        await leaving.aclose()
        house.gateway.goes_on.set()
        await asking

    assert (await hears.store.load_summary(KEY)).delivered
    assert house.board.begun == [Job("show slack", KEY)] * 2
    assert len(house.posted) == len({*house.rooms[0].keys})  # nothing was posted twice
    calls = house.gateway.times_asked()
    assert {*calls.values()} == {1}


async def test_a_round_that_was_stored_by_a_process_that_died_then_is_shown(house: House) -> None:
    hears, shows = house.apps
    await open_round(hears, said(), "Which queue?")
    house.gateway.goes_on.set()

    async with house.showing(shows):
        await house.until(lambda: not house.board.is_queued(Job("show slack", KEY)))

    assert (await hears.store.load_summary(KEY)).delivered


async def test_what_goes_wrong_is_told_by_the_process_that_heard_the_asker(house: House) -> None:
    hears, shows = house.apps
    chat = Private()
    house.rooms.append(Private(closed=True))
    async with house.showing(shows):
        await report_errors(chat, said(), ask_with_options(hears, chat, said()))

    assert chat.whispered[-1] == "The channel is archived: ask in another one."
    assert house.told == []
    assert (await hears.store.load_summary(KEY)).paused


async def test_where_that_process_is_gone_whoever_shows_it_tells_the_asker(house: House) -> None:
    hears, shows = house.apps
    asking = asyncio.create_task(ask_with_options(hears, Private(), said()))
    await house.until(lambda: house.board.is_queued(Job("show slack", KEY)))
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    house.rooms.append(Private(closed=True))

    async with house.showing(shows):
        await house.until(lambda: bool(house.told))

    assert house.told == ["The channel is archived: ask in another one."]


async def test_a_round_is_cancelled_and_gone_on_with_from_any_process(house: House) -> None:
    hears, shows = house.apps
    async with house.showing(shows):
        asking = asyncio.create_task(ask_with_options(hears, Private(), said()))
        await house.until(lambda: bool(house.gateway.asked) or bool(house.posted))
        other = Private()
        await handle_message(shows, other, said(f"cancel {KEY}", "slack:T1:2"))
        await asking
        assert "is cancelled" in other.whispered[-1]
        assert (await hears.store.load_summary(KEY)).delivered

        house.gateway.goes_on.set()
        await resume_round(shows, other, said(key="slack:T1:3"), KEY)

    assert (await hears.store.load(KEY)).closing
    assert (await hears.store.load_summary(KEY)).delivered


async def test_what_failed_is_left_until_somebody_goes_on_with_it(house: House) -> None:
    hears, shows = house.apps
    house.rooms.append(Private(broken=True))
    async with house.showing(shows):
        await report_errors(Private(), said(), ask_with_options(hears, Private(), said()))
        await house.board.sweep()

        assert not (await hears.store.load_summary(KEY)).delivered
        assert house.board.begun == [Job("show slack", KEY)]
