"""Slack threads as context: read a thread, offer to send it along with a question, ask with it."""

from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from aiohttp import ClientError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.access import check_admitted
from bot.chat import (
    Button,
    Buttons,
    Caution,
    Chat,
    Heading,
    IncomingMessage,
    Note,
    Post,
    Quote,
    event_key,
)
from bot.commands.ask import ask_with_options
from bot.commands.dispatch import run_command
from bot.commands.registry import Invocation
from bot.commands.rounds import find_round_of_message, newest_that_fit, quoted_ids
from bot.context import AppContext
from bot.render.formatting import count_noun
from bot.render.round_status import receivers
from bot.slack.client import MAX_ITEMS, RefusedError, list_items
from bot.slack.events import strip_mention, to_plain_text
from bot.slack.messages import SlackChat
from bot.slack.workspace import CHAT, Workspace
from council.errors import CouncilError
from council.panel import Panel
from council.places import Place

WITH_THREAD, WITHOUT_THREAD = "with_thread", "without_thread"  # actions of the offer's buttons
_ASKED = "Send this thread along with your question?"
_UNREADABLE = (
    "I can't read this thread ({code}), so I can only be asked without it. Use /council in the "
    "channel."
)
_MAX_EXCERPT = 1_200  # characters of the thread that the offer shows

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ThreadContext:
    """The text of a thread and its number of messages; the oldest are left out of a long one."""

    text: str
    messages: int
    left_out: int = 0
    quotes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Return a digest of the text, to check that what is sent is what was shown."""
        return sha256(self.text.encode()).hexdigest()[:8]


def offer_post(
    context: ThreadContext, panel: Panel, value: str, *, has_changed: bool = False
) -> Post:
    """Return the ephemeral message that asks whether to send a thread to a panel.

    `value` is the value of its buttons: timestamp of the question, thread and digest.
    """
    excerpt = context.text[-_MAX_EXCERPT:]
    size = f"{count_noun(context.messages, 'message')}, {len(context.text):,} characters"
    if context.left_out:
        size += f"; {count_noun(context.left_out, 'older message')} left out"
    changed = "The thread has changed since. This is what would be sent now."
    with_it = Button(WITH_THREAD, "Ask with it", value)
    buttons = (with_it, Button(WITHOUT_THREAD, "Ask without", value))
    return Post(
        (
            *([Caution(changed)] if has_changed else []),
            Heading(_ASKED),
            Quote(excerpt if excerpt == context.text else f"…{excerpt}"),
            Note(f"{size}. All of it would go to {receivers(panel)}."),
            Buttons(buttons),
        ),
        _ASKED,
    )


async def offer_thread(
    app: AppContext, chat: SlackChat, message: IncomingMessage, asked: Invocation, ts: str
) -> None:
    """Show the asker the thread that would be sent along; without one, run the question."""
    check_admitted(app.access, message)
    context, _ = await _read_thread(app, chat.workspace, message.place, ts)
    if context.text:
        await _send_offer(app, chat, message, context, ts)
    else:
        await run_command(app, chat, message, asked)


async def ask_about_thread(
    app: AppContext, chat: SlackChat, message: IncomingMessage, action: tuple[str, str]
) -> None:
    """Ask the question of an offer, with the thread or without.

    `action` is the name and value of the pressed button. A thread that has changed since it was
    shown is offered again.
    """
    name, value = action
    workspace = chat.workspace
    ts, thread, digest = value.split("|")
    place = replace(message.place, thread=thread)
    context, original = await _read_thread(app, workspace, place, ts)
    if not original:
        raise CouncilError("Your question has expired. Please ask it again.")
    if original.get("user") != message.asker.id:
        raise CouncilError("Only the person who asked can use this button.")
    text = strip_mention(str(original.get("text") or ""), workspace.bot_user)
    question = replace(
        message,
        text=await to_plain_text(text, workspace.display_name),
        place=place,
        key=event_key(CHAT, workspace.team, f"{place.channel} {ts}"),
        is_visible=True,
    )
    if name != WITH_THREAD:
        await ask_with_options(app, chat, question)
    elif context.digest == digest:
        question = replace(question, context=context.text, quotes=context.quotes)
        await ask_with_options(app, chat, question)
    else:
        await _send_offer(app, chat, question, context, ts, has_changed=True)


async def delete_offer(response_url: str) -> None:
    """Delete an offer whose button was pressed; if Slack does not, it stays without effect."""
    if not response_url:
        return
    webhook = AsyncWebhookClient(response_url, timeout=2, retry_handlers=[])
    with suppress(ClientError, TimeoutError, OSError):
        await webhook.send_dict({"delete_original": True})


async def _send_offer(
    app: AppContext,
    chat: Chat,
    message: IncomingMessage,
    context: ThreadContext,
    ts: str,
    *,
    has_changed: bool = False,
) -> None:
    await app.reload_picked_panel(message.place)
    value = "|".join((ts, message.place.thread or "", context.digest))
    panel = app.panel(None, message.place)
    await chat.send_ephemeral(message, offer_post(context, panel, value, has_changed=has_changed))


async def _read_thread(
    app: AppContext, workspace: Workspace, place: Place, ts: str
) -> tuple[ThreadContext, Message]:
    """Return the thread before the message sent at `ts`, and that message ({} if it is gone)."""
    messages = await _fetch_messages(workspace, place, ts)
    original = next((message for message in messages if message["ts"] == ts), {})
    earlier = [message for message in messages if message["ts"] != ts]
    rendered = [await _render_message(app, workspace, place, message) for message in earlier]
    lines = [line for line in rendered if line]
    included = newest_that_fit(lines)
    rounds = [
        round_
        for message in earlier
        if message.get("user") == workspace.bot_user
        and (round_ := await find_round_of_message(app, place, str(message["ts"])))
    ]
    left_out = len(lines) - len(included)
    text = "\n\n".join(included)
    return ThreadContext(text, len(included), left_out, quoted_ids(rounds)), original


async def _fetch_messages(workspace: Workspace, place: Place, ts: str) -> list[Message]:
    params: dict[str, Any] = {"channel": place.channel, "ts": place.thread or ts, "latest": ts}
    replies = workspace.client.conversations_replies
    listed = list_items(replies, "messages", inclusive=True, **params)
    try:
        messages = [message async for message in listed]
    except RefusedError as error:
        raise CouncilError(_UNREADABLE.format(code=error.code)) from None
    if len(messages) >= MAX_ITEMS:  # the newest are missing
        raise CouncilError(_UNREADABLE.format(code="too long"))
    # Slack returns the thread's first message regardless of `latest`.
    return [message for message in messages if float(message["ts"]) <= float(ts)]


async def _render_message(
    app: AppContext, workspace: Workspace, place: Place, message: Message
) -> str:
    if message.get("user") == workspace.bot_user:
        round_ = await find_round_of_message(app, place, str(message["ts"]))
        text = round_.synthesis.text if round_ and round_.synthesis else ""
        author = "The council"
    else:
        text = await to_plain_text(str(message.get("text", "")), workspace.display_name)
        # Another bot may set its name in the message.
        name = message.get("username") or (message.get("bot_profile") or {}).get("name")
        author = str(name or await workspace.display_name(str(message.get("user", ""))))
    return f"{author}: {text}" if text else ""
