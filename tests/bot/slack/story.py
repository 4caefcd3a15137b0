"""A workspace with the running product: what its people say, press and read."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.bot.homes import scripted_config, seat_toml
from tests.bot.slack.serving import RunningProduct, Transport, is_answer, serve_slack
from tests.wire.models import Behaviour, ModelServer
from tests.wire.slack import BOT, Channel, FakeSlack, Message, Rates, Rules, User, View
from tests.wire.slack.workspace import Kind

PATIENCE_SECONDS = 15
SERVED = ("up", "down", "left")
_NUMBERS = count(1)


def text_of(of: Message | View) -> str:
    """Return all texts of a message or a modal, in order."""
    if isinstance(of, Message):
        return "\n".join([of.text, *_texts(of.blocks)])
    return "\n".join([of.payload["title"]["text"], *_texts(of.payload["blocks"])])


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, dict):
        for name, part in value.items():
            if name in {"text", "title", "initial_value"} and isinstance(part, str):
                yield part
            else:
                yield from _texts(part)


@dataclass(slots=True)
class Stage:
    """A running product, its Slack, and a second panel whose models a test can script."""

    served: RunningProduct
    models: ModelServer

    @property
    def slack(self) -> FakeSlack:
        return self.served.slack

    def person(self, name: str = "dora", *, is_guest: bool = False) -> str:
        """Add a user."""
        user = User(f"U{next(_NUMBERS):05d}", name, is_restricted=is_guest)
        return self.slack.workspace.add_user(user).id

    def channel(self, *others: str, kind: Kind = "public", shared: bool = False) -> str:
        """Add a channel with Ada, Ben and the bot."""
        letter = "G" if kind == "private" else "C"
        id_ = f"{letter}{next(_NUMBERS):05d}"
        members = {BOT, "U1", "U2", *others}
        opened = Channel(id_, f"room-{id_.lower()}", kind, members, is_ext_shared=shared)
        return self.slack.workspace.add_channel(opened).id

    def ours(self, channel: str) -> list[Message]:
        """Return the bot's messages in a channel, including replies."""
        said = self.slack.workspace.channels[channel].said
        return [message for message in said if message.payload.get("bot_id")]

    def answers(self, channel: str) -> list[Message]:
        """Return the bot's messages that are answers."""
        ours = self.ours(channel)
        return [message for at, message in enumerate(ours) if is_answer(ours, at)]

    async def answered(self, channel: str, times: int = 1) -> Message:
        """Wait for this many answers in a channel, and return the last."""
        await self.slack.until(lambda: len(self.answers(channel)) >= times, PATIENCE_SECONDS)
        assert len(self.answers(channel)) == times
        return self.answers(channel)[-1]

    async def asked(
        self, channel: str, question: str = "Which queue?", user: str = "U1"
    ) -> Message:
        """Ask with the command, and return the answer."""
        before = len(self.answers(channel))
        deed = await self.slack.command(user, channel, "/council", question)
        assert deed.message, deed
        return await self.answered(channel, before + 1)

    async def told(self, root: Message) -> list[Message]:
        """Wait for a round's whole thread, and return it."""
        return await self.served.told(root.channel, root)

    def whispers(self, user: str, channel: str) -> list[Message]:
        """Return the ephemeral messages to a user in a channel."""
        return [m for m in self.slack.ephemerals(user) if m.channel == channel]

    async def whispered(self, user: str, channel: str, said: str) -> Message:
        """Wait for an ephemeral message with this text, and return it."""

        def found() -> list[Message]:
            return [m for m in self.whispers(user, channel) if said in text_of(m)]

        await self.slack.until(found, PATIENCE_SECONDS)
        return found()[-1]

    async def modal(self, user: str, said: str = "") -> View:
        """Wait until a user has a modal open with this text, and return it."""

        def found() -> list[View]:
            return [view for view in self.slack.views(user) if said in text_of(view)]

        await self.slack.until(found, PATIENCE_SECONDS)
        return found()[-1]

    @contextmanager
    def scripted(self, script: Mapping[str, Behaviour]) -> Iterator[None]:
        """Script models of the served panel for the duration of the block."""
        self.models.script.update(script)
        try:
            yield
        finally:
            self.models.script.clear()

    def rounds(self, channel: str) -> list[str]:
        """Return the ids of the rounds stored for a channel, oldest first."""
        rows = self.served.home.sql(
            "SELECT id FROM round WHERE channel = ? ORDER BY asked_at", channel
        )
        return [str(row[0]) for row in rows]


def config(api_base: str, extra: str = "") -> str:
    """Return a council.toml: three scripted members, and a panel "served" by a model server."""
    listed = ", ".join(f'"openai/{name}"' for name in SERVED)
    seats = "".join(seat_toml(f"openai/{name}", api_base=api_base) for name in SERVED)
    served = f"[panels.served]\nmembers = [{listed}]\naudit_share = 0\n"
    return f'default_panel = "house"\n{scripted_config(3)}{served}{seats}{extra}'


@asynccontextmanager
async def run_stage(
    folder: Path, transport: Transport = "socket", extra: str = "", rules: Rules | None = None
) -> AsyncIterator[Stage]:
    """Run the product connected to a Slack and a model server."""
    rules = rules or Rules(rates=Rates(off=True))
    async with (
        ModelServer() as models,
        FakeSlack(transport, rules) as slack,
        serve_slack(folder, slack, transport, config(models.api_base, extra)) as served,
    ):
        yield Stage(served, models)
