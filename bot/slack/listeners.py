"""Bolt listeners: commands, mentions, messages, shortcuts, block actions and view submissions."""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.chat import IncomingMessage, SendEphemeral
from bot.commands import buttons
from bot.commands.ask import accept_and_deliver
from bot.commands.button_registry import buttons_of, submit_form, why_unknown
from bot.commands.conversations import continue_conversation
from bot.commands.dispatch import hold_short, report_errors, run_command
from bot.commands.forms import FieldError
from bot.commands.registry import ASK, Typo, commands_of, is_question
from bot.commands.rounds import context_of, load_thread_rounds, quoted_ids
from bot.commands.settings import FORMS as SETTINGS_FORMS
from bot.context import AppContext
from bot.observability import logs
from bot.slack import actions, events, modals
from bot.slack.ephemeral import Ack, EphemeralReplies, outside_thread
from bot.slack.events import CHANNEL_CHANGED, Body, check_can_answer
from bot.slack.home import HOME_HANDLERS, log_errors, on_home_opened, publish_home
from bot.slack.messages import SlackChat
from bot.slack.threads import ask_in_own_thread, ask_in_thread, message_key, without_names
from bot.slack.welcome import on_invited
from bot.slack.workspace import Workspace
from council.errors import CouncilError

# Callback ids of the shortcuts in the manifest.
ASK_ABOUT_MESSAGE, ASK_ANYWHERE = "ask_about_message", "ask_the_council"
SUBMIT_SECONDS = 2.0  # how long a modal waits for an error, of the three that Slack allows
_MAX_SEEN_EVENTS = 10_000  # Slack stops redelivering after minutes
# The subtypes of messages that people write; all others report a change.
_USER_SUBTYPES = {None, "file_share", "me_message", "thread_broadcast"}

SlackHandler = Callable[[SlackChat, IncomingMessage], Awaitable[None]]
ActionListener = Callable[[Ack, Body, Workspace], Awaitable[None]]


class SlackListeners:
    """Bolt listeners; they acknowledge, and leave the work to the tasks of the workspace.

    Their argument `workspace` is the entry of Bolt's context that a middleware has put there.
    """

    def __init__(self, app: AppContext) -> None:
        self._app = app
        # The replies to the newest events: Slack redelivers those it has no acknowledgement of.
        # The key of a round protects against duplicates in other processes.
        self._seen: OrderedDict[str, EphemeralReplies] = OrderedDict()
        self._deduplicator = buttons.ActionDeduplicator(app)

    def register(self, app: AsyncApp) -> None:
        """Register a listener for everything that the manifest subscribes to."""
        app.command(re.compile(r"/.+"))(self.on_command)
        app.event("app_mention")(self.on_mention)
        app.event("message")(self.on_message)
        for name in ("channel_archive", "channel_unarchive", "member_joined_channel"):
            app.event(name)(self.on_channel_changed)
        app.event("app_home_opened")(self.on_home_opened)
        app.shortcut(re.compile(f"{ASK_ABOUT_MESSAGE}|{ASK_ANYWHERE}"))(self.on_shortcut)
        handlers = {**actions.action_handlers(buttons_of(self._app)), **HOME_HANDLERS}
        for name, handler in handlers.items():
            app.action(actions.action_pattern(name))(self._action_listener(handler))
        # Must be the last action listener: buttons of other versions.
        app.action(re.compile("council:.+"))(self._action_listener(actions.refuse_action))
        app.view(modals.ASK_CALLBACK)(self.on_ask_submitted)
        app.view(modals.WHY_CALLBACK)(self.on_reason_submitted)
        app.view(re.compile("council:.+"))(self.on_form_submitted)  # must be the last

    async def on_command(self, ack: Ack, body: Body, workspace: Workspace) -> None:
        """Handle `/council …`: acknowledge in time, and run the command in the background."""
        message = events.parse_command(workspace, body)
        replies = EphemeralReplies(workspace, str(body.get("response_url") or ""), ack)
        if message.text.strip().lower() == ASK:
            message = replace(message, text="")
            await replies.acknowledge()
            open_modal = partial(modals.open_ask_modal, self._app, body)
            self._start(workspace, message, replies, open_modal)
            return
        if button := commands_of(self._app).form_of(message.text):
            await replies.acknowledge()
            open_form = partial(actions.open_command_form, self._app, body, button)
            self._start(workspace, message, replies, open_form)
            return
        self._start(workspace, message, replies, partial(self._handle, message.text))
        await replies.acknowledge_in_time()

    async def on_mention(self, event: Body, workspace: Workspace) -> None:
        """Handle `@Council …`; the answer is posted in a thread."""
        await self._on_text(workspace, event, thread=str(event.get("thread_ts") or event["ts"]))

    async def on_message(self, event: Body, workspace: Workspace) -> None:
        """Handle a direct message; ignore messages in channels."""
        if event.get("channel_type") == "im":
            await self._on_text(workspace, event, thread=event.get("thread_ts"))

    async def _on_text(self, workspace: Workspace, event: Body, thread: str | None) -> None:
        is_from_bot = event.get("bot_id") or event.get("user") in {None, workspace.bot_user}
        if is_from_bot or event.get("subtype") not in _USER_SUBTYPES:
            return
        message, ts = events.parse_message(workspace, event, thread), str(event["ts"])
        if replies := self._seen.get(message.key):
            await replies.wait_until_acknowledged()
            return
        handler: SlackHandler = partial(self._handle, message.text)
        if thread not in {None, ts}:
            handler = partial(self._handle_in_thread, event)
        replies = EphemeralReplies(workspace)
        self._seen[message.key] = replies
        if len(self._seen) > _MAX_SEEN_EVENTS:
            self._seen.popitem(last=False)
        self._start(
            workspace, message, replies, handler, outside_thread(replies) if thread == ts else None
        )
        # If this process dies before, Slack has no acknowledgement and delivers the event again.
        await replies.wait_until_acknowledged()

    async def on_channel_changed(self, event: Body, workspace: Workspace) -> None:
        """Remove the channel from the cache of every process."""
        channel = str(event.get("channel", ""))
        workspace.forget_channel(channel)
        await self._app.pubsub.publish(CHANNEL_CHANGED, channel)
        if event["type"] == "member_joined_channel" and event["user"] == workspace.bot_user:
            workspace.tasks.start(log_errors(on_invited(self._app, workspace, event)))

    async def on_home_opened(self, event: Body, workspace: Workspace) -> None:
        """Show the home, or a welcome; the person waits for no reply."""
        workspace.tasks.start(log_errors(on_home_opened(self._app, workspace, event)))

    async def on_shortcut(self, ack: Ack, body: Body, workspace: Workspace) -> None:
        """Open the modal to ask in, about a message or about anything."""
        await ack()
        message = events.parse_interaction(workspace, body)
        if about := body.get("message"):
            thread = str(about.get("thread_ts") or about["ts"])
            message = replace(message, place=replace(message.place, thread=thread))
        replies = EphemeralReplies(workspace, str(body.get("response_url") or ""))
        open_modal = partial(modals.open_ask_modal, self._app, body)
        self._start(workspace, message, replies, open_modal)

    def _action_listener(self, handler: actions.ActionHandler) -> ActionListener:
        """Return a listener; a second press is ignored while the first is being handled."""

        async def on_action(ack: Ack, body: Body, workspace: Workspace) -> None:
            await ack()
            action = actions.BlockAction.parse(workspace, body)
            replies = EphemeralReplies(workspace, str(body.get("response_url") or ""))

            async def handle(chat: SlackChat, message: IncomingMessage) -> None:
                run = partial(handler, self._app, chat, replace(action, message=message))
                # Opening a modal twice is harmless and visible, so it needs no check or notice.
                everywhere = buttons_of(self._app).handler(action.name) is not None
                is_run = await self._deduplicator.do(action.identity, run, everywhere=everywhere)
                if not is_run and everywhere:
                    await buttons.send_busy_note(chat, message)

            self._start(workspace, action.message, replies, handle)

        return on_action

    async def on_reason_submitted(self, ack: Ack, body: Body, workspace: Workspace) -> None:
        """Store why a round was not helpful."""
        await ack()
        message, submitted = modals.parse_reason(workspace, body)
        handler = partial(modals.store_reason, self._app, submitted=submitted)
        self._start(workspace, message, EphemeralReplies(workspace), handler)

    async def on_form_submitted(self, ack: Ack, body: Body, workspace: Workspace) -> None:
        """Run a plug-in's form; show what is wrong in the modal, which keeps what was typed.

        So does the modal of another version, or of a plug-in that is away.
        """
        action = str(body["view"]["callback_id"]).removeprefix("council:")
        if action not in buttons_of(self._app).forms:
            await ack(**_errors(modals.first_field(body["view"]), why_unknown(action)))
            return
        message, value, values = modals.parse_form(workspace, body)
        chat = SlackChat(workspace, EphemeralReplies(workspace))

        async def submit() -> None:
            workspace.forget_asker(message.asker.id)
            resolved = await events.resolve_message(self._app, workspace, message)
            await submit_form(self._app, chat, resolved, action, value, values)
            if action in SETTINGS_FORMS and resolved.is_direct:  # they may have come from the home
                await log_errors(publish_home(self._app, workspace, message, None))

        submission = asyncio.ensure_future(submit())
        if await _acknowledge_view(ack, submission, partial(_field_of, view=body["view"])):
            workspace.tasks.start(report_errors(chat, message, submission))

    async def on_ask_submitted(self, ack: Ack, body: Body, workspace: Workspace) -> None:
        """Ask the question of the modal; show errors in the modal, which keeps what was typed."""
        opening = asyncio.ensure_future(modals.submit_ask_form(self._app, workspace, body))
        if not await _acknowledge_view(ack, opening, partial(modals.field_for, view=body["view"])):
            return
        chat = SlackChat(workspace, outside_thread(EphemeralReplies(workspace)))

        async def deliver() -> None:
            message, round_ = await opening
            if round_:
                delivery = accept_and_deliver(self._app, chat, message, round_)
                await report_errors(chat, message, delivery)

        message = modals.parse_asker(workspace, body)
        workspace.tasks.start(report_errors(chat, message, deliver()))

    def _start(
        self,
        workspace: Workspace,
        message: IncomingMessage,
        replies: EphemeralReplies,
        handler: SlackHandler,
        send_ephemeral: SendEphemeral | None = None,
    ) -> None:
        """Run a handler in the background, and acknowledge the event at its end at the latest."""
        chat = SlackChat(workspace, send_ephemeral or replies)

        async def resolve_and_handle() -> None:
            await handler(chat, await events.resolve_message(self._app, workspace, message))

        async def run() -> None:
            await report_errors(chat, message, resolve_and_handle())
            await replies.acknowledge()

        workspace.tasks.start(run())

    async def _handle(self, text: str, chat: SlackChat, message: IncomingMessage) -> None:
        """Run a command or ask a question; `text` is its text as Slack has it."""
        parsed = commands_of(self._app).parse(message.text)
        if isinstance(parsed, Typo) or is_question(parsed):
            message = await without_names(self._app, chat.workspace, message, text)
        parsed = hold_short(self._app, chat, message, commands_of(self._app).parse(message.text))
        if is_question(parsed):
            await check_can_answer(chat.workspace, message.asker.id, message.place.channel)
        message = await continue_conversation(self._app, message)
        await run_command(self._app, chat, message, parsed)

    async def _handle_in_thread(
        self, event: Body, chat: SlackChat, message: IncomingMessage
    ) -> None:
        """Ask about the rounds and replies of a thread of ours; in any other, with a consent."""
        place, workspace = message.place, chat.workspace
        rounds = await load_thread_rounds(
            self._app, place, message_key(workspace, place, place.thread or "")
        )
        invocation = commands_of(self._app).parse(message.text)
        if isinstance(invocation, Typo):
            text = events.strip_mention(str(event.get("text") or ""), workspace.bot_user)
            message = await without_names(self._app, workspace, message, text, before=rounds)
            invocation = commands_of(self._app).parse(message.text)
        if not is_question(invocation) or not invocation.arguments:
            followup = replace(message, context=context_of(rounds), quotes=quoted_ids(rounds))
            await run_command(self._app, chat, followup, invocation)
            return
        if rounds:
            await ask_in_own_thread(self._app, chat, message, event, rounds)
            return
        await check_can_answer(workspace, message.asker.id, place.channel)
        await ask_in_thread(self._app, chat, message, event)


async def _acknowledge_view(
    ack: Ack, submission: asyncio.Future[Any], field_of: Callable[[CouncilError], str]
) -> bool:
    """Acknowledge a modal, with the error of its submission at a field if it fails in time.

    Return whether the modal closes; a later error of the submission is its caller's.
    """
    await asyncio.wait({submission}, timeout=SUBMIT_SECONDS)
    try:
        if submission.done():
            submission.result()
    except CouncilError as error:
        await ack(**_errors(field_of(error), str(error)))
        return False
    # Without an acknowledgement Slack would show no reason and no advice.
    except Exception as error:  # noqa: BLE001
        sentence = logs.log_unexpected_error("modal_failed", error)
        await ack(**_errors(field_of(CouncilError(sentence)), sentence))
        return False
    await ack()
    return True


def _field_of(error: CouncilError, view: Body) -> str:
    first = modals.first_field(view)
    if not isinstance(error, FieldError):
        return first
    shown = {block["block_id"] for block in view["blocks"] if block["type"] == "input"}
    return error.field if error.field in shown else first


def _errors(field: str, why: str) -> dict[str, Any]:
    """Return the reply that shows an error in a modal, so that nothing that was typed is lost."""
    return {"response_action": "errors", "errors": {field: why}} if field else {}
