"""From Slack's events to what was said: by whom, where, and under which key."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bot.chat import Asker, Said, UnwelcomeError, key_of
from bot.slack.downloads import attached
from bot.slack.reading import plain_text
from bot.slack.workspace import CHAT, Workspace
from council.places import Place

Body = dict[str, Any]
NOT_OURS = "I am not in this conversation: ask in a channel that I am in, or write to me alone."


@dataclass(frozen=True, slots=True)
class Heard:
    """An event, before Slack was asked who and where that is."""

    text: str
    user: str
    channel: str
    event: str
    thread: str | None = None
    user_name: str = ""
    files: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)

    def said(self, team: str) -> Said:
        """Give what is known at once; nothing is known of the place, so it counts as private."""
        place = Place(CHAT, team, self.channel, self.thread, private=True)
        asker = Asker(self.user, self.user_name or self.user)
        return Said(self.text, asker, place, key_of(CHAT, team, self.event))


async def known(workspace: Workspace, heard: Heard) -> Said:
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
    """Raise UnwelcomeError, with what to do, where the bot could not post its answer."""
    if channel.startswith("D") and workspace.may("im:write"):
        if channel != await workspace.own_channel(user):
            raise UnwelcomeError(NOT_OURS)
        return
    where = await workspace.people.conversation(channel)
    if where.refusal:
        workspace.people.forget(channel)  # somebody may invite us now
        raise UnwelcomeError(where.refusal)


def of_command(body: Body) -> Heard:
    """Read a slash command."""
    return Heard(
        str(body.get("text") or ""),
        str(body["user_id"]),
        str(body["channel_id"]),
        str(body["trigger_id"]),
        user_name=str(body.get("user_name") or ""),
    )


def of_message(event: Body) -> Heard:
    """Read a message or a mention; a message is one event, however often it is delivered."""
    channel, moment = str(event["channel"]), str(event["ts"])
    thread = event.get("thread_ts")
    return Heard(
        str(event.get("text") or ""),
        str(event["user"]),
        channel,
        f"{channel} {moment}",
        str(thread) if thread else None,
        files=tuple(event.get("files") or ()),
    )


def of_click(body: Body) -> Heard:
    """Read a pressed button, or a shortcut on a message; without a channel it is in a modal."""
    container, message = body.get("container") or {}, body.get("message") or {}
    thread = message.get("thread_ts") or container.get("thread_ts")
    user, channel = body["user"], body.get("channel") or {}
    return Heard(
        "",
        str(user["id"]),
        str(channel.get("id") or container.get("channel_id") or ""),
        str(body.get("trigger_id") or ""),
        str(thread) if thread else None,
        str(user.get("username") or user.get("name") or ""),
    )
