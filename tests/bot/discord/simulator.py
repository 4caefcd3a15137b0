"""The client in a Discord simulated by simcord, in this process and with a manual clock.

Only the models and the database are fakes. Running rounds, the gateway, rate limits and kills
cannot be simulated: tests of those use the wire fake (`in_process`, `process`, `story`).
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import discord
import simcord

from bot.context import AppContext
from bot.coordination.tasks import BackgroundTasks
from bot.discord.listeners import DiscordClient
from bot.discord.servers import ServerTracker
from tests.bot.app_fakes import an_app
from tests.bot.discord.limits import texts

SETTLED_SECONDS = 60.0  # of the simulation: every pause between edits and posts is over


@dataclass(slots=True)
class SimulatedBot:
    """A simulated server with the bot in it, and three people: an asker, a reader, an admin."""

    app: AppContext
    env: simcord.Env
    guild: simcord.GuildHandle
    channel: simcord.ChannelHandle
    ada: simcord.MemberActor
    ben: simcord.MemberActor
    cleo: simcord.MemberActor
    reports: list[str] = field(default_factory=list)

    async def restart(self) -> None:
        await self.env.restart_bot(make_client(self.app, self.reports))

    async def run(self, who: simcord.MemberActor, command: str, **options: object) -> str:
        """Run a command; return its ephemeral replies."""
        return await self.wait_for_reply(
            await who.slash(self.channel, f"council {command}", **options)
        )

    async def ask(self, question: str = "Which queue?", **options: object) -> discord.Message:
        reports = await self.run(self.ada, "ask", question=question, **options)
        assert "Asking " in reports
        return self.answers()[-1]

    async def press(self, who: simcord.MemberActor, message: discord.Message, action: str) -> str:
        """Press a button; return the ephemeral replies."""
        return await self.wait_for_reply(await self.click(who, message, action))

    async def click(
        self,
        who: simcord.MemberActor,
        message: discord.Message,
        action: str,
    ) -> simcord.InteractionResult:
        return await who.click(message, custom_id=button_of(message, action))

    async def wait_for_reply(self, result: simcord.InteractionResult) -> str:
        await self.env.advance_time(SETTLED_SECONDS)
        said = [*([result.response] if result.response else []), *result.followups]
        assert result.acknowledged
        assert all(message.ephemeral for message in said)
        return "\n".join(line for message in said for line in texts(message.components))

    def answers(self) -> list[discord.Message]:
        return [one for one in self.channel.history() if button_of(one, "answers")]

    def messages_for(self, who: simcord.MemberActor) -> list[discord.Message]:
        return self.channel.history(viewer=who)


def button_of(message: discord.Message, action: str) -> str:
    """Return the custom id of a message's button; "" where it has none of this action."""
    shown = [one.to_dict() for one in message.components]
    ids = [one for one in _ids(shown) if one.startswith(f"council:{action}:")]
    return ids[0] if ids else ""


def _ids(value: object) -> Iterable[str]:
    if isinstance(value, list):
        for item in value:
            yield from _ids(item)
    elif isinstance(value, dict):
        if "custom_id" in value:
            yield str(value["custom_id"])
        for item in value.values():
            yield from _ids(item)


def make_client(app: AppContext, reports: list[str]) -> DiscordClient:
    return DiscordClient(app, BackgroundTasks(), ServerTracker(app, reports.append))


@asynccontextmanager
async def simulate() -> AsyncIterator[SimulatedBot]:
    app, reports = an_app(), list[str]()
    env = simcord.Env(make_client(app, reports))
    await env.start()
    try:
        app.now = env.now
        guild = env.create_guild("Home")
        channel = guild.create_text_channel("general")
        ada, ben, cleo = (guild.add_member(env.create_user(who)) for who in ("Ada", "Ben", "Cleo"))
        yield SimulatedBot(app, env, guild, channel, ada, ben, cleo, reports)
    finally:
        await env.shutdown()
    env.raise_errors()
