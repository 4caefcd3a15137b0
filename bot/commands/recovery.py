"""A chat that comes back as long as the bot runs, until it says that it cannot."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from math import inf

import structlog

from bot.chat import Asker, Chat, DeliveryUnknownError, IncomingMessage
from bot.commands.dispatch import reporting_errors
from bot.commands.round_delivery import follow_and_deliver
from bot.commands.suites import DRAFT
from bot.context import PICKED_PANEL, AppContext
from bot.coordination.tasks import BackgroundTasks
from bot.observability.logs import unforeseen
from council.errors import CouncilError
from council.ports import RoundQuery, RoundSummary

# --- A chat that comes back as long as the bot runs, until it says that it cannot.

LONGEST_PAUSE_SECONDS = 60.0


class ChatSupervisor:
    """Serves a chat anew whenever it is lost; `tell` hears how it stands, in a sentence."""

    def __init__(self, name: str, tell: Callable[[str], None]) -> None:
        self._name = name
        self._tell = tell
        self._heard_at = inf
        self._hears = False

    def say(self, what: str) -> None:
        """Say how the chat stands."""
        self._tell(f"{self._name}: {what}")

    def subscription(self, how: str) -> None:
        """Say that the chat is heard now, and how."""
        self._hears, self._heard_at = True, time.monotonic()
        self.say(how)

    async def serve(self, served: Callable[[], Awaitable[None]]) -> None:
        """Serve until cancelled, or until a CouncilError says why the chat is there no more."""
        pause = 1.0
        while True:
            why = "The connection ended."
            try:
                await served()
            except DeliveryUnknownError as error:
                why = str(error)
            except CouncilError as error:
                self.say(f"{'stopped' if self._hears else 'not started'}. {error}")
                return
            # The outermost handler: the chat comes back, and the page goes on.
            except Exception as error:  # noqa: BLE001
                why = unforeseen(f"{self._name.lower()}_failed", error)
            # One that is lost as soon as it is found must not be asked every second.
            if time.monotonic() - self._heard_at > LONGEST_PAUSE_SECONDS:
                pause, self._heard_at = 1.0, inf
            self.say(f"{why} The next try is in {pause:.0f} s.")
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE_SECONDS, 2 * pause)


# --- A workspace that does not want the bot any more takes its rounds along.


async def left(app: AppContext, chat: str, workspace: str) -> int:
    """Let a workspace's rounds go, with all that hangs on them; give how many there were.

    Those under way are stopped, and its bake-offs; what was picked or is being added there goes
    too. Raises StoreError where something of them is left in the files.
    """
    await app.bakeoff_registry.let_go(chat, workspace)
    for line in await app.store.recent(wanted=RoundQuery(chats=(chat,), workspace=workspace)):
        await app.runner.stop(line.id)
    for kind in (PICKED_PANEL, DRAFT):
        await app.key_values.drop(kind, f"{chat}/{workspace}/")
    rounds = await app.store.drop(chat, workspace)
    structlog.get_logger().warning("workspace_dropped", chat=chat, rounds_deleted=rounds)
    await app.store.wipe()
    return rounds


# --- Rounds whose place has not been told all: after a restart, and at the very end.


class UndeliveredRounds:
    """What rounds of one chat have still to be told; telling goes on in `doing`."""

    def __init__(
        self, app: AppContext, new_chat: Callable[[], Chat], doing: BackgroundTasks
    ) -> None:
        self._app = app
        self._new_chat = new_chat
        self._doing = doing

    async def lines(self, wanted: RoundQuery) -> tuple[RoundSummary, ...]:
        """Give the rounds among those wanted whose place has not been told all, oldest first."""
        found = await self._app.store.recent(wanted=replace(wanted, undelivered=True))
        return tuple(reversed(found))

    def publish(self, lines: Iterable[RoundSummary]) -> None:
        """Begin to tell what is untold of these."""
        for line in lines:
            self._doing.begin(self._told(line))

    async def _told(self, line: RoundSummary) -> None:
        said = IncomingMessage(
            line.question, Asker(line.asked_by, line.asked_by), line.place, line.id
        )
        chat = self._new_chat()
        await reporting_errors(chat, said, self._seen_through(chat, line.id))

    async def _seen_through(self, chat: Chat, round_id: str) -> None:
        round_ = await self._app.store.load(round_id)
        await follow_and_deliver(self._app, chat, round_.question.place, round_)
