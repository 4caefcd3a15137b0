"""Parsers for Slack events, slash commands and interactions; notices between processes.

Turns Slack payloads into IncomingMessage, with mentions and links as plain text.
"""

import html
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from bot.chat import Asker, IncomingMessage, PostingForbiddenError, event_key
from bot.commands.pseudonyms import mention, without_marks
from bot.context import AppContext
from bot.slack.files import parse_attachment
from bot.slack.workspace import CHAT, Workspace, postable_conversation
from council.places import Place

Body = dict[str, Any]

# Topics of the event bus: what one process learns from Slack and all must know.
CHANNEL_CHANGED, UNINSTALLED = "slack channel", "slack gone"
# Other text in angle brackets, such as `List<String>`, was typed by a person.
_USER = re.compile(r"@([UW][A-Z0-9]+)(?:\||$)")
_USER_TOKEN = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^>\n]*)?>")
_TOKEN = re.compile(r"<([@#!][^<>\n]+|[a-z][a-z0-9+.-]*:[^<>\n]+)>")


def new_message(
    workspace: Workspace, user: str, channel: str, event_id: str, thread: str | None = None
) -> IncomingMessage:
    """Return a message as far as it is known without a lookup: its place is private."""
    place = Place(CHAT, workspace.team, channel, thread, private=True)
    return IncomingMessage("", Asker(user, user), place, event_key(CHAT, workspace.team, event_id))


def parse_command(workspace: Workspace, body: Body) -> IncomingMessage:
    """Parse a slash command."""
    user, channel, trigger_id = (str(body[k]) for k in ("user_id", "channel_id", "trigger_id"))
    asker = Asker(user, str(body.get("user_name") or user))
    message = new_message(workspace, user, channel, trigger_id)
    return replace(message, text=str(body.get("text") or ""), asker=asker)


def parse_message(workspace: Workspace, event: Body, thread: str | None) -> IncomingMessage:
    """Parse a message or a mention; every delivery of one message has the same key."""
    user, channel, ts = (str(event[key]) for key in ("user", "channel", "ts"))
    text = strip_mention(str(event.get("text") or ""), workspace.bot_user)
    files = tuple(parse_attachment(workspace, file) for file in event.get("files") or ())
    message = new_message(workspace, user, channel, f"{channel} {ts}", thread)
    return replace(message, text=text, files=files, is_visible=True)


def parse_interaction(workspace: Workspace, body: Body) -> IncomingMessage:
    """Parse a block action or a shortcut; its channel is empty if it happened in a modal."""
    container, shown = body.get("container") or {}, body.get("message") or {}
    thread = shown.get("thread_ts") or container.get("thread_ts")
    user, channel = body["user"], body.get("channel") or {}
    message = new_message(
        workspace,
        str(user["id"]),
        str(channel.get("id") or container.get("channel_id") or ""),
        str(body.get("trigger_id") or ""),
        str(thread) if thread else None,
    )
    name = str(user.get("username") or user.get("name") or user["id"])
    return replace(message, asker=Asker(message.asker.id, name))


async def resolve_message(
    app: AppContext, workspace: Workspace, message: IncomingMessage
) -> IncomingMessage:
    """Return the message in plain text, with what Slack knows about its user and channel.

    From here on, the settings of its place are as they are now.
    """
    await app.reload_settings(message.place)
    conversation = await workspace.conversation(message.place.channel)
    return replace(
        message,
        text=await to_plain_text(message.text, workspace.display_name),
        asker=await workspace.asker(message.asker.id, message.asker.name),
        place=replace(message.place, private=conversation.is_private),
        is_shared=conversation.is_shared,
        is_direct=message.place.channel.startswith("D"),
    )


async def check_can_answer(workspace: Workspace, user: str, channel: str) -> None:
    """Raise PostingForbiddenError, which says what to do, if the bot cannot post its answer."""
    if channel.startswith("D") and workspace.has_scope("im:write"):
        if channel != await workspace.dm_channel(user):
            raise PostingForbiddenError(
                "I am not in this conversation. Ask in a channel that I am in, or message me "
                "directly."
            )
        return
    await postable_conversation(workspace, channel)


async def to_plain_text(text: str, display_name: Callable[[str], Awaitable[str]]) -> str:
    """Return a message's text without mrkdwn: names instead of ids, links with their URLs."""
    users = dict.fromkeys(re.findall(r"<@([UW][A-Z0-9]+)>", text))
    names = {user: await display_name(user) for user in users}
    return html.unescape(_TOKEN.sub(lambda token: _plain_token(token[1], names), text)).strip()


def mark_mentions(text: str) -> str:
    """Return a message's text without mrkdwn, with a mark for each mention of a person."""
    clean = without_marks(text)
    return html.unescape(_TOKEN.sub(lambda token: _marked_token(token[1]), clean)).strip()


def mark_people(text: str) -> str:
    """Return a typed text with a mark for each mention of a person, otherwise as it is."""
    return _USER_TOKEN.sub(lambda token: mention(token[1]), without_marks(text))


def _marked_token(token: str) -> str:
    user = _USER.match(token)
    return mention(user[1]) if user else _plain_token(token, {})


def strip_mention(text: str, bot_user: str) -> str:
    """Return a message's text without the first mention of the bot."""
    return re.sub(rf"\s*<@{re.escape(bot_user)}(\|[^>]*)?>[:,]?\s*", " ", text, count=1).strip()


def _plain_token(token: str, names: dict[str, str]) -> str:
    target, _, label = token.partition("|")
    if target.startswith("@"):
        return f"@{label or names.get(target[1:], target[1:])}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return label or f"@{target[1:].partition('^')[0]}"
    target = target.removeprefix("mailto:")
    return target if label in {"", target} else f"{label} ({target})"
