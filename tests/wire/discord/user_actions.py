"""Actions of users: slash commands, clicks, modals, messages."""

import asyncio
from collections.abc import Mapping
from typing import Any

from tests.wire.discord.checks.components import BUTTON, LINK_STYLE, walk
from tests.wire.discord.interactions import find_command, open_interaction
from tests.wire.discord.message_payloads import message as shown_message
from tests.wire.discord.message_store import new_message, post_message
from tests.wire.discord.options import Filling, Submission, focus
from tests.wire.discord.permissions import Permission
from tests.wire.discord.routes.callbacks import AUTOCOMPLETE, COMMAND, COMPONENT, SUBMISSION
from tests.wire.discord.routes.channels import awake, joined
from tests.wire.discord.routes.identity import direct_with
from tests.wire.discord.state import Interaction, Modal, SeenFault, State
from tests.wire.discord.world import Channel, Message, User

Payload = dict[str, Any]
MESSAGE_MENU = 3

SILENT = {
    COMMAND: "The application did not respond",
    COMPONENT: "This interaction failed",
    AUTOCOMPLETE: "Loading options failed",
    SUBMISSION: "Something went wrong. Try again.",
}


class UserActions:
    """The people's side. Whoever acts is named first; nobody acts who could not in Discord."""

    def __init__(self, state: State) -> None:
        self.state = state

    async def slash(
        self, user: str | User, channel: str | Channel, command: str, /, **options: object
    ) -> Interaction:
        """Type a slash command: "council ask", with its options by name."""
        person, place = self._who_and_where(user, channel)
        name, *path = command.split()
        known = find_command(self.state, place, person, name)
        data = Filling(self.state, person, place).data(known, path, options)
        return await self._begin(COMMAND, person, place, data)

    async def autocomplete(
        self,
        user: str | User,
        channel: str | Channel,
        command: str,
        focused: str,
        /,
        **so_far: object,
    ) -> Interaction:
        """Type into an option, and see what the app suggests."""
        person, place = self._who_and_where(user, channel)
        name, *path = command.split()
        known = find_command(self.state, place, person, name)
        filling = Filling(self.state, person, place, partial=True)
        data = filling.data(known, path, {focused: "", **so_far})
        focus(data["options"], focused)
        return await self._begin(AUTOCOMPLETE, person, place, data)

    async def context_menu(self, user: str | User, message: Message, name: str) -> Interaction:
        """Choose an app's entry in the menu of a message."""
        person, place = self._who_and_where(user, message.channel)
        known = find_command(self.state, place, person, name, MESSAGE_MENU)
        assert message in place.said, "the message is gone"
        data = {"id": known["id"], "name": name, "type": MESSAGE_MENU, "target_id": message.id}
        data["resolved"] = {"messages": {message.id: shown_message(self.state, message)}}
        return await self._begin(COMMAND, person, place, data)

    async def click(self, message: Message, custom_id: str, user: str | User) -> Interaction:
        """Click a button."""
        element = component(message, custom_id)
        assert element["type"] == BUTTON, f"{custom_id} is no button"
        assert element.get("style") != LINK_STYLE, "a link tells the app nothing"
        return await self._use(message, element, user, {})

    async def choose(
        self, message: Message, custom_id: str, label: str, user: str | User
    ) -> Interaction:
        """Choose an option of a select by the label that people read."""
        element = component(message, custom_id)
        offered = {one["label"]: one["value"] for one in element["options"]}
        assert label in offered, f"{label!r} is not among {[*offered]}"
        return await self._use(message, element, user, {"values": [offered[label]]})

    async def _use(
        self, message: Message, element: Payload, user: str | User, more: Payload
    ) -> Interaction:
        person, place = self._who_and_where(user, message.channel)
        assert message.ephemeral_to in {None, person.id}, f"{person.name} does not see it"
        assert message in place.said, "the message is gone"
        custom_id = element["custom_id"]
        assert not element.get("disabled"), f"{custom_id} is disabled"
        data = {"custom_id": custom_id, "component_type": element["type"], "id": element["id"]}
        return await self._begin(COMPONENT, person, place, {**data, **more}, message)

    async def submit(
        self, modal: Modal, values: Mapping[str, object], user: str | User
    ) -> Interaction:
        person = self.state.world.user(user)
        assert modal in self.state.modals, "no such modal is open"
        assert modal.user == person.handle, f"{person.name} has no such modal open"
        place = self.state.world.channel(modal.channel.id)
        filling = Submission(self.state, person, place)
        data: Payload = {"custom_id": modal.data["custom_id"]}
        data["components"] = filling.components(modal.data, values)
        data |= {"resolved": filling.resolved} if filling.resolved else {}
        did = await self._begin(SUBMISSION, person, place, data, modal)
        if did.answer is not None:
            self.state.modals.remove(modal)
        return did

    def message(
        self,
        user: str | User,
        channel: str | Channel,
        text: str,
        *,
        reference: Message | None = None,
        pings: bool = True,
    ) -> Message:
        """Post a message as a user, maybe as a reply, and dispatch the event."""
        person, place = self._who_and_where(user, channel)
        assert not place.locked, f"{place.name} is locked"
        if place.guild:
            voice = Permission.SEND_MESSAGES
            voice = Permission.SEND_MESSAGES_IN_THREADS if place.is_thread else voice
            assert self.state.held(place, person.id) & voice, f"{person.name} may not speak there"
        said = new_message(self.state, place, person, text)
        said.arguments = {"content": text}
        if reference is not None:
            said.reference, said.pings_author, said.type = reference, pings, 19
        if place.is_thread:
            awake(self.state, place)
            joined(self.state, place, person.id)
        return post_message(self.state, said)

    def direct_message(self, user: str | User, text: str) -> Message:
        place = direct_with(self.state, self.state.world.user(user).id)
        return self.message(user, place, text)

    def _who_and_where(self, user: str | User, channel: str | Channel) -> tuple[User, Channel]:
        person, place = self.state.world.user(user), self.state.world.channel(channel)
        if place.guild:
            held = self.state.held(place, person.id)
            assert held & Permission.VIEW_CHANNEL, f"{person.name} is not in {place.name}"
        else:
            assert person.id in place.people, f"{person.name} is not in this conversation"
        return person, place

    async def _begin(
        self,
        kind: int,
        person: User,
        place: Channel,
        data: Payload,
        cause: Message | Modal | None = None,
    ) -> Interaction:
        """Send an interaction, and wait for its first answer as long as Discord would."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        interaction = open_interaction(self.state, kind, person, place, data, cause)
        try:
            async with asyncio.timeout(self.state.rules.ack_seconds):
                await interaction.answered.wait()
        except TimeoutError:
            interaction.is_lost = True
            self.state.faults.append(SeenFault(person.handle, SILENT[kind]))
        interaction.seconds = loop.time() - began
        return interaction


def component(message: Message, custom_id: str) -> Payload:
    for _, one in walk(message.components):
        if one.get("custom_id") == custom_id:
            return dict(one)
    ids = [one["custom_id"] for _, one in walk(message.components) if one.get("custom_id")]
    raise AssertionError(f"no {custom_id!r} among {ids}")
