"""A workspace with the product in this process: what its users write, press and read.

Everything is the product's own, down to the database file; only Slack and the models are fakes.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from bot.bootstrap import StartOptions, open_app
from bot.context import AppContext
from bot.coordination.tasks import running_alongside
from bot.services import Service
from bot.settings import Settings
from bot.slack.app import Slack
from bot.slack.config import Tokens
from tests.bot.homes import Home, two_panels_config
from tests.bot.slack.in_process import FAST_LIMITS
from tests.bot.slack.process import REPLIES, is_answer
from tests.wire.models import Behaviour, ModelServer
from tests.wire.slack import BOT, Channel, FakeSlack, Message, Rates, Rules, User, View
from tests.wire.slack.fields import elements_in
from tests.wire.slack.workspace import Kind

TIMEOUT_SECONDS = 60
_NUMBERS = count(1)


def text_of(of: Message | View) -> str:
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


def in_menu(message: Message, action: str) -> str:
    """Return the value of the option of the message's menu that does an action."""
    [menu] = [one for _, one in elements_in(message.blocks) if one["type"] == "overflow"]
    values = [str(option["value"]) for option in menu["options"]]
    return next(value for value in values if value.startswith(f"{action}:"))


@dataclass(slots=True)
class Stage:
    """A running product, its Slack, and a second panel whose models a test can script."""

    home: Home
    slack: FakeSlack
    models: ModelServer

    def add_user(
        self, name: str = "dora", *, is_guest: bool = False, is_admin: bool = False
    ) -> str:
        id_ = f"U{next(_NUMBERS):05d}"
        user = User(id_, name, is_restricted=is_guest, is_admin=is_admin)
        return self.slack.workspace.add_user(user).id

    def add_channel(self, *others: str, kind: Kind = "public", shared: bool = False) -> str:
        letter = "G" if kind == "private" else "C"
        id_ = f"{letter}{next(_NUMBERS):05d}"
        members = {BOT, "U1", "U2", *others}
        opened = Channel(id_, f"room-{id_.lower()}", kind, members, is_ext_shared=shared)
        return self.slack.workspace.add_channel(opened).id

    def bot_messages(self, channel: str) -> list[Message]:
        said = self.slack.workspace.channels[channel].said
        return [message for message in said if message.payload.get("bot_id")]

    def answers(self, channel: str) -> list[Message]:
        ours = self.bot_messages(channel)
        return [message for at, message in enumerate(ours) if is_answer(ours, at)]

    async def wait_for_answer(self, channel: str, times: int = 1) -> Message:
        await self.slack.until(lambda: len(self.answers(channel)) >= times, TIMEOUT_SECONDS)
        assert len(self.answers(channel)) == times
        return self.answers(channel)[-1]

    async def ask(self, channel: str, question: str = "Which queue?", user: str = "U1") -> Message:
        before = len(self.answers(channel))
        deed = await self.slack.command(user, channel, "/council", question)
        assert deed.accepted, deed
        return await self.wait_for_answer(channel, before + 1)

    async def reply_to(self, user: str, channel: str, text: str) -> Message:
        """Send `/council …`; return the first reply, with the acknowledgement or after it."""
        before = len(self.ephemerals(user, channel))
        deed = await self.slack.command(user, channel, "/council", text)
        assert deed.accepted, deed
        await self.slack.until(
            lambda: len(self.ephemerals(user, channel)) > before, TIMEOUT_SECONDS
        )
        return self.ephemerals(user, channel)[before]

    async def wait_for_thread(self, root: Message) -> list[Message]:
        """Wait for a round's whole thread, the results and the rankings, and return it.

        A round in a thread has none of its own.
        """
        if root.thread_ts:
            return []

        def thread() -> list[Message]:
            return self.slack.thread(root.channel, root.ts)

        await self.slack.until(lambda: len(thread()) == REPLIES, TIMEOUT_SECONDS)
        return thread()

    def ephemerals(self, user: str, channel: str) -> list[Message]:
        return [m for m in self.slack.ephemerals(user) if m.channel == channel]

    async def wait_for_ephemeral(self, user: str, channel: str, said: str) -> Message:
        """Wait for an ephemeral message with this text, and return it."""

        def found() -> list[Message]:
            return [m for m in self.ephemerals(user, channel) if said in text_of(m)]

        await self.slack.until(found, TIMEOUT_SECONDS)
        return found()[-1]

    async def wait_for_modal(self, user: str, said: str = "") -> View:
        """Wait until a user has a modal open with this text, and return it."""

        def found() -> list[View]:
            return [view for view in self.slack.views(user) if said in text_of(view)]

        await self.slack.until(found, TIMEOUT_SECONDS)
        return found()[-1]

    @contextmanager
    def scripted(self, script: Mapping[str, Behaviour]) -> Iterator[None]:
        self.models.script.update(script)
        try:
            yield
        finally:
            self.models.script.clear()

    def round_ids(self, channel: str) -> list[str]:
        rows = self.home.sql("SELECT id FROM round WHERE channel = ? ORDER BY asked_at", channel)
        return [str(row[0]) for row in rows]


@asynccontextmanager
async def run_stage(folder: Path, extra: str = "") -> AsyncIterator[Stage]:
    async with (
        ModelServer() as models,
        FakeSlack(rules=Rules(rates=Rates(off=True))) as slack,
    ):
        home = Home(folder).with_config(two_panels_config(models.api_base, extra)).with_tables()
        async with run_in_process(home, slack):
            yield Stage(home, slack, models)


@asynccontextmanager
async def run_in_process(
    home: Home, slack: FakeSlack, report: Callable[[str], None] = lambda _: None
) -> AsyncIterator[AppContext]:
    settings = Settings.model_validate(dict(home.environment))
    async with open_app(settings, StartOptions(serves=True)) as app:
        tokens = Tokens(slack.state.app.bot_token, slack.state.app.app_token, "", slack.api_url)
        running = Slack(app, tokens, report, FAST_LIMITS).run()
        tasks = [task for service in app.parts.all(Service) for task in service.tasks()]
        async with running_alongside(running, *tasks):
            await slack.connected(seconds=TIMEOUT_SECONDS)
            yield app
