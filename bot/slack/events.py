"""What people write in Slack, as plain text."""

import asyncio
import html
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bot.chat import Asker, IncomingMessage, PostingForbiddenError, key_of
from bot.ports import PubSub
from bot.slack.files import attached
from bot.slack.messages import EphemeralReplies
from bot.slack.workspace import CHAT, Directory, Workspace
from council.places import Place

# --- What people write in Slack, as plain text.

# What else stands in angle brackets, such as `List<String>`, is somebody's own words.
_TOKEN = re.compile(r"<([@#!][^<>\n]+|[a-z][a-z0-9+.-]*:[^<>\n]+)>")

Named = Callable[[str], Awaitable[str]]


async def plain_text(text: str, named: Named) -> str:
    """Give a message's text without Slack's markup: names for ids, links with their addresses."""
    users = dict.fromkeys(re.findall(r"<@([UW][A-Z0-9]+)>", text))
    names = {user: await named(user) for user in users}

    def read(token: re.Match[str]) -> str:
        return _read(token[1], names)

    return html.unescape(_TOKEN.sub(read, text)).strip()


def without_mention(text: str, bot: str) -> str:
    """Give a message's text without the mention that called us."""
    return re.sub(rf"\s*<@{re.escape(bot)}(\|[^>]*)?>[:,]?\s*", " ", text, count=1).strip()


def _read(token: str, names: dict[str, str]) -> str:
    target, _, label = token.partition("|")
    if target.startswith("@"):
        return f"@{label or names.get(target[1:], target[1:])}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return label or f"@{target[1:].partition('^')[0]}"
    target = target.removeprefix("mailto:")
    return target if label in {"", target} else f"{label} ({target})"


# --- From Slack's events to what was said: by whom, where, and under which key.

Body = dict[str, Any]
NOT_OURS = "I am not in this conversation: ask in a channel that I am in, or write to me alone."


@dataclass(frozen=True, slots=True)
class SlackEvent:
    """An event, before Slack was asked who and where that is."""

    text: str
    user: str
    channel: str
    event: str
    thread: str | None = None
    user_name: str = ""
    files: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)

    def said(self, team: str) -> IncomingMessage:
        """Give what is known at once; nothing is known of the place, so it counts as private."""
        place = Place(CHAT, team, self.channel, self.thread, private=True)
        asker = Asker(self.user, self.user_name or self.user)
        return IncomingMessage(self.text, asker, place, key_of(CHAT, team, self.event))


async def known(workspace: Workspace, heard: SlackEvent) -> IncomingMessage:
    """Give what was said, in plain text, with what Slack knows of person and place."""
    asker = await workspace.people.asker(heard.user, heard.user_name)
    where = await workspace.people.conversation(heard.channel)
    said = heard.said(workspace.team)
    return replace(
        said,
        text=await plain_text(heard.text, workspace.people.named),
        asker=asker,
        place=replace(said.place, private=where.is_private),
        is_shared=where.is_shared,
        is_direct=heard.channel.startswith("D"),
        files=attached(workspace, heard.files),
    )


async def check_welcome(workspace: Workspace, user: str, channel: str) -> None:
    """Raise PostingForbiddenError, with what to do, where the bot could not post its answer."""
    if channel.startswith("D") and workspace.may("im:write"):
        if channel != await workspace.own_channel(user):
            raise PostingForbiddenError(NOT_OURS)
        return
    where = await workspace.people.conversation(channel)
    if where.refusal:
        workspace.people.forget(channel)  # somebody may invite us now
        raise PostingForbiddenError(where.refusal)


def of_command(body: Body) -> SlackEvent:
    """Read a slash command."""
    return SlackEvent(
        str(body.get("text") or ""),
        str(body["user_id"]),
        str(body["channel_id"]),
        str(body["trigger_id"]),
        user_name=str(body.get("user_name") or ""),
    )


def of_message(event: Body) -> SlackEvent:
    """Read a message or a mention; a message is one event, however often it is delivered."""
    channel, moment = str(event["channel"]), str(event["ts"])
    thread = event.get("thread_ts")
    return SlackEvent(
        str(event.get("text") or ""),
        str(event["user"]),
        channel,
        f"{channel} {moment}",
        str(thread) if thread else None,
        files=tuple(event.get("files") or ()),
    )


def of_click(body: Body) -> SlackEvent:
    """Read a pressed button, or a shortcut on a message; without a channel it is in a modal."""
    container, message = body.get("container") or {}, body.get("message") or {}
    thread = message.get("thread_ts") or container.get("thread_ts")
    user, channel = body["user"], body.get("channel") or {}
    return SlackEvent(
        "",
        str(user["id"]),
        str(channel.get("id") or container.get("channel_id") or ""),
        str(body.get("trigger_id") or ""),
        str(thread) if thread else None,
        str(user.get("username") or user.get("name") or ""),
    )


# --- Which events were heard before: Slack delivers one again where it doubts that it arrived.

MOST_EVENTS = 10_000  # Slack gives up after minutes; nobody says so much in them


class SeenEvents:
    """Remembers the newest events of this process; a round is safe by its key even without."""

    def __init__(self) -> None:
        self._events: OrderedDict[str, EphemeralReplies] = OrderedDict()

    def before(self, event: str) -> EphemeralReplies | None:
        """Give who tells of an event that was heard before; None for a new one."""
        return self._events.get(event)

    def remember(self, event: str, whispers: EphemeralReplies) -> None:
        """Remember an event, and who tells of it."""
        self._events[event] = whispers
        if len(self._events) > MOST_EVENTS:
            self._events.popitem(last=False)


# --- What one process of a cluster has heard from Slack, and every other has to know.

CHANGED, GONE = "slack channel", "slack gone"  # a channel is another now, the app was uninstalled


async def forget_changed(bus: PubSub, people: Directory) -> None:
    """Ask Slack again about channels that have changed, until cancelled."""
    with bus.subscription(CHANGED) as changed:
        while True:
            if channel := await changed.get():
                people.forget(channel)
            else:
                people.forget_channels()


async def hear_gone(bus: PubSub, gone: asyncio.Event) -> None:
    """Wait until some process hears that the app was uninstalled."""
    with bus.subscription(GONE) as told:
        while not await told.get():
            pass
    gone.set()
