"""The bot in a server, and what users there send, press and read."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.bot.discord.process import ProcessBot, run_process
from tests.bot.homes import two_panels_config
from tests.wire.discord import Channel, FakeDiscord, Interaction, Message, Rates, Rules, World
from tests.wire.discord.message_store import new_message, post_message
from tests.wire.discord.permissions import NOTHING, Permission
from tests.wire.discord.routes.channels import begin
from tests.wire.discord.sample_world import HIDDEN, SEEN, add_channel
from tests.wire.discord.world import Kind
from tests.wire.models import ModelServer

TIMEOUT_SECONDS = 60
QUICK = Rules(identify_seconds=0, rates=Rates(off=True))
PUBLIC: Kind = "thread"
PRIVATE: Kind = "private_thread"
_NUMBERS = count(1)


def custom_id_of(message: Message, action: str) -> str:
    """Return the custom id of a message's button; "" where it has none of this action."""
    ids = [one for one in _ids(message.components) if one.startswith(f"council:{action}:")]
    return ids[0] if ids else ""


def _ids(value: object) -> list[str]:
    if isinstance(value, list):
        return [id_ for item in value for id_ in _ids(item)]
    if isinstance(value, dict):
        own = [str(value["custom_id"])] if "custom_id" in value else []
        return own + [id_ for item in value.values() for id_ in _ids(item)]
    return []


@dataclass(slots=True)
class StoryBot:
    """A running product, its Discord, and a second panel whose models a test can script."""

    served: ProcessBot
    models: ModelServer

    @property
    def discord(self) -> FakeDiscord:
        return self.served.discord

    def channel(self, *, hidden: bool = False, deny: Permission = NOTHING) -> Channel:
        """Open a channel in the home server; a hidden one is for Ada, Ben and the bot alone."""
        discord, handle = self.discord, f"N{next(_NUMBERS)}"
        home = discord.world.guild("G1")
        opened = add_channel(discord.world, home, handle, handle.lower())
        if hidden:
            opened.overwrites[home.id] = HIDDEN
            for who in ("U1", "U2", "BOT"):
                opened.overwrites[discord.user(who).id] = SEEN
        # The bot learns of the channel by the event that Discord sends for the change.
        discord.permit(opened, allow=SEEN.allow if hidden else NOTHING, deny=deny)
        return opened

    def thread(self, user: str, channel: Channel, *, private: bool = False) -> Channel:
        """Open a thread without a message; a private one has only its owner and the bot."""
        state, kind = self.discord.state, PRIVATE if private else PUBLIC
        thread = begin(state, channel, {"name": "Aside"}, state.snowflake(), kind)
        thread.people.add(self.discord.user(user).id)
        return thread

    def answers(self, channel: Channel | str) -> list[Message]:
        return [m for m in self.discord.said_by_bot(channel) if custom_id_of(m, "answers")]

    async def answered(self, channel: Channel | str, times: int = 1) -> Message:
        """Return the last of so many answers in a channel, once they are there."""
        await self.discord.until(lambda: len(self.answers(channel)) >= times, TIMEOUT_SECONDS)
        assert len(self.answers(channel)) == times
        return self.answers(channel)[-1]

    async def ask(
        self, channel: Channel | str, question: str = "Which queue?", user: str = "U1"
    ) -> Message:
        """Ask with the command; return the answer."""
        before = len(self.answers(channel))
        result = await self.discord.slash(user, channel, "council ask", question=question)
        assert result.accepted
        return await self.answered(channel, before + 1)

    async def wait_for_thread(self, root: Message) -> list[Message]:
        """Return the messages of a round's thread once it is complete."""
        return await self.served.wait_for_thread(root)

    async def wait_for_reply(self, result: Interaction, said: str = "") -> str:
        """Return the ephemeral replies to an action once they contain a text."""

        def read() -> str:
            return "\n".join(m.text for m in result.sent if not m.is_loading)

        def is_told() -> bool:
            return bool(read().strip()) and said in read()

        await self.discord.until(is_told, TIMEOUT_SECONDS)
        assert all(message.ephemeral_to for message in result.sent)
        return read()

    async def run(self, user: str, where: Channel | str, command: str, /, **options: object) -> str:
        """Run a command; return its ephemeral replies."""
        result = await self.discord.slash(user, where, f"council {command}", **options)
        return await self.wait_for_reply(result)

    async def run_as_admin(self, where: Channel | str, command: str, /, **options: object) -> str:
        """Run a subcommand of `/council-admin` as Cleo; return its ephemeral replies."""
        result = await self.discord.slash("UADMIN", where, f"council-admin {command}", **options)
        return await self.wait_for_reply(result)

    async def press(self, user: str, message: Message, action: str) -> str:
        """Press a button; return the ephemeral replies."""
        return await self.wait_for_reply(await self._click(user, message, action))

    async def press_for_question(self, user: str, message: Message, action: str) -> Message:
        """Press a button; return the message that it opens, such as a confirmation."""
        result = await self._click(user, message, action)
        await self.wait_for_reply(result)
        return result.sent[-1]

    async def _click(self, user: str, message: Message, action: str) -> Interaction:
        """Click a button, which the message's menu may hold."""
        if not custom_id_of(message, action):
            message = await self.menu(user, message)
        return await self.discord.click(message, custom_id_of(message, action), user)

    async def menu(self, user: str, root: Message) -> Message:
        """Open the menu of an answer, which is private."""
        result = await self.discord.click(root, custom_id_of(root, "more"), user)
        await self.discord.until(lambda: custom_id_of(result.sent[-1], "export"), TIMEOUT_SECONDS)
        return result.sent[-1]

    async def confirm(self, user: str, message: Message, action: str) -> str:
        """Press a button and confirm; return the ephemeral replies."""
        question = await self.press_for_question(user, message, action)
        return await self.press(user, question, f"yes_{action}")

    def forge(self, root: Message, where: Channel | str) -> Message:
        """Return a copy of an answer in another channel, as a forged press would have it."""
        state = self.discord.state
        message = new_message(state, self.discord.world.channel(where), self.discord.bot)
        message.components, message.flags = root.components, root.flags
        return post_message(state, message)

    def rounds(self, channel: Channel | str) -> list[str]:
        rows = self.served.home.sql(
            "SELECT id FROM round WHERE channel = ? ORDER BY asked_at",
            self.discord.world.channel(channel).id,
        )
        return [str(row[0]) for row in rows]


@asynccontextmanager
async def run_story_bot(
    folder: Path, extra: str = "", world: World | None = None
) -> AsyncIterator[StoryBot]:
    async with (
        ModelServer() as models,
        FakeDiscord(QUICK, world) as discord,
        run_process(folder, discord, two_panels_config(models.api_base, extra)) as served,
    ):
        yield StoryBot(served, models)


def with_older_button(root: Message, action: str) -> Message:
    """Turn a button of an answer into one that answers of earlier versions have."""
    text = json.dumps(root.components).replace("council:ballots:", f"council:{action}:")
    root.components = json.loads(text)
    return root
