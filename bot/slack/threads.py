"""A thread so far, as what a question refers to: of people, or of the council's own rounds."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any

from aiohttp import ClientError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.access import admitted
from bot.chat import (
    Button,
    Buttons,
    Caution,
    Chat,
    Heading,
    IncomingMessage,
    Note,
    Part,
    Post,
    Quote,
    key_of,
)
from bot.commands.ask import asked
from bot.commands.context import AppContext
from bot.commands.rounds import newest, round_at
from bot.render.formatting import counted
from bot.render.round_status import receivers
from bot.slack.client import RefusedError, called
from bot.slack.events import plain_text, without_mention
from bot.slack.workspace import CHAT, Workspace
from council.errors import CouncilError
from council.panel import Panel
from council.places import Place

# --- A thread so far, as what a question refers to: of people, or of the council's own rounds.

PAGE = 200
UNREADABLE = (
    "I may not read this thread ({code}), so I can only be asked without it: use /council in the "
    "channel."
)

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ThreadContext:
    """What was said in a thread, of so many messages; the oldest are left out where it is long."""

    text: str
    messages: int
    left_out: int = 0

    @property
    def digest(self) -> str:
        """Tell this context from any other, so that what is sent is what was shown."""
        return sha256(self.text.encode()).hexdigest()[:8]


async def thread_before(
    workspace: Workspace, app: AppContext, place: Place, moment: str
) -> tuple[ThreadContext, Message]:
    """Give what was said in the place's thread before a message, and that message itself.

    Of what the bot said, the council's answers are taken. Raises CouncilError where the bot may
    not read it.
    """
    messages = await _messages(workspace, place, moment)
    asked = next((message for message in messages if message["ts"] == moment), {})
    before = [message for message in messages if message["ts"] != moment]
    found = [await _line(workspace, app, place, message) for message in before]
    lines = [line for line in found if line]
    kept = newest(lines)
    context = ThreadContext("\n\n".join(kept), len(kept), len(lines) - len(kept))
    return context, asked


async def _messages(workspace: Workspace, place: Place, moment: str) -> list[Message]:
    messages: list[Message] = []
    thread = {"channel": place.channel, "ts": place.thread or moment}
    wanted: dict[str, Any] = {**thread, "limit": PAGE, "latest": moment, "inclusive": True}
    while True:
        try:
            reply = await called(partial(workspace.client.conversations_replies, **wanted))
        except RefusedError as error:
            raise CouncilError(UNREADABLE.format(code=error.code)) from None
        messages += reply.get("messages") or []
        wanted["cursor"] = (reply.get("response_metadata") or {}).get("next_cursor")
        if not wanted["cursor"]:
            # The thread's first message is given whatever the bounds are.
            return [message for message in messages if float(message["ts"]) <= float(moment)]


async def _line(
    workspace: Workspace, app: AppContext, place: Place, message: Message
) -> str | None:
    if message.get("user") == workspace.bot:
        round_ = await round_at(app, place, str(message["ts"]))
        answer = round_.synthesis.text if round_ and round_.synthesis else ""
        return f"The council: {answer}" if answer else None
    text = await plain_text(str(message.get("text", "")), workspace.people.named)
    return f"{await _author(workspace, message)}: {text}" if text else None


async def _author(workspace: Workspace, message: Message) -> str:
    """Give who says something; other bots may go by a name of their own."""
    own = message.get("username") or (message.get("bot_profile") or {}).get("name")
    return str(own) if own else await workspace.people.named(str(message.get("user", "")))


# --- What the asker is shown before a thread goes along with a question.

SHOWN_CHARACTERS = 1_200
WITH, WITHOUT = "with_thread", "without_thread"
ASKED = "Send this thread along with your question?"
CHANGED = "The thread has changed since. This is what would go along now."


@dataclass(frozen=True, slots=True)
class ThreadOffer:
    """A thread, the panel it would go to, what the buttons carry, and whether it was changed."""

    context: ThreadContext
    panel: Panel
    value: str
    changed: bool = False

    @property
    def post(self) -> Post:
        """Give what the asker alone is shown."""
        return Post(tuple(self._parts()), ASKED)

    def _parts(self) -> list[Part]:
        text = self.context.text
        shown = text[-SHOWN_CHARACTERS:]
        with_, without = (
            Button(WITH, "Ask with it", self.value),
            Button(WITHOUT, "Ask without", self.value),
        )
        return [
            *([Caution(CHANGED)] if self.changed else []),
            Heading(ASKED),
            Quote(shown if shown == text else f"…{shown}"),
            Note(f"{self._size()}. All of it would go to {receivers(self.panel)}."),
            Buttons((with_, without)),
        ]

    def _size(self) -> str:
        kept, older = self.context.messages, self.context.left_out
        size = f"{counted(kept, 'message')}, {len(self.context.text):,} characters"
        return size + (f"; {counted(older, 'older message')} left out" if older else "")


# --- A question asked in a thread: the asker sees what would go along, and sends it with a press.

NOT_YOURS = "Only the one who asked can press this."
GONE = "Your question is not there any more: ask it again."


async def offer_thread(
    app: AppContext, workspace: Workspace, chat: Chat, said: IncomingMessage, moment: str
) -> None:
    """Show the asker the thread that would be sent along; without one to send, ask at once."""
    admitted(app.access, said)
    context, _ = await thread_before(workspace, app, said.place, moment)
    await app.look_up(said.place)
    if context.text:
        await chat.send_ephemeral(said, _offer(app, said, context, moment).post)
    else:
        await asked(app, chat, said)


def _offer(
    app: AppContext, said: IncomingMessage, context: ThreadContext, moment: str
) -> ThreadOffer:
    value = "|".join((moment, said.place.thread or "", context.digest))
    return ThreadOffer(context, app.panel(None, said.place), value)


async def ask_about_thread(
    app: AppContext,
    workspace: Workspace,
    chat: Chat,
    said: IncomingMessage,
    pressed: tuple[str, str],
) -> None:
    """Ask what was offered, with the thread or without; one that has changed is shown again."""
    action, value = pressed
    moment, thread, digest = value.split("|")
    place = replace(said.place, thread=thread)
    context, message = await thread_before(workspace, app, place, moment)
    if not message:
        raise CouncilError(GONE)
    if message.get("user") != said.asker.id:
        raise CouncilError(NOT_YOURS)
    key = key_of(CHAT, workspace.team, f"{place.channel} {moment}")
    text = without_mention(str(message.get("text") or ""), workspace.bot)
    words = await plain_text(text, workspace.people.named)
    asking = replace(said, text=words, place=place, key=key)
    if action != WITH:
        await asked(app, chat, asking)
    elif context.digest == digest:
        await asked(app, chat, replace(asking, context=context.text))
    else:
        await app.look_up(place)
        again = replace(_offer(app, asking, context, moment), changed=True)
        await chat.send_ephemeral(asking, again.post)


async def take_away(response_url: str) -> None:
    """Take away an offer that was taken up; where Slack does not, it stands and does nothing."""
    if not response_url:
        return
    webhook = AsyncWebhookClient(response_url, timeout=2, retry_handlers=[])
    with suppress(ClientError, TimeoutError, OSError):
        await webhook.send_dict({"delete_original": True})
