"""The Discord bot from start to stop: login, shards and reconnects."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial

import discord

from bot.chat import Chat, DeliveryUnknownError, SendEphemeral
from bot.chats import RunningChat
from bot.commands.recovery import ChatSupervisor, serve_chat
from bot.commands.round_delivery import RoundDelivery
from bot.context import AppContext
from bot.coordination.tasks import BackgroundTasks, run_until_first
from bot.discord.config import DiscordCredentials
from bot.discord.ephemeral import discard_reply
from bot.discord.errors import translate_errors
from bot.discord.listeners import DiscordClient
from bot.discord.servers import ServerTracker
from bot.discord.shards import CHAT, GATEWAY, ONLY_SHARD, Shard, ShardQueues
from bot.observability.logs import redirect_library_log
from bot.ports import JobQueue
from bot.services import Service
from council.errors import CouncilError
from council.places import Place
from council.ports import RoundQuery

LOGIN_INTENTS = discord.Intents(guilds=True)  # discord.py requires some, even to log in only
BAD_TOKEN, TOO_MANY_SERVERS, DISALLOWED_INTENTS = 4004, 4011, 4014
SHARDS = "discord shards"  # the kind of memo
LOGIN_REFUSED = (
    "DISCORD_TOKEN does not work. Choose Reset Token on the Bot page of your application, and "
    "copy the new one."
)
# Close codes of the gateway after which a reconnect would not help.
CLOSE_REASONS = {
    BAD_TOKEN: f"Discord no longer accepts DISCORD_TOKEN ({BAD_TOKEN}). Choose Reset Token on "
    "the Bot page of your application, set the new one, and start again.",
    TOO_MANY_SERVERS: "The bot is in more servers than one connection may serve "
    f"({TOO_MANY_SERVERS}). "
    "Run another application for some of them.",
    DISALLOWED_INTENTS: "Discord refused the connection because of its intents "
    f"({DISALLOWED_INTENTS}, "
    "disallowed intents). The bot needs no privileged ones, so please "
    "report this.",
}
OTHER_CLOSE_REASON = "Discord closed the connection for good ({code}). Please report this."
ENDPOINT_URL_IS_SET = (
    "Commands and buttons are sent elsewhere. Empty Interactions Endpoint URL under General "
    "Information of your application."
)
CODE_GRANT_REQUIRED = (
    "Nobody can invite the bot. Switch off Requires OAuth2 Code Grant on the Bot page of your "
    "application."
)


class DiscordError(CouncilError):
    """Discord cannot be started or continued; the message says what to do."""


class Discord(RunningChat):
    """The bot's connection to Discord; `report` receives each change of its state as a sentence.

    In a cluster each process serves some of the shards, as jobs of one queue.
    """

    def __init__(
        self, app: AppContext, address: DiscordCredentials, report: Callable[[str], None]
    ) -> None:
        self._app = app
        self._address = address
        self._report = report
        self._supervisor = ChatSupervisor("Discord", report)
        self._application = ""
        self._count = 1  # of shards
        self._queues = app.parts.find(ShardQueues) or ShardQueues()
        app.parts.add(self._queues)
        self._count_changed = asyncio.Event()
        self._clients: dict[int, DiscordClient] = {}  # by shard, once connected

    async def run(self) -> None:
        """Serve until cancelled, or until Discord rejects the token; the reason is reported."""
        redirect_library_log("discord", logging.ERROR, "discord_trouble")
        self._address.apply()
        self._app.chats[CHAT] = self._chat_for
        serve = partial(self._connect, ONLY_SHARD, self._supervisor)
        if self._app.job_queue:
            serve = partial(self._share_shards, self._app.job_queue)
        try:
            await self._supervisor.serve(serve)
        finally:
            self._app.chats.pop(CHAT, None)

    async def _share_shards(self, job_queue: JobQueue) -> None:
        """Serve this process's shards; raise once the number of shards changes."""
        await self._agree_on_count()
        async with job_queue.serve_queue(
            GATEWAY, self._serve_shard, self._shard_names, self._count
        ):
            await self._count_changed.wait()
        raise DeliveryUnknownError("Discord has changed how it assigns servers.")

    def _chat_for(self, place: Place) -> Chat | None:
        """Return the chat of a place, or None if this process is not connected to its shard."""
        for number, client in self._clients.items():
            if Shard(number, self._count).serves(place.workspace):
                return client.chat(discard_reply)
        return None

    async def _shard_names(self) -> list[str]:
        """Return the names of all shards; notice if another process has changed their number."""
        stored = await self._app.key_values.read(SHARDS, self._application)
        if stored and int(stored) != self._count:
            self._count_changed.set()
        return [str(Shard(number, self._count)) for number in range(self._count)]

    async def _serve_shard(self, name: str) -> None:
        """Serve a shard until cancelled; DiscordError once Discord refuses it for good."""
        shard = Shard.read(name)
        if shard is None or shard.of != self._count:  # named by a process with another count
            return
        title = "Discord" if shard.of == 1 else f"Discord {name}"
        supervisor = ChatSupervisor(title, self._report)
        await supervisor.serve(partial(self._connect, shard, supervisor))
        raise DiscordError(f"This process no longer receives shard {name} of Discord.")

    async def _agree_on_count(self) -> None:
        """Set and store the number of shards: what Discord recommends, but never fewer."""
        async with _log_in(self._address) as client:
            try:
                count, *_ = await client.http.get_bot_gateway()
            except discord.GatewayNotFound:
                reason = "Discord does not say how its servers are assigned."
                raise DeliveryUnknownError(reason) from None
            recommended = max(1, count)
            self._application = str(client.application_id)
        key_values = self._app.key_values
        stored = int(await key_values.put_if_absent(SHARDS, self._application, str(recommended)))
        if recommended > stored:
            await key_values.put(SHARDS, self._application, str(recommended))
        self._count_changed.clear()
        self._count = self._queues.shards = max(recommended, stored)

    async def _connect(self, shard: Shard, supervisor: ChatSupervisor) -> None:
        """Serve a shard until the connection ends; once it is ready, deliver what is pending."""
        app, tasks = self._app, BackgroundTasks()
        servers = ServerTracker(app, supervisor.report, shard)
        client = DiscordClient(app, tasks, servers)

        async def new_chat(_: Place, send_ephemeral: SendEphemeral) -> Chat:
            return client.chat(send_ephemeral)

        delivery = RoundDelivery(
            app, f"{CHAT} {shard}", RoundQuery(chats=(CHAT,)), new_chat, discard_reply
        )

        async def work() -> None:
            await client.wait_until_ready()
            _report_ready(supervisor, client)
            self._clients[shard.number] = client
            await servers.sync(client)
            async with serve_chat(delivery, self._chat_for, pending, lambda _: tasks):
                await asyncio.Event().wait()

        try:
            with translate_login_errors():
                async with client:
                    await client.login(self._address.token)
                    await app.runner.resume((CHAT,))
                    # Read before connecting: the handler of a new question delivers its round.
                    pending = await delivery.undelivered()
                    await run_until_first(client.connect(), work())
        finally:
            self._clients.pop(shard.number, None)
            await tasks.close()
            if app.job_queue is None:
                for service in app.parts.all(Service):
                    await service.stop_chat(CHAT)


@asynccontextmanager
async def _log_in(address: DiscordCredentials) -> AsyncIterator[discord.Client]:
    with translate_login_errors():
        async with (
            asyncio.timeout(30.0),
            discord.Client(intents=LOGIN_INTENTS) as client,
        ):
            await client.login(address.token)
            yield client


def _report_ready(supervisor: ChatSupervisor, client: DiscordClient) -> None:
    guilds = ", ".join(guild.name for guild in client.guilds) or "no server yet"
    supervisor.report_connected(f"{client.user} is in {guilds}.")
    if client.application and client.application.interactions_endpoint_url:
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
    """Return the application that the token belongs to; DiscordError if it does not work.

    Raise DeliveryUnknownError if Discord cannot be reached or limits the rate.
    """
    redirect_library_log("discord", logging.ERROR, "discord_trouble")
    address.apply()
    async with _log_in(address) as client:
        app, name = client.application, str(client.user)
    if app is None:
        raise DiscordError(LOGIN_REFUSED)
    return Identity(
        application=app.id,
        name=name,
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
