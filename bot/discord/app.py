"""The Discord bot from start to stop: login, shards, reconnects, and discord.py's own log."""

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

from bot.bakeoffs.lifecycle import BakeoffJobs, resume_bakeoffs_of_chat
from bot.chat import Chat, DeliveryUnknownError
from bot.commands.recovery import ChatSupervisor, UndeliveredRounds
from bot.commands.round_delivery import RoundDelivery
from bot.context import AppContext
from bot.coordination.tasks import BackgroundTasks, run_until_first
from bot.discord.config import DiscordCredentials
from bot.discord.ephemeral import discard_reply
from bot.discord.errors import translate_errors
from bot.discord.events import CHAT
from bot.discord.listeners import DiscordClient
from bot.discord.servers import ServerTracker, Shard
from bot.ports import GATEWAY, JobQueue
from council.errors import CouncilError
from council.places import Place
from council.ports import RoundQuery

LOGIN_TIMEOUT_SECONDS = 30.0
LOGIN_INTENTS = discord.Intents(guilds=True)  # discord.py requires some, even to log in only
BAD_TOKEN, TOO_MANY_SERVERS, DISALLOWED_INTENTS = 4004, 4011, 4014
SHARDS = "discord shards"  # the kind of memo
LOGIN_REFUSED = (
    "DISCORD_TOKEN does not work: choose Reset Token on the Bot page of your application, and copy "
    "the new one."
)
# Close codes of the gateway after which a reconnect would not help.
CLOSE_REASONS = {
    BAD_TOKEN: f"Discord takes DISCORD_TOKEN no more ({BAD_TOKEN}): choose Reset Token on the Bot "
    "page of your application, set the new one, and start again.",
    TOO_MANY_SERVERS: "The bot is in more servers than one connection may serve "
    f"({TOO_MANY_SERVERS}): run another application for some of them.",
    DISALLOWED_INTENTS: "Discord does not let the bot hear what it wants to hear "
    f"({DISALLOWED_INTENTS}, disallowed intents): it wants none that is privileged, so please "
    "report it.",
}
OTHER_CLOSE_REASON = "Discord closed the connection for good ({code}): please report it."
ENDPOINT_URL_IS_SET = (
    "Commands and buttons go elsewhere: empty Interactions Endpoint URL under General Information "
    "of your application."
)
CODE_GRANT_REQUIRED = (
    "Nobody can invite the bot: switch off Requires OAuth2 Code Grant on the Bot page of your "
    "application."
)
SHARD_CLOSED = "Shard {name} of Discord is heard no more by this process."
SHARD_COUNT_CHANGED = "Discord deals its servers out otherwise now."


class DiscordError(CouncilError):
    """Discord cannot be started or continued; the message says what to do."""


class Discord:
    """The bot's connection to Discord; `report` receives each change of its state as a sentence."""

    def __init__(
        self,
        app_context: AppContext,
        address: DiscordCredentials,
        report: Callable[[str], None],
    ) -> None:
        self._app_context = app_context
        self._address = address
        self._report = report
        self._supervisor = ChatSupervisor("Discord", report)
        self._servers = ServerTracker(app_context, self._supervisor.report)

    async def run(self) -> None:
        """Serve until cancelled, or until Discord rejects the token; the reason is reported."""
        redirect_library_log()
        self._address.apply()
        if self._app_context.job_queue is None:
            await self._supervisor.serve(self._serve)
            return
        sharded = ShardedDiscord(
            self._app_context, self._app_context.job_queue, self._address, self._report
        )
        await self._supervisor.serve(sharded.run)

    async def _serve(self) -> None:
        tasks = BackgroundTasks()
        client = DiscordClient(self._app_context, tasks, self._servers)
        try:
            with translate_login_errors():
                async with client:
                    await client.login(self._address.token)
                    await self._connect(client, tasks)
        finally:
            await tasks.close()
            await self._app_context.bakeoff_registry.stop(CHAT)

    async def _connect(self, client: DiscordClient, tasks: BackgroundTasks) -> None:
        """Receive events until the connection ends; once it is ready, deliver what is pending."""
        app = self._app_context
        await app.runner.resume((CHAT,))
        undelivered = UndeliveredRounds(app, lambda: client.listeners.chat(discard_reply), tasks)
        # Read before connecting: the handler of a new question delivers its round itself.
        pending = await undelivered.lines(RoundQuery(chats=(CHAT,)))

        def chat_for(_: Place) -> Chat | None:
            return client.listeners.chat(discard_reply)

        async def begin() -> None:
            await client.wait_until_ready()
            _report_ready(self._supervisor, client)
            app.chats[CHAT] = chat_for
            await self._servers.sync(client)
            undelivered.publish(pending)
            await resume_bakeoffs_of_chat(app, CHAT, chat_for)

        begun = asyncio.create_task(begin())
        try:
            await client.connect()
        finally:
            begun.cancel()
            app.chats.pop(CHAT, None)


@dataclass(slots=True)
class ShardedDiscord:
    """Discord in a cluster: each process serves some of the shards, as jobs of one queue."""

    app: AppContext
    job_queue: JobQueue
    address: DiscordCredentials
    report: Callable[[str], None]
    application: str = ""
    count: int = 1
    clients: dict[int, DiscordClient] = field(default_factory=dict)
    count_changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Serve this process's shards until cancelled; raise once the number of shards changes."""
        await self._agree_on_count()
        await self.app.runner.resume((CHAT,))
        self.app.chats[CHAT] = self.chat_for
        try:
            async with self.job_queue.serve_queue(
                GATEWAY, self.serve_shard, self.shard_names, self.count
            ):
                await self.count_changed.wait()
        finally:
            self.app.chats.pop(CHAT, None)
        raise DeliveryUnknownError(SHARD_COUNT_CHANGED)

    def chat_for(self, place: Place) -> Chat | None:
        """Return the chat of a place, or None if this process does not serve its shard."""
        for number, client in self.clients.items():
            if Shard(number, self.count).serves(place.workspace):
                return client.listeners.chat(discard_reply)
        return None

    async def shard_names(self) -> list[str]:
        """Return the names of all shards; end `run` if another process has changed their number."""
        stored = await self.app.key_values.read(SHARDS, self.application)
        if stored and int(stored) != self.count:
            self.count_changed.set()
        return [str(Shard(number, self.count)) for number in range(self.count)]

    async def serve_shard(self, name: str) -> None:
        """Serve a shard until cancelled; raise DiscordError if Discord refuses it for good.

        Return at once for a shard of another count.
        """
        shard = Shard.read(name)
        if shard is None or shard.of != self.count:
            return
        title = "Discord" if shard.of == 1 else f"Discord {name}"
        supervisor = ChatSupervisor(title, self.report)
        await supervisor.serve(partial(self._connect, shard, supervisor))
        raise DiscordError(SHARD_CLOSED.format(name=name))

    async def _agree_on_count(self) -> None:
        """Set and store the number of shards: what Discord recommends, but never fewer."""
        with translate_login_errors():
            async with (
                asyncio.timeout(LOGIN_TIMEOUT_SECONDS),
                discord.Client(intents=LOGIN_INTENTS) as client,
            ):
                await client.login(self.address.token)
                recommended = await _recommended_shards(client)
                self.application = str(client.application_id)
        key_values = self.app.key_values
        stored = int(await key_values.put_if_absent(SHARDS, self.application, str(recommended)))
        if recommended > stored:
            await key_values.put(SHARDS, self.application, str(recommended))
        self.count_changed.clear()
        self.count = self.app.shards = max(recommended, stored)

    async def _connect(self, shard: Shard, supervisor: ChatSupervisor) -> None:
        tasks = BackgroundTasks()
        servers = ServerTracker(self.app, supervisor.report, shard)
        client = DiscordClient(self.app, tasks, servers, shard)
        try:
            with translate_login_errors():
                async with client:
                    await client.login(self.address.token)
                    await run_until_first(
                        client.connect(), self._serve_jobs(client, shard, supervisor)
                    )
        finally:
            self.clients.pop(shard.number, None)
            await tasks.close()

    async def _serve_jobs(
        self, client: DiscordClient, shard: Shard, supervisor: ChatSupervisor
    ) -> None:
        """Deliver the rounds and run the bake-offs of a shard once it is connected."""
        await client.wait_until_ready()
        _report_ready(supervisor, client)
        self.clients[shard.number] = client
        name = f"{CHAT} {shard}"
        delivery = RoundDelivery(
            self.app, name, RoundQuery(chats=(CHAT,)), client.listeners.chat, discard_reply
        )
        bakeoffs = BakeoffJobs(self.app, name, self.chat_for)
        async with delivery.serve_queue(self.job_queue), bakeoffs.serve_queue(self.job_queue):
            await asyncio.Event().wait()


async def _recommended_shards(client: discord.Client) -> int:
    try:
        count, *_ = await client.http.get_bot_gateway()
    except discord.GatewayNotFound:
        raise DeliveryUnknownError("Discord does not say how its servers are dealt out.") from None
    return max(1, count)


def _report_ready(supervisor: ChatSupervisor, client: DiscordClient) -> None:
    guilds = ", ".join(guild.name for guild in client.guilds) or "no server yet"
    supervisor.report_connected(f"{client.user} is in {guilds}.")
    if identity_of(client).has_interactions_endpoint:
        supervisor.report(ENDPOINT_URL_IS_SET)


@dataclass(frozen=True, slots=True)
class Identity:
    """The application and bot that a token belongs to, with the owner's settings."""

    application: int
    name: str
    servers: int
    is_public: bool
    needs_code_grant: bool
    has_interactions_endpoint: bool


async def fetch_identity(address: DiscordCredentials) -> Identity:
    """Return the application that the token belongs to.

    Raise DiscordError if the token does not work, and DeliveryUnknownError if Discord cannot be
    reached or limits the rate.
    """
    redirect_library_log()
    address.apply()
    with translate_login_errors():
        async with (
            asyncio.timeout(LOGIN_TIMEOUT_SECONDS),
            discord.Client(intents=LOGIN_INTENTS) as client,
        ):
            await client.login(address.token)
            return identity_of(client)


def identity_of(client: discord.Client) -> Identity:
    """Return the application of a client that has logged in."""
    app = client.application
    if app is None:
        raise DiscordError(LOGIN_REFUSED)
    return Identity(
        application=app.id,
        name=str(client.user),
        servers=app.approximate_guild_count,
        is_public=app.bot_public,
        needs_code_grant=app.bot_require_code_grant,
        has_interactions_endpoint=bool(app.interactions_endpoint_url),
    )


@contextmanager
def translate_login_errors() -> Iterator[None]:
    """Raise DiscordError if Discord refuses the bot; translate other errors as usual."""
    try:
        with translate_errors():
            yield
    except discord.LoginFailure:
        raise DiscordError(LOGIN_REFUSED) from None
    except discord.PrivilegedIntentsRequired:
        raise DiscordError(CLOSE_REASONS[DISALLOWED_INTENTS]) from None
    except discord.ConnectionClosed as error:
        reason = CLOSE_REASONS.get(error.code) or OTHER_CLOSE_REASON.format(code=error.code)
        raise DiscordError(reason) from None


def redirect_library_log() -> None:
    """Send discord.py's errors to the bot's own log, and nothing else of it anywhere."""
    logger = logging.getLogger("discord")
    logger.setLevel(logging.ERROR)
    logger.handlers, logger.propagate = [_LogHandler()], False


class _LogHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Log what failed and where, without arguments: a URL may contain a secret."""
        what = record.msg.partition(" %")[0].partition(" in ")[0]
        kind, _, trace = record.exc_info or (None, None, None)
        frames = traceback.extract_tb(trace)
        where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
        fault = kind.__name__ if kind else ""
        structlog.get_logger().warning("discord_trouble", what=what, fault=fault, where=where)
