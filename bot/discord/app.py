"""What discord.py complains of, in our log: one line, no address, nobody's words."""

import asyncio
import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import discord
import structlog

from bot.bakeoffs.lifecycle import BakeoffJobs, go_on_in
from bot.chat import Chat, DeliveryUnknownError
from bot.commands.context import AppContext
from bot.commands.recovery import ChatSupervisor, UndeliveredRounds, left
from bot.commands.round_delivery import RoundDelivery
from bot.coordination.tasks import BackgroundTasks, first_of
from bot.discord.config import Address
from bot.discord.errors import told
from bot.discord.events import CHAT
from bot.discord.listeners import Client
from bot.discord.messages import nobody
from bot.discord.servers import FileServerStore, Servers, ServerStore, Shard, SqlServerStore
from bot.ports import GATEWAY, JobQueue
from council.errors import CouncilError
from council.places import Place
from council.ports import RoundQuery

# --- What discord.py complains of, in our log: one line, no address, nobody's words.


class _ToLog(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Write what went wrong and where, without details: an address may hold a secret."""
        what = record.msg.partition(" %")[0].partition(" in ")[0]
        kind, _, trace = record.exc_info or (None, None, None)
        frames = traceback.extract_tb(trace)
        where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
        fault = kind.__name__ if kind else ""
        structlog.get_logger().warning("discord_trouble", what=what, fault=fault, where=where)


def hear_library() -> None:
    """Have errors of the library in our log, and nothing of it anywhere else."""
    logger = logging.getLogger("discord")
    logger.setLevel(logging.ERROR)
    logger.handlers, logger.propagate = [_ToLog()], False


# --- Who the bot is, and what keeps Discord from letting it in, in sentences that say what to do.

PATIENCE_SECONDS = 30.0
INTENTS = discord.Intents(guilds=True)  # nothing is heard, but the library asks for some
BAD_TOKEN, TOO_MANY_SERVERS, DISALLOWED_INTENTS = 4004, 4011, 4014
COPY_ANEW = (
    "DISCORD_TOKEN does not work: choose Reset Token on the Bot page of your application, and copy "
    "the new one."
)
# Why Discord closes the gateway for good, and no further try would help.
CLOSED = {
    BAD_TOKEN: f"Discord takes DISCORD_TOKEN no more ({BAD_TOKEN}): choose Reset Token on the Bot "
    "page of your application, set the new one, and start again.",
    TOO_MANY_SERVERS: "The bot is in more servers than one connection may serve "
    f"({TOO_MANY_SERVERS}): run another application for some of them.",
    DISALLOWED_INTENTS: "Discord does not let the bot hear what it wants to hear "
    f"({DISALLOWED_INTENTS}, disallowed intents): it wants none that is privileged, so please "
    "report it.",
}
CLOSED_OTHERWISE = "Discord closed the connection for good ({code}): please report it."
ELSEWHERE = (
    "Commands and buttons go elsewhere: empty Interactions Endpoint URL under General Information "
    "of your application."
)
CODE_GRANT = (
    "Nobody can invite the bot: switch off Requires OAuth2 Code Grant on the Bot page of your "
    "application."
)


class DiscordError(CouncilError):
    """Discord cannot be started, or cannot go on; says what to do."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a token is: an application and its bot, as their owner set them up."""

    application: int
    name: str
    servers: int
    is_public: bool
    needs_code_grant: bool
    hears_elsewhere: bool


async def identity(address: Address) -> Identity:
    """Give who the token is; DiscordError for one that does not work.

    Raises DeliveryUnknownError where Discord cannot be reached, or is asked too often.
    """
    hear_library()
    address.point()
    with let_in():
        async with asyncio.timeout(PATIENCE_SECONDS), discord.Client(intents=INTENTS) as client:
            await client.login(address.token)
            return identity_of(client)


def identity_of(client: discord.Client) -> Identity:
    """Give who a client is that is logged in."""
    app = client.application
    if app is None:
        raise DiscordError(COPY_ANEW)
    return Identity(
        application=app.id,
        name=str(client.user),
        servers=app.approximate_guild_count,
        is_public=app.bot_public,
        needs_code_grant=app.bot_require_code_grant,
        hears_elsewhere=bool(app.interactions_endpoint_url),
    )


@contextmanager
def let_in() -> Iterator[None]:
    """Raise DiscordError where Discord does not let the bot in, and other errors as `told` does."""
    try:
        with told():
            yield
    except discord.LoginFailure:
        raise DiscordError(COPY_ANEW) from None
    except discord.PrivilegedIntentsRequired:
        raise DiscordError(CLOSED[DISALLOWED_INTENTS]) from None
    except discord.ConnectionClosed as error:
        why = CLOSED.get(error.code) or CLOSED_OTHERWISE.format(code=error.code)
        raise DiscordError(why) from None


# --- Discord in a cluster: each shard is heard by one process, and by another once that is gone.

SHARDS = "discord shards"  # the kind of memo
NEVER = "Shard {name} of Discord is heard no more by this process."
OTHERWISE = "Discord deals its servers out otherwise now."


@dataclass(frozen=True, slots=True)
class DiscordOptions:
    """Where Discord is reached, what is remembered of it, and who hears how it stands."""

    address: Address
    kept: ServerStore
    publish: Callable[[str], None]
    tell_ready: Callable[[ChatSupervisor, Client], None]


@dataclass(slots=True)
class Shards:
    """The shards that this process hears of, among those of all."""

    app: AppContext
    job_queue: JobQueue
    ready: DiscordOptions
    application: str = ""
    count: int = 1
    clients: dict[int, Client] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def served(self) -> None:
        """Receive this process's events until cancelled; raise if the shards are dealt anew."""
        await self._agree()
        await self.app.runner.resume((CHAT,))
        self.app.chats[CHAT] = self.way
        try:
            async with self.job_queue.serve_queue(GATEWAY, self.hear, self.unheard, self.count):
                await self.changed.wait()
        finally:
            self.app.chats.pop(CHAT, None)
        raise DeliveryUnknownError(OTHERWISE)

    def way(self, place: Place) -> Chat | None:
        """Give the way to a place that this process hears of."""
        for number, client in self.clients.items():
            if Shard(number, self.count).hears(place.workspace):
                return client.ears.chat(nobody)
        return None

    async def _agree(self) -> None:
        """Have as many shards as Discord recommends, or more where it once did."""
        with let_in():
            async with asyncio.timeout(PATIENCE_SECONDS), discord.Client(intents=INTENTS) as client:
                await client.login(self.ready.address.token)
                wanted = await _recommended(client)
                self.application = str(client.application_id)
        before = int(await self.app.key_values.first(SHARDS, self.application, str(wanted)))
        if wanted > before:
            await self.app.key_values.note(SHARDS, self.application, str(wanted))
        self.changed.clear()
        self.count = self.app.shards = max(wanted, before)

    async def unheard(self) -> list[str]:
        """Give the names of all shards; note where another process counts them otherwise."""
        kept = await self.app.key_values.read(SHARDS, self.application)
        if kept and int(kept) != self.count:
            self.changed.set()
        return [str(Shard(number, self.count)) for number in range(self.count)]

    async def hear(self, name: str) -> None:
        """Hear a shard until cancelled; raise DiscordError where Discord lets it in no more.

        One of another count is nobody's.
        """
        shard = Shard.read(name)
        if shard is None or shard.of != self.count:
            return
        named = "Discord" if shard.of == 1 else f"Discord {name}"
        coming_back = ChatSupervisor(named, self.ready.publish)
        await coming_back.serve(partial(self._heard, shard, coming_back))
        raise DiscordError(NEVER.format(name=name))

    async def _heard(self, shard: Shard, coming_back: ChatSupervisor) -> None:
        doing = BackgroundTasks()
        kept = self.ready.kept
        servers = Servers(kept, partial(left, self.app, CHAT), coming_back.say, shard)
        client = Client(self.app, doing, servers, kept, shard)
        try:
            with let_in():
                async with client:
                    await client.login(self.ready.address.token)
                    await first_of(client.connect(), self._working(client, shard, coming_back))
        finally:
            self.clients.pop(shard.number, None)
            await doing.close()

    async def _working(self, client: Client, shard: Shard, coming_back: ChatSupervisor) -> None:
        """Show rounds and hold bake-offs of a shard, once it is heard."""
        await client.wait_until_ready()
        self.ready.tell_ready(coming_back, client)
        self.clients[shard.number] = client
        teller = f"{CHAT} {shard}"
        told = (RoundQuery(chats=(CHAT,)), client.ears.chat, nobody)
        showing = RoundDelivery(self.app, teller, *told).serve_queue(self.job_queue)
        async with showing, BakeoffJobs(self.app, teller, self.way).serve_queue(self.job_queue):
            await asyncio.Event().wait()


async def _recommended(client: discord.Client) -> int:
    """Give how many shards Discord recommends."""
    try:
        wanted, *_ = await client.http.get_bot_gateway()
    except discord.GatewayNotFound:
        raise DeliveryUnknownError("Discord does not say how its servers are dealt out.") from None
    return max(1, wanted)


# --- Discord as long as the bot runs.


class Discord:
    """Discord from start to stop; `tell` hears how it stands, in a sentence."""

    def __init__(
        self, app_context: AppContext, address: Address, data_dir: Path, tell: Callable[[str], None]
    ) -> None:
        self._app_context = app_context
        self._address = address
        self._tell = tell
        self._kept: ServerStore = (
            SqlServerStore(app_context.key_values)
            if app_context.job_queue
            else FileServerStore(data_dir)
        )
        self._coming_back = ChatSupervisor("Discord", tell)
        leave = partial(left, app_context, CHAT)
        self._servers = Servers(self._kept, leave, self._coming_back.say)

    async def run(self) -> None:
        """Serve until cancelled, or until Discord takes the token no more; told is why."""
        hear_library()
        self._address.point()
        if self._app_context.job_queue is None:
            await self._coming_back.serve(self._served)
            return
        ready = DiscordOptions(self._address, self._kept, self._tell, _tell_ready)
        await self._coming_back.serve(
            Shards(self._app_context, self._app_context.job_queue, ready).served
        )

    async def _served(self) -> None:
        doing = BackgroundTasks()
        client = Client(self._app_context, doing, self._servers, self._kept)
        try:
            with let_in():
                async with client:
                    await client.login(self._address.token)
                    await self._heard(client, doing)
        finally:
            await doing.close()
            await self._app_context.bakeoff_registry.let_go(CHAT)

    async def _heard(self, client: Client, doing: BackgroundTasks) -> None:
        await self._app_context.runner.resume((CHAT,))
        untold = UndeliveredRounds(self._app_context, lambda: client.ears.chat(nobody), doing)
        # What is asked from now on is shown by whoever hears it.
        before = await untold.lines(RoundQuery(chats=(CHAT,)))

        def way(_: Place) -> Chat | None:
            return client.ears.chat(nobody)

        async def begin() -> None:
            await client.wait_until_ready()
            _tell_ready(self._coming_back, client)
            self._app_context.chats[CHAT] = way
            await self._servers.latest(client)
            untold.publish(before)
            await go_on_in(self._app_context, CHAT, way)

        telling = asyncio.create_task(begin())
        try:
            await client.connect()
        finally:
            telling.cancel()
            self._app_context.chats.pop(CHAT, None)


def _tell_ready(coming_back: ChatSupervisor, client: Client) -> None:
    guilds = ", ".join(guild.name for guild in client.guilds) or "no server yet"
    coming_back.subscription(f"{client.user} is in {guilds}.")
    if identity_of(client).hears_elsewhere:
        coming_back.say(ELSEWHERE)
