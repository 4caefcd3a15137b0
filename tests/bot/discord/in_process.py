"""The bot in this process against a fake Discord, for failures that need no kill.

Only the models and the database are fakes; waits of the outbox are short. Each test has its own
channel and user, so that many tests share one bot.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count

from bot.context import AppContext
from bot.coordination.clock import now
from bot.discord.app import Discord
from bot.discord.config import DiscordCredentials
from bot.discord.messages import nonce_of
from bot.outbox import Outbox
from council.ports import RoundSummary
from tests.bot.app_fakes import an_app, sleep_scaled
from tests.bot.discord.story import QUICK, custom_id_of
from tests.fakes.gateway import BlockedGateway
from tests.fakes.memory_outbox import MemoryOutbox
from tests.wire.discord import (
    Channel,
    FakeDiscord,
    Interaction,
    Member,
    Message,
    Permission,
    Slow,
    User,
)
from tests.wire.discord.permissions import NOTHING
from tests.wire.discord.sample_world import add_channel, add_user

MOST_PARTS = 12
_NUMBERS = count(1)


@dataclass(slots=True)
class InProcessBot:
    """A running bot, what it has reported, a channel, and a user who asks there."""

    app: AppContext
    gateway: BlockedGateway
    discord: FakeDiscord
    place: Channel
    person: User
    reports: list[str]
    rows: MemoryOutbox

    def for_test(self) -> "InProcessBot":
        self.gateway.goes_on.clear()
        self.gateway.asked.clear()
        self.discord.calm()
        self.discord.faults.clear()
        return replace(self, place=_place(self.discord), person=_person(self.discord))

    async def ask(self, where: Channel | None = None) -> Message:
        where = where or self.place
        await self.command(where)
        await self.discord.until(lambda: self.bot_messages(where), 30)
        return self.bot_messages(where)[-1]

    async def command(self, where: Channel | None = None) -> Interaction:
        return await self.discord.slash(
            self.person, where or self.place, "council ask", question="Which queue?"
        )

    async def run(self, command: str, /, **options: object) -> None:
        result = await self.discord.slash(self.person, self.place, f"council {command}", **options)
        assert result.accepted

    async def run_as_admin(self, command: str, /, **options: object) -> Interaction:
        """Run a subcommand of `/council-admin`; the person manages the server from here on."""
        self.make_admin()
        result = await self.discord.slash(
            self.person, self.place, f"council-admin {command}", **options
        )
        assert result.accepted
        return result

    def make_admin(self) -> None:
        self.discord.grant("G1", self.person.handle, Permission.MANAGE_GUILD)

    async def answered(self, question: str = "Which queue?") -> Message:
        """Return an answer whose round is delivered."""
        await self.run("ask", question=question)
        self.release_models()
        await self.discord.until(lambda: self.bot_messages())
        await self.wait_until_delivered()
        return self.bot_messages()[-1]

    async def menu(self, root: Message, user: User | None = None) -> Message:
        """Open the menu of an answer, which is private."""
        result = await self.discord.click(root, custom_id_of(root, "more"), user or self.person)
        await self.discord.until(lambda: custom_id_of(result.sent[-1], "export"))
        return result.sent[-1]

    async def to_confirm(self, root: Message) -> Message:
        """Press "run again", and return the question whether to."""
        menu = await self.menu(root)
        result = await self.discord.click(menu, custom_id_of(menu, "again"), self.person)
        await self.discord.until(lambda: "Run again?" in self.private_texts())
        return result.sent[-1]

    def permit(self, deny: Permission = NOTHING) -> None:
        self.discord.permit(self.place, deny=deny)

    def release_models(self) -> None:
        self.gateway.goes_on.set()

    async def release_until_mid_thread(self, root: Message) -> None:
        """Make the models reply; return once a thread waits for its first message."""
        self.discord.trouble("POST /channels/*/messages", Slow(0.2, before=True))
        self.release_models()
        await self.discord.until(lambda: root.thread)

    def bot_messages(self, where: Channel | None = None) -> list[Message]:
        said = (where or self.place).said
        return [m for m in said if m.author is self.discord.bot and not m.ephemeral_to]

    async def load_line(self) -> RoundSummary:
        lines = await self.app.store.list_summaries()
        (own,) = [line for line in lines if line.asked_by == self.person.id]
        return own

    async def wait_until_delivered(self, seconds: float = 40.0) -> None:
        end = asyncio.get_running_loop().time() + seconds
        while not (await self.load_line()).delivered:
            last = [str(call) for call in self.discord.calls[-8:]]
            assert asyncio.get_running_loop().time() < end, last
            await asyncio.sleep(0.01)

    async def assert_one_whole_round(self) -> None:
        """Assert that the channel has one answer, with its whole thread once."""
        await self.wait_until_delivered()
        (root,) = self.bot_messages()
        assert custom_id_of(root, "answers")
        line = await self.load_line()
        start = f"discord/{line.place.workspace}/{line.place.channel}/{line.id}/"
        known = {nonce_of(f"{start}{number}"): number for number in range(1, MOST_PARTS)}
        thread = self.discord.thread_of(root).said
        marks = [message.components[0]["id"] for message in thread]
        assert [known[mark] for mark in marks] == [1]  # the results with the rankings

    def private_texts(self) -> str:
        discord = self.discord
        messages = [*discord.ephemerals(self.person), *discord.direct(self.person)]
        return "\n".join(message.text for message in messages)

    async def press(self, root: Message, action: str, said: str) -> None:
        if not custom_id_of(root, action):
            root = await self.menu(root)
        result = await self.discord.click(root, custom_id_of(root, action), self.person)
        assert result.accepted
        await self.discord.until(lambda: said in self.private_texts())


def _place(discord: FakeDiscord) -> Channel:
    name = f"n{next(_NUMBERS)}"
    place = add_channel(discord.world, discord.world.guild("G1"), name.upper(), name)
    discord.permit(place)  # which tells the bot of the channel
    return place


def _person(discord: FakeDiscord) -> User:
    person = add_user(discord.world, f"P{next(_NUMBERS)}", "pat")
    discord.world.guild("G1").members[person.id] = Member(person)
    return person


@asynccontextmanager
async def run_in_process(discord: FakeDiscord | None = None) -> AsyncIterator[InProcessBot]:
    async with discord or FakeDiscord(QUICK) as running, start_bot(running) as bot:
        yield bot


@asynccontextmanager
async def start_bot(
    discord: FakeDiscord, app: AppContext | None = None
) -> AsyncIterator[InProcessBot]:
    """Run the bot against a running Discord until the block ends; `app` is of an earlier run."""
    gateway, rows = BlockedGateway(), MemoryOutbox()
    if app is None:
        app = an_app(gateway)
        app.outbox = Outbox(rows, now, sleep_scaled, alone=True)
    async with connect(discord, app) as connection:
        try:
            await discord.until(lambda: connection.reports, 60)
            place, person = _place(discord), _person(discord)
            yield InProcessBot(app, gateway, discord, place, person, connection.reports, rows)
        finally:
            connection.task.cancel()
            gateway.goes_on.set()
            await asyncio.gather(connection.task, return_exceptions=True)
            for line in await app.store.list_summaries():
                await app.runner.stop(line.id)


@dataclass(frozen=True, slots=True)
class Connection:
    """The bot's connection to Discord, and the sentences that it reports."""

    task: asyncio.Task[None]
    reports: list[str]


@asynccontextmanager
async def connect(
    discord: FakeDiscord, app: AppContext | None = None, token: str = ""
) -> AsyncIterator[Connection]:
    reports: list[str] = []
    credentials = DiscordCredentials(token or discord.token, discord.api_url, discord.gateway_url)
    serving = Discord(app or an_app(), credentials, reports.append).run()
    task = asyncio.create_task(serving)
    try:
        yield Connection(task, reports)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
