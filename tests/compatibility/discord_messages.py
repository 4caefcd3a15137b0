"""Messages that a release posted in Discord: stored in a file, and put back into a fake Discord."""

import json
from pathlib import Path
from typing import Any

from tests.wire.discord import (
    BOT,
    INVITED,
    Channel,
    FakeDiscord,
    Guild,
    Member,
    Message,
    Modal,
    Role,
    User,
    World,
)
from tests.wire.discord.permissions import USUAL, Permission

FILE = "discord_messages.json"
GUILD, PLACE, TESTERS = "200000000000000010", "200000000000000020", "200000000000000030"
PEOPLE = {
    "U1": ("200000000000000001", "ada"),
    "U2": ("200000000000000002", "ben"),
    "UADMIN": ("200000000000000003", "cleo"),
}


def world() -> World:
    """Return a server with fixed ids, since the database contains them."""
    made, home = World(), Guild("G1", GUILD, "Home", PEOPLE["UADMIN"][0])
    home.roles = {
        GUILD: Role(GUILD, "@everyone", USUAL),
        BOT: Role(BOT, "council", INVITED, managed=True),
        TESTERS: Role(TESTERS, "testers", USUAL | Permission.MANAGE_GUILD),
    }
    bot = User("BOT", BOT, "council", is_bot=True)
    people = [User(handle, *named) for handle, named in PEOPLE.items()]
    for user in (bot, *people):
        made.users[user.id] = user
        home.members[user.id] = Member(user, [BOT if user is bot else TESTERS])
    place = Channel("C1", PLACE, "general", guild=home)
    home.channels[PLACE] = made.channels[PLACE] = place
    made.guilds[GUILD] = home
    return made


class Stored:
    """The messages of the file, as objects of a fake Discord."""

    def __init__(self, folder: Path) -> None:
        document = json.loads((folder / FILE).read_text(encoding="utf-8"))
        self.world = world()
        self.messages = {one.pop("name"): self._message(one) for one in document["messages"]}
        self.modals = {one.pop("name"): self._modal(one) for one in document["modals"]}

    def put_into(self, discord: FakeDiscord) -> None:
        """Show the stored forms; the messages are in the world already."""
        discord.state.modals += self.modals.values()

    def actions(self) -> set[str]:
        """Return the actions of every button and form."""
        ids = [id_ for m in self.messages.values() for id_ in custom_ids(m.components)]
        ids += [str(modal.data["custom_id"]) for modal in self.modals.values()]
        return {id_.split(":")[1] for id_ in ids}

    def _message(self, stored: dict[str, Any]) -> Message:
        place = self.world.channel(PLACE)
        author, thread = self.world.user(stored.pop("author")), stored.pop("thread")
        message = Message(channel=place, author=author, **stored)
        if thread:
            under = Channel(f"T{thread['id']}", kind="thread", guild=place.guild, **thread)
            under.parent, under.owner, under.people = place, BOT, {BOT}
            self.world.channels[under.id] = message.thread = under
        place.said.append(message)
        return message

    def _modal(self, stored: dict[str, Any]) -> Modal:
        source = stored.pop("source")
        found = next((m for m in self.messages.values() if m.id == source), None)
        return Modal(channel=self.world.channel(PLACE), source=found, **stored)


def custom_ids(value: object) -> list[str]:
    """Return the custom ids in components, in order."""
    if isinstance(value, list):
        return [id_ for one in value for id_ in custom_ids(one)]
    if isinstance(value, dict):
        own = str(value.get("custom_id", ""))
        return [own] * own.startswith("council:") + custom_ids(list(value.values()))
    return []
