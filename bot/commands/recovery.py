"""Recovery: reconnect chats, deliver what was not delivered, delete what a workspace leaves."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from math import inf

import structlog

from bot.admin_settings import SETTINGS
from bot.chat import DeliveryUnknownError, FindChat
from bot.commands.conversations import CONVERSATION
from bot.commands.dispatch import report_errors
from bot.commands.round_delivery import RoundDelivery, follow_and_deliver, message_of
from bot.commands.thread_context import ABOUT, CONSENT, REQUESTED
from bot.context import PICKED_PANEL, AppContext
from bot.coordination.tasks import BackgroundTasks
from bot.observability.logs import log_unexpected_error
from bot.services import Service
from council.errors import CouncilError
from council.places import Place
from council.ports import UNASKED, RoundQuery, RoundSummary

WELCOMED = "welcomed"  # the kind of memo
MAX_PAUSE_SECONDS = 60.0


class ChatSupervisor:
    """Reconnects a chat whenever its connection is lost; reports its state in sentences."""

    def __init__(self, name: str, report: Callable[[str], None]) -> None:
        self._name = name
        self._report = report
        self._connected_at = inf
        self._was_connected = False

    def report(self, what: str) -> None:
        """Report the state of the chat."""
        self._report(f"{self._name}: {what}")

    def report_connected(self, how: str) -> None:
        """Report that the chat is connected, and how."""
        self._was_connected, self._connected_at = True, time.monotonic()
        self.report(how)

    async def serve(self, connect: Callable[[], Awaitable[None]]) -> None:
        """Serve until cancelled, or until a CouncilError says that reconnecting is pointless."""
        pause = 1.0
        while True:
            why = "The connection ended."
            try:
                await connect()
            except DeliveryUnknownError as error:
                why = str(error)
            except CouncilError as error:
                self.report(f"{'stopped' if self._was_connected else 'not started'}. {error}")
                return
            # The outermost handler: reconnect, and keep the web page up.
            except Exception as error:  # noqa: BLE001
                why = log_unexpected_error(f"{self._name.lower()}_failed", error)
            # The pause grows as long as connections are lost soon after they are made.
            if time.monotonic() - self._connected_at > MAX_PAUSE_SECONDS:
                pause, self._connected_at = 1.0, inf
            self.report(f"{why} The next try is in {pause:.0f} s.")
            await asyncio.sleep(pause)
            pause = min(MAX_PAUSE_SECONDS, 2 * pause)


async def delete_workspace(app: AppContext, chat: str, workspace: str) -> int:
    """Delete what a workspace that uninstalled the bot leaves; return how many rounds it had.

    Raise StoreError if traces of it are left in the database file.
    """
    for service in app.parts.all(Service):
        await service.stop_chat(chat, workspace)
    for line in await app.store.list_summaries(
        wanted=RoundQuery(chats=(chat,), workspace=workspace)
    ):
        await app.runner.stop(line.id)
    kinds = (PICKED_PANEL, CONVERSATION, WELCOMED, CONSENT, REQUESTED, SETTINGS, UNASKED, ABOUT)
    for kind in kinds:
        await app.key_values.delete(kind, f"{chat}/{workspace}/")
    for service in app.parts.all(Service):
        await service.delete_workspace(chat, workspace)
    rounds = await app.store.delete_workspace(chat, workspace)
    structlog.get_logger().warning("workspace_dropped", chat=chat, rounds_deleted=rounds)
    await app.store.wipe()
    return rounds


@asynccontextmanager
async def serve_chat(
    delivery: RoundDelivery,
    find_chat: FindChat,
    pending: Iterable[RoundSummary],
    tasks_for: Callable[[Place], BackgroundTasks],
) -> AsyncIterator[None]:
    """Deliver the rounds of a chat, and run what plug-ins do in it, for the duration of the block.

    In a cluster rounds are jobs. Else the pending ones are delivered; the handler of a new
    question or command does so itself.
    """
    app = delivery.app
    async with AsyncExitStack() as stack:
        if app.job_queue:
            await stack.enter_async_context(delivery.serve_queue(app.job_queue))
        else:
            for line in pending:
                tasks_for(line.place).start(deliver_pending(delivery, line))
        for service in app.parts.all(Service):
            serving = service.serve_chat(delivery.wanted.chats[0], delivery.teller, find_chat)
            await stack.enter_async_context(serving)
        yield


async def deliver_pending(delivery: RoundDelivery, line: RoundSummary) -> None:
    """Deliver a round that an earlier process, or an earlier installation, left undelivered."""
    chat = await delivery.new_chat(line.place, delivery.send_ephemeral)

    async def deliver() -> None:
        round_ = await delivery.app.store.load(line.id)
        await follow_and_deliver(delivery.app, chat, round_.question.place, round_)

    await report_errors(chat, message_of(line), deliver())
