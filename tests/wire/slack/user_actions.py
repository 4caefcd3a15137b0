"""Actions of users: commands, messages, clicks, submitted modals; and what the app replies."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.wire.slack import fields, payloads
from tests.wire.slack.calls import RefusalError
from tests.wire.slack.deliveries import Acknowledgement, Delivery, Transport
from tests.wire.slack.messages import check, new_message, put, thread_root
from tests.wire.slack.methods.files import sent
from tests.wire.slack.server import respond
from tests.wire.slack.state import SeenFault, State, View
from tests.wire.slack.workspace import Channel, Message

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class UserAction:
    """A command or an interaction as it was sent, and its acknowledgement."""

    sent: Payload
    acknowledgement: Acknowledgement
    message: Message | None = None  # what the acknowledgement itself said

    @property
    def payload(self) -> Payload | None:
        return self.acknowledgement.payload

    @property
    def accepted(self) -> bool:
        return self.acknowledgement.accepted


@dataclass(slots=True)
class Event:
    """An event and its deliveries; it has none if the app did not subscribe to it."""

    name: str
    payload: Payload = field(default_factory=dict)
    message: Message | None = None
    acknowledgements: list[Acknowledgement] = field(default_factory=list)

    @property
    def accepted(self) -> bool:
        return any(one.accepted for one in self.acknowledgements)


class UserActions:
    """What users do. The first argument is the user; an action impossible in Slack fails."""

    def __init__(self, state: State, transport: Transport) -> None:
        self.state = state
        self.transport = transport
        self.delivered: list[Delivery] = []  # everything brought to the app, in order
        state.echo = self._echo

    async def command(self, user: str, channel: str, name: str, text: str = "") -> UserAction:
        """Send a slash command from a channel that the user is in, never from a thread."""
        place = self._place(user, channel)
        sent = payloads.command(self.state, user, place, (name, text))
        answer = await self._bring(Delivery("slash_commands", sent))
        self._seen(user, answer)
        return UserAction(sent, answer, self._reply_to_command(user, place, answer))

    def says(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> Message:
        place = self._place(user, channel)
        message = new_message(self.state, place, user, {"text": text})
        return put(place, message, thread_root(place, thread_ts))

    async def mention(
        self, user: str, channel: str, text: str, thread_ts: str | None = None
    ) -> Event:
        """Post a message that mentions the bot."""
        assert f"<@{self.state.bot}>" in text, f"nobody is mentioned without <@{self.state.bot}>"
        message = self.says(user, channel, text, thread_ts)
        return await self._tell("app_mention", message)

    async def direct_message(
        self,
        user: str,
        text: str,
        thread_ts: str | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> Event:
        """Send a direct message to the bot, optionally with files by name."""
        place = self.state.workspace.im_with(user)
        message = self.says(user, place.id, text, thread_ts)
        if files:
            message.payload["files"] = [sent(self.state, user, *file) for file in files.items()]
        return await self._tell("message.im", message)

    async def opens_app(self, user: str, tab: Literal["home", "messages"] = "home") -> Event:
        """Open a tab of the app; Slack sends the home that was published last along."""
        inner: Payload = {
            "type": "app_home_opened",
            "user": user,
            "channel": self.state.workspace.im_with(user).id,
            "event_ts": f"{self.state.now():.6f}",
            "tab": tab,
        }
        if tab == "home" and user in self.state.homes:
            inner["view"] = self.state.homes[user].payload
        return await self._happens("app_home_opened", inner)

    async def invites_bot(self, user: str, channel: str) -> Event:
        """Invite the bot to a channel."""
        place = self._place(user, channel)
        place.members.add(self.state.bot)
        inner: Payload = {
            "type": "member_joined_channel",
            "user": self.state.bot,
            "channel": channel,
            "channel_type": "C" if place.kind == "public" else "G",
            "team": self.state.team,
            "inviter": user,
            "event_ts": f"{self.state.now():.6f}",
        }
        return await self._happens("member_joined_channel", inner)

    async def uninstalls(self) -> Event:
        """Uninstall the app: revoke its token, and send the event."""
        self.state.revoke("account_inactive")
        return await self._happens("app_uninstalled", {"type": "app_uninstalled"})

    async def revokes(self, *, bot: bool = True) -> Event:
        """Revoke the bot's token, or only a user's, and send the event."""
        if bot:
            self.state.revoke("token_revoked")
        tokens = {"bot": [self.state.bot]} if bot else {"oauth": ["U1"]}
        return await self._happens("tokens_revoked", {"type": "tokens_revoked", "tokens": tokens})

    async def deliver_again(self, event: Event, attempt: int = 1) -> Acknowledgement:
        """Deliver an event once more, with the same event_id, as a retry."""
        answer = await self._deliver(event, attempt, "http_timeout")
        event.acknowledgements.append(answer)
        return answer

    async def shortcut(
        self, user: str, callback_id: str, message: Message | None = None
    ) -> UserAction:
        sent = payloads.shortcut(self.state, user, callback_id, message)
        return await self._interact(user, sent)

    async def click(
        self, on: Message | View, action_id: str, user: str, value: str | None = None
    ) -> UserAction:
        """Click a button, or choose an option by its value ("positive" for feedback)."""
        blocks = on.blocks if isinstance(on, Message) else on.payload["blocks"]
        block_id, clicked = fields.element(blocks, action_id)
        action = fields.action(block_id, clicked, value, self.state.now())
        if isinstance(on, Message):
            assert on.ephemeral_to in {None, user}, f"{user} does not see it"
            sent = payloads.click_in_message(self.state, on, user, action)
        else:
            sent = payloads.click_in_view(self.state, on, action)
        return await self._interact(user, sent)

    async def forge(self, on: Message, user: str, action_id: str, value: str) -> UserAction:
        """Click a button that is not there, with any value, as a changed client could."""
        clicked = {"type": "button", "action_id": action_id, "value": value}
        forged = fields.action("forged", clicked, None, self.state.now())
        return await self._interact(user, payloads.click_in_message(self.state, on, user, forged))

    async def submit(self, view: View, values: Mapping[str, object], user: str) -> UserAction:
        """Submit a modal with values by block_id or action_id; files are contents by name."""
        assert view in self.state.modals.get(user, []), f"{user} has no such modal open"
        given = {name: self._uploaded(user, value) for name, value in values.items()}
        sent = payloads.submission(self.state, view, fields.form(view.payload, given))
        deed = await self._interact(user, sent)
        if deed.accepted:
            self._reply_to_submission(view, deed.payload or {})
        return deed

    def _uploaded(self, user: str, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return [sent(self.state, user, *file) for file in value.items()]

    def closes(self, view: View) -> None:
        self.state.modals[view.user].remove(view)

    def _reply_to_command(
        self, user: str, channel: Channel, answer: Acknowledgement
    ) -> Message | None:
        """Post the reply to a command, to this user only or in the channel."""
        if not answer.accepted or not answer.payload:
            return None
        try:
            check(self.state, answer.payload)
        except RefusalError as refusal:
            detail = f"{refusal.code} {refusal.more.get('errors', '')}"
            self.state.faults.append(SeenFault(user, "invalid_command_response", detail))
            return None
        return respond(self.state, user, channel.id, answer.payload)

    def _reply_to_submission(self, view: View, answer: Payload) -> None:
        """Close the modal, or leave it open with errors, each beside an input that is there."""
        action, errors = answer.get("response_action"), answer.get("errors") or {}
        if action is None:
            self.state.modals[view.user].remove(view)
            return
        known = {block["block_id"] for block in view.payload["blocks"] if block["type"] == "input"}
        if action != "errors" or not errors or not set(errors) <= known:
            fault = SeenFault(view.user, "invalid_view_response", f"{action} {errors}")
            self.state.faults.append(fault)
        view.errors = {name: str(text) for name, text in errors.items()}

    def _echo(self, subtype: str | None, message: Message) -> None:
        """Send the app an event for its own message, as Slack does if it subscribed to messages."""
        place = self.state.workspace.channels[message.channel]
        name = _heard_as(place)
        if name in self.state.app.events:
            inner = payloads.echo(message, place, subtype, f"{self.state.now():.6f}")
            self._in_background(self._happens_anywhere(name, inner, place))

    def _place(self, user: str, channel: str) -> Channel:
        place = self.state.workspace.channels[channel]
        assert user in place.members, f"{user} is not in {channel}"
        assert not place.is_archived, f"{channel} is archived"
        return place

    async def _bring(self, parcel: Delivery) -> Acknowledgement:
        self.delivered.append(parcel)
        return await self.transport.deliver(parcel)

    async def _interact(self, user: str, sent: Payload) -> UserAction:
        answer = await self._bring(Delivery("interactive", sent))
        self._seen(user, answer)
        return UserAction(sent, answer)

    def _seen(self, user: str, answer: Acknowledgement) -> None:
        if answer.accepted:
            return
        what = "operation_timeout" if answer.timed_out else "dispatch_failed"
        self.state.faults.append(SeenFault(user, what, str(answer.status or "")))

    async def _tell(self, name: str, message: Message) -> Event:
        place = self.state.workspace.channels[message.channel]
        inner = payloads.said(self.state, message, place, name.partition(".")[0])
        return await self._happens(name, inner, message)

    async def _happens(self, name: str, inner: Payload, message: Message | None = None) -> Event:
        place = self.state.workspace.channels.get(message.channel) if message else None
        if name not in self.state.app.events or (place and self.state.bot not in place.members):
            return Event(name, message=message)
        shared = place is not None and place.is_ext_shared
        event = Event(name, payloads.event(self.state, inner, shared=shared), message)
        first = await self._deliver(event, 0, "")
        event.acknowledgements.append(first)
        if not first.accepted and not first.no_retry:
            self._in_background(self._retry(event, first))
        return event

    async def _happens_anywhere(self, name: str, inner: Payload, place: Channel) -> None:
        event = Event(name, payloads.event(self.state, inner, shared=place.is_ext_shared))
        event.acknowledgements.append(await self._deliver(event, 0, ""))

    def _in_background(self, doing: Coroutine[None, None, None]) -> None:
        work = asyncio.create_task(doing)
        self.state.work.add(work)
        work.add_done_callback(self.state.work.discard)

    async def _deliver(self, event: Event, attempt: int, reason: str) -> Acknowledgement:
        return await self._bring(Delivery("events_api", event.payload, attempt, reason))

    async def _retry(self, event: Event, answer: Acknowledgement) -> None:
        for attempt, delay in enumerate(self.state.rules.retry_delays, start=1):
            await asyncio.sleep(delay)
            answer = await self._deliver(event, attempt, answer.trouble)
            event.acknowledgements.append(answer)
            if answer.accepted or answer.no_retry:
                return


def _heard_as(place: Channel) -> str:
    names = {"public": "message.channels", "private": "message.groups"}
    return names.get(place.kind, f"message.{place.kind}")
