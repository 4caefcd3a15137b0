"""What reaches us from Slack, and what each of it sets going: one set for both transports."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

from slack_bolt.async_app import AsyncApp

from bot.chat import Chat, Said
from bot.commands.asking import Choice, opened, taken_up
from bot.commands.commands import ASK, COMMANDS
from bot.commands.desk import Desk
from bot.commands.hearing import hear, kindly
from bot.slack import asking, presses, threads
from bot.slack.chat import SlackChat
from bot.slack.doing import Doing
from bot.slack.hearing import (
    Body,
    Heard,
    check_welcome,
    known,
    of_click,
    of_command,
    of_message,
)
from bot.slack.modals import open_view
from bot.slack.reading import without_mention
from bot.slack.whispers import Ack, Whispers
from bot.slack.workspace import Workspace
from council.errors import CouncilError

ABOUT_MESSAGE, ANYWHERE = "ask_about_message", "ask_the_council"  # shortcuts of the manifest
_OWN = {"bot_message", "message_changed", "message_deleted", "channel_join", "channel_leave"}

Act = Callable[[Chat, Said], Awaitable[None]]
Gone = Callable[[], Awaitable[None]]


class Ears:
    """Hears one workspace; what takes longer than an acknowledgement goes on in `doing`."""

    def __init__(self, desk: Desk, workspace: Workspace, doing: Doing, gone: Gone) -> None:
        self._desk = desk
        self._workspace = workspace
        self._doing = doing
        self._gone = gone

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

    async def command(self, ack: Ack, body: Body) -> None:
        """Hear `/council …`."""
        heard = of_command(body)
        whispers = Whispers(self._workspace, str(body.get("response_url") or ""), ack)
        if heard.text.strip().lower() == ASK.name:
            await whispers.end()
            self._begin(heard, whispers, self._modal(str(body["trigger_id"])))
            return
        self._begin(heard, whispers, self._hear)
        await whispers.in_time()

    async def mention(self, event: Body) -> None:
        """Hear `@Council …`; in a thread, with the thread, once the asker has seen it."""
        heard = of_message(event)
        heard = replace(heard, text=without_mention(heard.text, self._workspace.bot))
        whispers = Whispers(self._workspace)
        if heard.thread:
            self._begin(heard, whispers, self._hear_in_thread(str(event["ts"])))
        else:
            self._begin(replace(heard, thread=str(event["ts"])), whispers, self._hear)
        await whispers.in_time()

    async def message(self, event: Body) -> None:
        """Hear a direct message; other messages are not for us."""
        said_by_us = event.get("bot_id") or event.get("user") == self._workspace.bot
        own = event.get("subtype") in _OWN or "user" not in event
        if event.get("channel_type") != "im" or said_by_us or own:
            return
        heard = of_message(event)
        act = self._hear_in_thread(str(event["ts"])) if heard.thread else self._hear
        whispers = Whispers(self._workspace)
        self._begin(heard, whispers, act)
        await whispers.in_time()

    async def uninstalled(self) -> None:
        """Hear that nobody wants us any more."""
        self._doing.begin(self._gone())

    async def channel_changed(self, event: Body) -> None:
        """Hear that what we know of a channel is old."""
        self._workspace.people.forget(str(event.get("channel", "")))

    async def shortcut(self, ack: Ack, body: Body) -> None:
        """Open the modal to ask in, about a message or about anything."""
        await ack()
        heard, message = of_click(body), body.get("message") or {}
        if message:
            thread = str(message.get("thread_ts") or message["ts"])
            heard = replace(heard, thread=thread)
        about = str(message.get("text") or "")
        whispers = Whispers(self._workspace, str(body.get("response_url") or ""))
        self._begin(heard, whispers, self._modal(str(body["trigger_id"]), about))

    async def pressed(self, ack: Ack, body: Body) -> None:
        """Hear a button."""
        await ack()
        press = presses.Press.of(body)
        whispers = Whispers(self._workspace, str(body.get("response_url") or ""))

        async def act(chat: Chat, said: Said) -> None:
            await presses.press(self._desk, self._workspace, chat, said, press)

        self._begin(press.heard, whispers, act)

    async def told_why(self, ack: Ack, body: Body) -> None:
        """Hear why a round was of no help."""
        await ack()
        heard, reason = presses.reason_of(body)

        async def act(chat: Chat, said: Said) -> None:
            await presses.keep_reason(self._desk, chat, said, reason)

        self._begin(heard, Whispers(self._workspace), act)

    async def asked_in_modal(self, ack: Ack, body: Body) -> None:
        """Hear the modal; what is wrong with it is said in it, so that nothing typed is lost."""
        whispers = Whispers(self._workspace)
        try:
            said, choice = await self._form(body)
            round_ = await opened(self._desk, said, said.text, choice)
        except CouncilError as error:
            await ack(response_action="errors", errors={asking.QUESTION: str(error)})
            return
        await ack()
        if round_:
            chat = SlackChat(self._workspace, whispers)
            self._doing.begin(kindly(chat, said, taken_up(self._desk, chat, said, round_)))

    async def _form(self, body: Body) -> tuple[Said, Choice]:
        view, user = body["view"], str(body["user"]["id"])
        alone = asking.wants_own_channel(view)
        own = await self._workspace.own_channel(user) if alone else ""
        form = asking.read_form(view, self._workspace.team, own)
        await check_welcome(self._workspace, form.place.channel)
        event = f"view {view['id']}"
        heard = Heard(form.question, user, form.place.channel, event, form.place.thread)
        return replace(await known(self._workspace, heard), context=form.context), form.choice

    def _begin(self, heard: Heard, whispers: Whispers, act: Act) -> None:
        self._doing.begin(self._done(heard, whispers, act))

    async def _done(self, heard: Heard, whispers: Whispers, act: Act) -> None:
        """Do something for the one who was heard; whatever goes wrong is told to them."""
        chat, said = SlackChat(self._workspace, whispers), heard.said(self._workspace.team)

        async def known_first() -> None:
            await act(chat, await known(self._workspace, heard))

        await kindly(chat, said, known_first())
        await whispers.end()

    async def _hear(self, chat: Chat, said: Said) -> None:
        if COMMANDS.read(said.text).command is ASK:
            await check_welcome(self._workspace, said.place.channel)
        await hear(self._desk, chat, said)

    def _hear_in_thread(self, moment: str) -> Act:
        """Hear a message in a thread: after a round, about that round; else, about the thread."""

        async def act(chat: Chat, said: Said) -> None:
            before = await threads.round_at(self._desk, said.place, said.place.thread or "")
            if before:
                await hear(self._desk, chat, replace(said, context=threads.context_of(before)))
            elif COMMANDS.read(said.text).command is not ASK:
                await hear(self._desk, chat, said)
            else:
                await check_welcome(self._workspace, said.place.channel)
                await presses.offer_thread(self._desk, self._workspace, chat, said, moment)

        return act

    def _modal(self, trigger: str, about: str = "") -> Act:
        async def act(_: Chat, said: Said) -> None:
            view = asking.ask_view(self._desk, self._workspace, replace(said, context=about))
            await open_view(self._workspace.client, trigger, view)

        return act
