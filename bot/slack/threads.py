"""A thread so far, as what a question refers to: of people, or of the council's own rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from bot.chat import Sent
from bot.commands.desk import Desk
from bot.slack.calls import RefusedError, called
from bot.slack.hearing import key_of
from bot.slack.reading import plain_text
from bot.slack.workspace import Workspace
from council.errors import CouncilError, RoundNotFoundError
from council.places import Place
from council.ports import Wanted
from council.rounds import Round

MOST_CHARACTERS = 12_000
PAGE = 200
MOST_ROUNDS = 50  # of a channel, among which a thread's are looked for
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


async def own_rounds(desk: Desk, workspace: Workspace, place: Place) -> tuple[Round, ...]:
    """Give the rounds of the thread that one began, oldest first; none of any other thread."""
    first = await _first_round(desk, workspace, place)
    if first is None:
        return ()
    here = Wanted(chats=(place.chat,), workspace=place.workspace, here=place, only_here=True)
    lines = await desk.store.recent(MOST_ROUNDS, here)
    later = [x.id for x in reversed(lines) if x.place.thread == place.thread and x.id != first.id]
    return (first, *[await desk.store.load(round_id) for round_id in later])


async def _first_round(desk: Desk, workspace: Workspace, place: Place) -> Round | None:
    """Give the round that a thread's first message shows, or asked for."""
    moment = place.thread or ""
    try:
        asked = key_of(workspace.team, f"{place.channel} {moment}")
        return await round_at(desk, place, moment) or await desk.store.load(asked)
    except RoundNotFoundError:
        return None


def context_of(rounds: Sequence[Round]) -> str:
    """Give the rounds of a thread as what a question that follows them refers to."""
    return "\n\n".join(_newest([_told(round_) for round_ in rounds if not round_.forgotten]))


def _told(round_: Round) -> str:
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
