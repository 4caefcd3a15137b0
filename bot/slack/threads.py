"""A thread so far, as what a question refers to: of people, or of the council's own rounds."""

from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from bot.commands.context import Desk
from bot.commands.rounds import newest, round_at
from bot.slack.calls import RefusedError, called
from bot.slack.reading import plain_text
from bot.slack.workspace import Workspace
from council.errors import CouncilError
from council.places import Place

PAGE = 200
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
    kept = newest(lines)
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
    if message.get("user") == workspace.bot:
        round_ = await round_at(desk, place, str(message["ts"]))
        answer = round_.synthesis.text if round_ and round_.synthesis else ""
        return f"The council: {answer}" if answer else None
    text = await plain_text(str(message.get("text", "")), workspace.people.named)
    return f"{await _author(workspace, message)}: {text}" if text else None


async def _author(workspace: Workspace, message: Message) -> str:
    """Give who says something; other bots may go by a name of their own."""
    own = message.get("username") or (message.get("bot_profile") or {}).get("name")
    return str(own) if own else await workspace.people.named(str(message.get("user", "")))
