"""Bolt listeners: commands, mentions, messages, shortcuts, block actions and view submissions."""

import asyncio
import re
from collections import OrderedDict
from dataclasses import replace
from functools import partial

from slack_bolt.async_app import AsyncApp

from bot.chat import Chat, IncomingMessage, SendEphemeral, event_key
from bot.commands.ask import accept_and_deliver
from bot.commands.buttons import (
    BUTTON_HANDLERS,
    OTHER_VERSION,
    ActionDeduplicator,
    add_to_suite,
    send_busy_note,
)
from bot.commands.dispatch import ASK, COMMANDS, Handler, report_errors, run_command
from bot.commands.rounds import context_of, load_thread_rounds
from bot.context import AppContext
from bot.coordination.tasks import BackgroundTasks
from bot.observability import logs
from bot.slack import modals
from bot.slack.actions import BlockAction, handle_action
from bot.slack.ephemeral import Ack, EphemeralReplies, outside_thread
from bot.slack.events import (
    CHANNEL_CHANGED,
    UNINSTALLED,
    Body,
    SlackEvent,
    check_can_answer,
    parse_command,
    parse_interaction,
    parse_message,
    resolve_event,
    strip_mention,
)
from bot.slack.messages import SlackChat
from bot.slack.threads import offer_thread
from bot.slack.workspace import CHAT, Workspace
from council.errors import CouncilError

# Callback ids of the shortcuts in the manifest.
ASK_ABOUT_MESSAGE, ASK_ANYWHERE = "ask_about_message", "ask_the_council"
_MAX_SEEN_EVENTS = 10_000  # Slack stops redelivering after minutes
# The subtypes of messages that people write; all others report a change.
_USER_SUBTYPES = {None, "file_share", "me_message", "thread_broadcast"}


class SlackListeners:
    """Bolt listeners of one workspace, for both transports.

    A listener acknowledges and leaves the work to `tasks`. `uninstalled` is set once the app is
    uninstalled.
    """

    def __init__(
        self,
        app_context: AppContext,
        workspace: Workspace,
        tasks: BackgroundTasks,
        uninstalled: asyncio.Event,
    ) -> None:
        self._app_context = app_context
        self._workspace = workspace
        self._tasks = tasks
        self._uninstalled = uninstalled
        # The replies to the newest events: Slack redelivers those it has no acknowledgement of.
        # The key of a round protects against duplicates in other processes.
        self._seen: OrderedDict[str, EphemeralReplies] = OrderedDict()
        self._deduplicator = ActionDeduplicator(app_context)

    def register(self, app: AsyncApp) -> None:
        """Register a listener for everything that the manifest subscribes to."""
        app.command(re.compile(r"/.+"))(self.on_command)
        app.event("app_mention")(self.on_mention)
        app.event("message")(self.on_message)
        app.event("app_uninstalled")(self.on_uninstalled)
        for event in ("channel_archive", "channel_unarchive", "member_joined_channel"):
            app.event(event)(self.on_channel_changed)
        app.shortcut(re.compile(f"{ASK_ABOUT_MESSAGE}|{ASK_ANYWHERE}"))(self.on_shortcut)
        app.action(re.compile("council:.+"))(self.on_action)
        app.view(modals.ASK_CALLBACK)(self.on_ask_submitted)
        app.view(modals.WHY_CALLBACK)(self.on_reason_submitted)
        app.view(modals.SUITE_CALLBACK)(self.on_suite_submitted)
        app.view(re.compile("council:.+"))(on_unknown_view)  # must be the last view listener

    async def on_command(self, ack: Ack, body: Body) -> None:
        """Handle `/council …`: acknowledge in time, and run the command in the background."""
        event = parse_command(body)
        replies = EphemeralReplies(self._workspace, str(body.get("response_url") or ""), ack)
        if event.text.strip().lower() == ASK.name:
            await replies.acknowledge()
            self._start(event, replies, self._open_ask_modal(str(body["trigger_id"]), {}))
            return
        self._start(event, replies, self._handle)
        await replies.acknowledge_in_time()

    async def on_mention(self, event: Body) -> None:
        """Handle `@Council …`; the answer is posted in a thread."""
        await self._on_text(event, thread=str(event.get("thread_ts") or event["ts"]))

    async def on_message(self, event: Body) -> None:
        """Handle a direct message; ignore messages in channels."""
        if event.get("channel_type") == "im":
            await self._on_text(event, thread=event.get("thread_ts"))

    async def _on_text(self, event: Body, thread: str | None) -> None:
        """Handle what a person wrote, once however often Slack delivers it."""
        is_from_bot = event.get("bot_id") or event.get("user") in {None, self._workspace.bot_user}
        if is_from_bot or event.get("subtype") not in _USER_SUBTYPES:
            return
        parsed, ts = parse_message(event), str(event["ts"])
        if replies := self._seen.get(parsed.event_id):
            await replies.wait_until_acknowledged()
            return
        text = strip_mention(parsed.text, self._workspace.bot_user)
        parsed = replace(parsed, text=text, thread=thread)
        handler = self._handle if thread in {None, ts} else self._handle_in_thread(ts)
        replies = EphemeralReplies(self._workspace)
        self._seen[parsed.event_id] = replies
        if len(self._seen) > _MAX_SEEN_EVENTS:
            self._seen.popitem(last=False)
        self._start(parsed, replies, handler, outside_thread(replies) if thread == ts else None)
        # If this process dies before, Slack has no acknowledgement and delivers the event again.
        await replies.wait_until_acknowledged()

    async def on_uninstalled(self) -> None:
        """Handle the removal of the app, and notify the other processes."""
        self._uninstalled.set()
        await self._app_context.pubsub.publish(UNINSTALLED, UNINSTALLED)

    async def on_channel_changed(self, event: Body) -> None:
        """Remove the channel from the cache of every process."""
        channel = str(event.get("channel", ""))
        self._workspace.forget_channel(channel)
        await self._app_context.pubsub.publish(CHANNEL_CHANGED, channel)

    async def on_shortcut(self, ack: Ack, body: Body) -> None:
        """Open the modal to ask in, about a message or about anything."""
        await ack()
        event, message = parse_interaction(body), body.get("message") or {}
        if message:
            event = replace(event, thread=str(message.get("thread_ts") or message["ts"]))
        replies = EphemeralReplies(self._workspace, str(body.get("response_url") or ""))
        self._start(event, replies, self._open_ask_modal(str(body["trigger_id"]), message))

    async def on_action(self, ack: Ack, body: Body) -> None:
        """Handle a button; a second press is ignored while the first is being handled."""
        await ack()
        action = BlockAction.parse(body)
        replies = EphemeralReplies(self._workspace, str(body.get("response_url") or ""))

        async def handle(chat: Chat, message: IncomingMessage) -> None:
            run = partial(handle_action, self._app_context, self._workspace, chat, message, action)
            # Opening a modal twice is harmless and visible, so it needs no check or notice.
            everywhere = action.name in BUTTON_HANDLERS
            is_run = await self._deduplicator.do(action.identity, run, everywhere=everywhere)
            if not is_run and everywhere:
                await send_busy_note(chat, message)

        self._start(action.event, replies, handle)

    async def on_reason_submitted(self, ack: Ack, body: Body) -> None:
        """Store why a round was not helpful."""
        await ack()
        event, reason = modals.parse_reason(body)

        async def handle(chat: Chat, message: IncomingMessage) -> None:
            await modals.store_reason(self._app_context, chat, message, reason)

        self._start(event, EphemeralReplies(self._workspace), handle)

    async def on_suite_submitted(self, ack: Ack, body: Body) -> None:
        """Add a question to the chosen suite; show an error in the modal if none is named."""
        try:
            event, (round_id, addition) = modals.read_suite_form(body)
        except CouncilError as error:
            await ack(response_action="errors", errors={modals.NAME: str(error)})
            return
        await ack()

        async def handle(chat: Chat, message: IncomingMessage) -> None:
            await add_to_suite(self._app_context, chat, message, round_id, addition)

        self._start(event, EphemeralReplies(self._workspace), handle)

    async def on_ask_submitted(self, ack: Ack, body: Body) -> None:
        """Ask the question of the modal; show errors in the modal, which keeps what was typed."""
        try:
            message, round_ = await modals.submit_ask_form(self._app_context, self._workspace, body)
        except CouncilError as error:
            field = modals.field_for(error, body["view"])
            await ack(response_action="errors", errors={field: str(error)})
            return
        # Without an acknowledgement Slack would show no reason and no advice.
        except Exception as error:  # noqa: BLE001
            sentence = logs.log_unexpected_error("modal_failed", error)
            await ack(response_action="errors", errors={modals.QUESTION: sentence})
            return
        await ack()
        if round_:
            chat = SlackChat(self._workspace, outside_thread(EphemeralReplies(self._workspace)))
            delivery = accept_and_deliver(self._app_context, chat, message, round_)
            self._tasks.start(report_errors(chat, message, delivery))

    def _start(
        self,
        event: SlackEvent,
        replies: EphemeralReplies,
        handler: Handler,
        send_ephemeral: SendEphemeral | None = None,
    ) -> None:
        """Run a handler in the background, and acknowledge the event at its end at the latest."""
        chat = SlackChat(self._workspace, send_ephemeral or replies)

        async def resolve_and_handle() -> None:
            await handler(chat, await resolve_event(self._workspace, event))

        async def run() -> None:
            message = event.to_message(self._workspace.team)
            await report_errors(chat, message, resolve_and_handle())
            await replies.acknowledge()

        self._tasks.start(run())

    async def _handle(self, chat: Chat, message: IncomingMessage) -> None:
        invocation = COMMANDS.read(message.text)
        if invocation.command is ASK:
            await check_can_answer(self._workspace, message.asker.id, message.place.channel)
        await run_command(self._app_context, chat, message, invocation)

    def _handle_in_thread(self, ts: str) -> Handler:
        """Return the handler of a message in a thread.

        In a thread with rounds it asks about these; in any other it offers the thread as context.
        """

        async def handle(chat: Chat, message: IncomingMessage) -> None:
            place = message.place
            key = event_key(CHAT, self._workspace.team, f"{place.channel} {place.thread}")
            rounds = await load_thread_rounds(self._app_context, place, key)
            invocation = COMMANDS.read(message.text)
            if rounds or invocation.command is not ASK:
                followup = replace(message, context=context_of(rounds))
                await run_command(self._app_context, chat, followup, invocation)
            else:
                await check_can_answer(self._workspace, message.asker.id, place.channel)
                await offer_thread(self._app_context, self._workspace, chat, message, ts)

        return handle

    def _open_ask_modal(self, trigger_id: str, about: Body) -> Handler:
        async def handle(_: Chat, message: IncomingMessage) -> None:
            await modals.open_ask_modal(
                self._app_context, self._workspace, message, trigger_id, about
            )

        return handle


async def on_unknown_view(ack: Ack, body: Body) -> None:
    """Show an error in a modal of another version, so that nothing that was typed is lost."""
    fields = [block["block_id"] for block in body["view"]["blocks"] if block["type"] == "input"]
    if fields:
        await ack(response_action="errors", errors={fields[0]: OTHER_VERSION})
    else:
        await ack()
