"""Delivery of rounds in a cluster: by any process of the chat, taken over when it stops."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from bot.chat import IncomingMessage, Post, SendEphemeral, SentMessage
from bot.commands.ask import ask_with_options, open_round
from bot.commands.buttons import resume_round
from bot.commands.dispatch import handle_message, report_errors
from bot.commands.round_delivery import RoundDelivery
from bot.context import AppContext
from bot.ports import Job
from council.errors import CouncilError
from council.places import Place
from council.ports import RoundQuery
from tests.bot.app_fakes import ANA, HERE, Room
from tests.bot.cluster_fakes import Board, processes
from tests.fakes.gateway import BlockedGateway

KEY = "slack:T1:1"
PATIENCE_SECONDS = 10


@dataclass(slots=True)
class Private(Room):
    """A chat whose ephemeral replies go through a given function."""

    reply_by: SendEphemeral | None = None
    broken: bool = False

    async def send(self, place: Place, post: Post, key: str) -> SentMessage:
        if self.broken:
            raise CouncilError("Slack refused: it is broken.")
        return await Room.send(self, place, post, key)

    async def send_ephemeral(self, message: IncomingMessage, post: Post) -> None:
        if self.reply_by is None:
            self.whispered.append(post.summary)
        else:
            await self.reply_by(message, post)


@dataclass(slots=True)
class ClusterHarness:
    """Two processes: the first receives commands, both deliver rounds."""

    board: Board
    apps: Sequence[AppContext]
    gateway: BlockedGateway
    chats: list[Private] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)  # by the way of a process that heard nobody

    @asynccontextmanager
    async def deliver(self, app: AppContext) -> AsyncIterator[None]:
        """Deliver the rounds of Slack with a process while the block lasts."""

        async def chat(_: Place, reply_directly: SendEphemeral) -> Private:
            self.chats.append(Private(reply_by=reply_directly))
            if self.chats[:-1]:
                self.chats[-1].keys = self.chats[0].keys  # one Slack
            self.chats[-1].closed = any(chat.closed for chat in self.chats)
            self.chats[-1].broken = any(chat.broken for chat in self.chats)
            return self.chats[-1]

        async def reply_directly(_: IncomingMessage, post: Post) -> None:
            self.replies.append(post.summary)

        assert app.job_queue
        wanted = RoundQuery(chats=("slack",))
        async with RoundDelivery(app, "slack", wanted, chat, reply_directly).serve_queue(
            app.job_queue
        ):
            yield

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not holds():  # noqa: ASYNC110 - many tasks together bring it about
                await asyncio.sleep(0.005)

    @property
    def posted(self) -> list[str]:
        return [words for chat in self.chats for _, words in chat.posted]


@pytest.fixture
async def harness() -> AsyncIterator[ClusterHarness]:
    gateway = BlockedGateway()
    board, apps = processes(2, gateway)
    yield ClusterHarness(board, apps, gateway)
    for line in await apps[0].store.list_summaries():
        await apps[0].runner.stop(line.id)


def a_message(text: str = "Which queue?", key: str = KEY) -> IncomingMessage:
    return IncomingMessage(text, ANA, HERE, key)


async def test_one_process_takes_a_question_and_another_delivers_its_round(
    harness: ClusterHarness,
) -> None:
    receiver, worker = harness.apps
    chat = Private()
    async with harness.deliver(worker):
        asking = asyncio.create_task(ask_with_options(receiver, chat, a_message()))
        await harness.until(lambda: bool(harness.posted))
        assert chat.whispered == []  # what it costs stands on the progress
        harness.gateway.goes_on.set()
        await asking

    assert chat.posted == []
    line = await receiver.store.load_summary(KEY)
    assert line.delivered
    assert harness.board.begun == [Job("show slack", KEY)]
    assert len(harness.posted) == len({*harness.chats[0].keys}) > 1


async def test_a_round_is_shown_on_by_another_process_when_the_first_leaves(
    harness: ClusterHarness,
) -> None:
    receiver, worker = harness.apps
    async with AsyncExitStack() as stack:
        leaving = await stack.enter_async_context(AsyncExitStack())
        await leaving.enter_async_context(harness.deliver(receiver))
        asking = asyncio.create_task(ask_with_options(receiver, Private(), a_message()))
        await harness.until(lambda: bool(harness.posted))
        await stack.enter_async_context(harness.deliver(worker))

        await leaving.aclose()
        harness.gateway.goes_on.set()
        await asking

    assert (await receiver.store.load_summary(KEY)).delivered
    assert harness.board.begun == [Job("show slack", KEY)] * 2
    assert len(harness.posted) == len({*harness.chats[0].keys})  # nothing was posted twice
    calls = harness.gateway.times_asked()
    assert {*calls.values()} == {1}


async def test_a_round_that_was_stored_by_a_process_that_died_then_is_shown(
    harness: ClusterHarness,
) -> None:
    receiver, worker = harness.apps
    await open_round(receiver, a_message())
    harness.gateway.goes_on.set()

    async with harness.deliver(worker):
        await harness.until(lambda: not harness.board.is_queued(Job("show slack", KEY)))

    assert (await receiver.store.load_summary(KEY)).delivered


async def test_errors_are_sent_by_the_process_that_received_the_command(
    harness: ClusterHarness,
) -> None:
    receiver, worker = harness.apps
    chat = Private()
    harness.chats.append(Private(closed=True))
    async with harness.deliver(worker):
        await report_errors(chat, a_message(), ask_with_options(receiver, chat, a_message()))

    assert chat.whispered[-1] == "The channel is archived: ask in another one."
    assert harness.replies == []
    assert (await receiver.store.load_summary(KEY)).paused


async def test_if_the_receiving_process_is_gone_the_delivering_one_replies(
    harness: ClusterHarness,
) -> None:
    receiver, worker = harness.apps
    asking = asyncio.create_task(ask_with_options(receiver, Private(), a_message()))
    await harness.until(lambda: harness.board.is_queued(Job("show slack", KEY)))
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    harness.chats.append(Private(closed=True))

    async with harness.deliver(worker):
        await harness.until(lambda: bool(harness.replies))

    assert harness.replies == ["The channel is archived: ask in another one."]


async def test_a_round_is_cancelled_and_resumed_from_any_process(
    harness: ClusterHarness,
) -> None:
    receiver, worker = harness.apps
    async with harness.deliver(worker):
        asking = asyncio.create_task(ask_with_options(receiver, Private(), a_message()))
        await harness.until(lambda: bool(harness.gateway.asked) or bool(harness.posted))
        other = Private()
        await handle_message(worker, other, a_message(f"cancel {KEY}", "slack:T1:2"))
        await asking
        assert "is cancelled" in other.whispered[-1]
        assert (await receiver.store.load_summary(KEY)).delivered

        harness.gateway.goes_on.set()
        await resume_round(worker, other, a_message(key="slack:T1:3"), KEY)

    assert (await receiver.store.load(KEY)).closing
    assert (await receiver.store.load_summary(KEY)).delivered


async def test_a_failed_round_is_left_until_somebody_resumes_it(harness: ClusterHarness) -> None:
    receiver, worker = harness.apps
    harness.chats.append(Private(broken=True))
    async with harness.deliver(worker):
        await report_errors(
            Private(), a_message(), ask_with_options(receiver, Private(), a_message())
        )
        await harness.board.sweep()

        assert not (await receiver.store.load_summary(KEY)).delivered
        assert harness.board.begun == [Job("show slack", KEY)]


@dataclass(slots=True)
class Bound(Private):
    """A chat that no other process can post in."""

    is_bound: ClassVar[bool] = True


async def test_where_only_the_receiving_process_can_post_no_other_delivers(
    harness: ClusterHarness,
) -> None:
    receiver, worker = harness.apps
    chat = Bound()
    harness.gateway.goes_on.set()

    async with harness.deliver(worker):
        await ask_with_options(receiver, chat, a_message())
        await harness.board.sweep()

    assert chat.posted
    assert harness.posted == []
    assert harness.board.begun == []
    assert (await receiver.store.load_summary(KEY)).delivered
