"""What reaches us from Slack, and what each of it sets going: one set for both transports."""

import asyncio
import re
from dataclasses import replace
from functools import partial

from slack_bolt.async_app import AsyncApp

from bot.chat import Chat, IncomingMessage, SendEphemeral, key_of
from bot.commands import rounds as following
from bot.commands.ask import taken_up
from bot.commands.buttons import OTHER_VERSION, PRESSES, ActionDeduplicator, tell_busy
from bot.commands.context import AppContext
from bot.commands.dispatch import ASK, COMMANDS, Act, handle_message, reporting_errors
from bot.coordination.tasks import BackgroundTasks
from bot.observability import logs
from bot.slack import actions as presses
from bot.slack import modals as asking
from bot.slack import modals as forms
from bot.slack import modals as suite_form
from bot.slack.events import (
    CHANGED,
    GONE,
    Body,
    SeenEvents,
    SlackEvent,
    check_welcome,
    known,
    of_click,
    of_command,
    of_message,
    without_mention,
)
from bot.slack.messages import Ack, EphemeralReplies, SlackChat, beside
from bot.slack.threads import offer_thread
from bot.slack.workspace import CHAT, Workspace
from council.errors import CouncilError

ABOUT_MESSAGE, ANYWHERE = "ask_about_message", "ask_the_council"  # shortcuts of the manifest
# What people say themselves; any other subtype is a change, or tells of one.
_SAID = {None, "file_share", "me_message", "thread_broadcast"}


class SlackListeners:
    """Hears one workspace; what takes longer than an acknowledgement goes on in `doing`."""

    def __init__(
        self,
        app_context: AppContext,
        workspace: Workspace,
        doing: BackgroundTasks,
        gone: asyncio.Event,
    ) -> None:
        self._app_context = app_context
        self._workspace = workspace
        self._doing = doing
        self._gone = gone
        self._heard = SeenEvents()
        self._once = ActionDeduplicator(app_context)

    def listen_to(self, app: AsyncApp) -> None:
        """Have everything heard that the manifest subscribes to."""
        app.command(re.compile(r"/.+"))(self.command)
        app.event("app_mention")(self.mention)
        app.event("message")(self.message)
        app.event("app_uninstalled")(self.uninstalled)
        for event in ("channel_archive", "channel_unarchive", "member_joined_channel"):
            app.event(event)(self.channel_changed)
        app.shortcut(re.compile(f"{ABOUT_MESSAGE}|{ANYWHERE}"))(self.shortcut)
        app.action(re.compile("council:.+"))(self.pressed)
        app.view(asking.CALLBACK)(self.asked_in_modal)
        app.view(presses.WHY_CALLBACK)(self.told_why)
        app.view(suite_form.SUITE_CALLBACK)(self.joined_suite)
        app.view(re.compile("council:.+"))(filled_otherwise)  # the last: any other

    async def command(self, ack: Ack, body: Body) -> None:
        """Hear `/council …`."""
        heard = of_command(body)
        whispers = EphemeralReplies(self._workspace, str(body.get("response_url") or ""), ack)
        if heard.text.strip().lower() == ASK.name:
            await whispers.end()
            self._begin(heard, whispers, self._form(str(body["trigger_id"]), {}))
            return
        self._begin(heard, whispers, self._hear)
        await whispers.in_time()

    async def mention(self, event: Body) -> None:
        """Hear `@Council …`; the answer goes into a thread."""
        await self._begin_said(event, thread=str(event.get("thread_ts") or event["ts"]))

    async def message(self, event: Body) -> None:
        """Hear a direct message; other messages are not for us."""
        if event.get("channel_type") == "im":
            await self._begin_said(event, thread=event.get("thread_ts"))

    async def _begin_said(self, event: Body, thread: str | None) -> None:
        """Hear what a person says, once; in somebody's thread, with it, when they have seen it."""
        by_bot = event.get("bot_id") or event.get("user") in {None, self._workspace.bot}
        if by_bot or event.get("subtype") not in _SAID:
            return
        heard, moment = of_message(event), str(event["ts"])
        if before := self._heard.before(heard.event):
            await before.taken_in()
            return
        text = without_mention(heard.text, self._workspace.bot)
        heard = replace(heard, text=text, thread=thread)
        act = self._hear if thread in {None, moment} else self._hear_in_thread(moment)
        whispers = EphemeralReplies(self._workspace)
        self._heard.remember(heard.event, whispers)
        self._begin(heard, whispers, act, beside(whispers) if thread == moment else None)
        # Acknowledged sooner, it would be lost if we died now; so Slack delivers it again.
        await whispers.taken_in()

    async def uninstalled(self) -> None:
        """Hear that nobody wants us any more, and have every process hear it."""
        self._gone.set()
        await self._app_context.pubsub.publish(GONE, GONE)

    async def channel_changed(self, event: Body) -> None:
        """Hear that what every process knows of a channel is old."""
        channel = str(event.get("channel", ""))
        self._workspace.people.forget(channel)
        await self._app_context.pubsub.publish(CHANGED, channel)

    async def shortcut(self, ack: Ack, body: Body) -> None:
        """Open the modal to ask in, about a message or about anything."""
        await ack()
        heard, message = of_click(body), body.get("message") or {}
        if message:
            thread = str(message.get("thread_ts") or message["ts"])
            heard = replace(heard, thread=thread)
        whispers = EphemeralReplies(self._workspace, str(body.get("response_url") or ""))
        self._begin(heard, whispers, self._form(str(body["trigger_id"]), message))

    async def pressed(self, ack: Ack, body: Body) -> None:
        """Hear a button; what is being done already is not done twice."""
        await ack()
        press = presses.Press.of(body)
        whispers = EphemeralReplies(self._workspace, str(body.get("response_url") or ""))

        async def done(chat: Chat, said: IncomingMessage) -> None:
            act = partial(presses.press, self._app_context, self._workspace, chat, said, press)
            # A modal that opens says by itself that once was enough.
            costs = press.action in PRESSES
            if not await self._once.do(press.does, act, everywhere=costs) and costs:
                await tell_busy(chat, said)

        self._begin(press.subscription, whispers, done)

    async def told_why(self, ack: Ack, body: Body) -> None:
        """Hear why a round was of no help."""
        await ack()
        heard, reason = presses.reason_of(body)

        async def act(chat: Chat, said: IncomingMessage) -> None:
            await presses.keep_reason(self._app_context, chat, said, reason)

        self._begin(heard, EphemeralReplies(self._workspace), act)

    async def joined_suite(self, ack: Ack, body: Body) -> None:
        """Hear which suite a question joins; without a name it is said in the modal."""
        try:
            heard, filled = suite_form.read_filled(body)
        except CouncilError as error:
            await ack(response_action="errors", errors={suite_form.NAME: str(error)})
            return
        await ack()

        async def act(chat: Chat, said: IncomingMessage) -> None:
            await suite_form.join(self._app_context, chat, said, filled)

        self._begin(heard, EphemeralReplies(self._workspace), act)

    async def asked_in_modal(self, ack: Ack, body: Body) -> None:
        """Hear the modal; what is wrong with it is said in it, so that nothing typed is lost."""
        try:
            said, round_ = await forms.taken_in(self._app_context, self._workspace, body)
        except CouncilError as error:
            field = asking.field_of(error, body["view"])
            await ack(response_action="errors", errors={field: str(error)})
            return
        # Unacknowledged, the modal would say nothing of what is to be done.
        except Exception as error:  # noqa: BLE001
            wrong = logs.unforeseen("modal_failed", error)
            await ack(response_action="errors", errors={asking.QUESTION: wrong})
            return
        await ack()
        if round_:
            chat = SlackChat(self._workspace, beside(EphemeralReplies(self._workspace)))
            self._doing.begin(
                reporting_errors(chat, said, taken_up(self._app_context, chat, said, round_))
            )

    def _begin(
        self,
        heard: SlackEvent,
        whispers: EphemeralReplies,
        act: Act,
        whisper: SendEphemeral | None = None,
    ) -> None:
        chat = SlackChat(self._workspace, whisper or whispers)
        self._doing.begin(self._done(heard, chat, whispers, act))

    async def _done(
        self, heard: SlackEvent, chat: Chat, whispers: EphemeralReplies, act: Act
    ) -> None:
        """Do something for the one who was heard; whatever goes wrong is told to them."""
        said = heard.said(self._workspace.team)

        async def known_first() -> None:
            await act(chat, await known(self._workspace, heard))

        await reporting_errors(chat, said, known_first())
        await whispers.end()

    async def _hear(self, chat: Chat, said: IncomingMessage) -> None:
        if COMMANDS.read(said.text).command is ASK:
            await check_welcome(self._workspace, said.asker.id, said.place.channel)
        await handle_message(self._app_context, chat, said)

    def _hear_in_thread(self, moment: str) -> Act:
        """Hear a message in a thread: after a round, about that round; else, about the thread."""

        async def act(chat: Chat, said: IncomingMessage) -> None:
            asked = key_of(CHAT, self._workspace.team, f"{said.place.channel} {said.place.thread}")
            before = await following.rounds_of_thread(self._app_context, said.place, asked)
            if before or COMMANDS.read(said.text).command is not ASK:
                await handle_message(
                    self._app_context, chat, replace(said, context=following.context_of(before))
                )
            else:
                await check_welcome(self._workspace, said.asker.id, said.place.channel)
                await offer_thread(self._app_context, self._workspace, chat, said, moment)

        return act

    def _form(self, trigger: str, message: Body) -> Act:
        async def act(_: Chat, said: IncomingMessage) -> None:
            await forms.open_form(self._app_context, self._workspace, said, trigger, message)

        return act


async def filled_otherwise(ack: Ack, body: Body) -> None:
    """Hear a modal that this version does not know: said in it, so that nothing typed is lost."""
    fields = [block["block_id"] for block in body["view"]["blocks"] if block["type"] == "input"]
    if fields:
        await ack(response_action="errors", errors={fields[0]: OTHER_VERSION})
    else:
        await ack()
