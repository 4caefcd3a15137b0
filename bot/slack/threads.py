"""A thread so far, as what a question refers to: shown to the asker first, then sent along."""

from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from bot.chat import Button, Buttons, Heading, Note, Post, Quote, Sent
from bot.commands.desk import Desk
from bot.render.acceptance import receivers
from bot.render.figures import counted
from bot.slack.calls import RefusedError, called
from bot.slack.reading import plain_text
from bot.slack.workspace import Workspace
from council.errors import CouncilError
from council.panel import Panel
from council.places import Place
from council.rounds import Round

MOST_CHARACTERS = 12_000
SHOWN_CHARACTERS = 1_200
PAGE = 200
WITH, WITHOUT = "with_thread", "without_thread"
UNREADABLE = (
    "I may not read this thread ({code}), so I can only be asked without it: use /council in the "
    "channel."
)

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Context:
    """What was said in a thread, of so many messages; the oldest are left out where it is long."""

    text: str
    messages: int
    left_out: int = 0

    @property
    def digest(self) -> str:
        """Tell this context from any other, so that what is sent is what was shown."""
        return sha256(self.text.encode()).hexdigest()[:8]


def context_of(round_: Round) -> str:
    """Give a finished round as what a question that follows it refers to."""
    answer = round_.synthesis.text if round_.synthesis else "(none yet)"
    return f"The question before: {round_.question.text}\n\nThe council's answer to it: {answer}"


async def thread_before(
    workspace: Workspace, desk: Desk, place: Place, moment: str
) -> tuple[Context, Message]:
    """Give what was said in the place's thread before a message, and that message itself.

    Of what the bot said, the council's answers are taken. Raises CouncilError where the bot may
    not read it.
    """
    messages = await _messages(workspace, place, moment)
    asked = next((message for message in messages if message["ts"] == moment), {})
    before = [message for message in messages if message["ts"] != moment]
    found = [await _line(workspace, desk, place, message) for message in before]
    lines = [line for line in found if line]
    kept = _newest(lines)
    context = Context("\n\n".join(kept), len(kept), len(lines) - len(kept))
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


async def _line(workspace: Workspace, desk: Desk, place: Place, message: Message) -> str | None:
    if message.get("user") == workspace.bot or message.get("bot_id"):
        round_ = await round_at(desk, place, str(message["ts"]))
        answer = round_.synthesis.text if round_ and round_.synthesis else ""
        return f"The council: {answer}" if answer else None
    text = await plain_text(str(message.get("text", "")), workspace.people.named)
    name = await workspace.people.named(str(message.get("user", "")))
    return f"{name}: {text}" if text else None


async def round_at(desk: Desk, place: Place, moment: str) -> Round | None:
    """Give the round whose first message this is."""
    round_id = await desk.outbox.root_of(Sent(place, moment))
    return await desk.store.load(round_id) if round_id else None


def _newest(lines: list[str]) -> list[str]:
    """Give as many of the last lines as can be sent along."""
    kept: list[str] = []
    left = MOST_CHARACTERS
    for line in reversed(lines):
        left -= len(line) + 2
        if left < 0 and kept:
            break
        kept.insert(0, line[:MOST_CHARACTERS])
    return kept


def asking_with(context: Context, panel: Panel, value: str) -> Post:
    """Give what the asker is shown before a thread is sent along."""
    told = f"{counted(context.messages, 'message')}, {len(context.text):,} characters"
    older = f"; {counted(context.left_out, 'older message')} left out" if context.left_out else ""
    shown = context.text[-SHOWN_CHARACTERS:]
    cut = "…" if len(shown) < len(context.text) else ""
    return Post(
        (
            Heading("Send this thread along with your question?"),
            Quote(cut + shown),
            Note(f"{told}{older}. All of it would go to {receivers(panel)}."),
            Buttons((Button(WITH, "Ask with it", value), Button(WITHOUT, "Ask without", value))),
        ),
        "Send this thread along with your question?",
    )
