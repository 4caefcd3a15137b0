"""Messages that a release posted in Discord: kept in a file, and put back into a fake Discord."""

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
from tests.wire.discord.permissions import USUAL

FILE = "discord_messages.json"
GUILD, PLACE, TESTERS = "200000000000000010", "200000000000000020", "200000000000000030"
PEOPLE = {
    "U1": ("200000000000000001", "ada"),
    "U2": ("200000000000000002", "ben"),
    "UADMIN": ("200000000000000003", "cleo"),
}


def world() -> World:
    """Give a server whose ids are always the same: they are in the database, too."""
    made, home = World(), Guild("G1", GUILD, "Home", PEOPLE["UADMIN"][0])
    home.roles = {
        GUILD: Role(GUILD, "@everyone", USUAL),
        BOT: Role(BOT, "council", INVITED, managed=True),
        TESTERS: Role(TESTERS, "testers", USUAL),
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


def kept(messages: dict[str, Message], modals: dict[str, Modal]) -> str:
    """Write messages and modals by name as a file."""
    document = {
        "messages": [{"name": name, **_told(message)} for name, message in messages.items()],
        "modals": [
            {
                "name": name,
                "user": modal.user,
                "data": modal.data,
                "opened_by": modal.opened_by,
                "source": modal.source.id if modal.source else None,
            }
            for name, modal in modals.items()
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _told(message: Message) -> dict[str, Any]:
    names = ("id", "at", "content", "embeds", "components", "flags", "type", "ephemeral_to")
    thread = message.thread
    return {
        **{name: getattr(message, name) for name in names},
        "author": message.author.handle,
        "interaction": message.interaction,
        "thread": thread and {"id": thread.id, "name": thread.name, "created": thread.created},
    }


class Stored:
    """What the file holds, once it stands in a fake Discord again."""

    def __init__(self, folder: Path) -> None:
        document = json.loads((folder / FILE).read_text(encoding="utf-8"))
        self.world = world()
        self.messages = {one.pop("name"): self._message(one) for one in document["messages"]}
        self.modals = {one.pop("name"): self._modal(one) for one in document["modals"]}

    def put_into(self, discord: FakeDiscord) -> None:
        """Have people see the forms they saw then; the messages are in the world already."""
        discord.state.modals += self.modals.values()

    def actions(self) -> set[str]:
        """Give every kind of action there is to press, and every kind of form to send."""
        ids = [id_ for m in self.messages.values() for id_ in custom_ids(m.components)]
        ids += [str(modal.data["custom_id"]) for modal in self.modals.values()]
        return {id_.split(":")[1] for id_ in ids}

    def _message(self, told: dict[str, Any]) -> Message:
        place = self.world.channel(PLACE)
        author, thread = self.world.user(told.pop("author")), told.pop("thread")
        message = Message(channel=place, author=author, **told)
        if thread:
            under = Channel(f"T{thread['id']}", kind="thread", guild=place.guild, **thread)
            under.parent, under.owner, under.people = place, BOT, {BOT}
            self.world.channels[under.id] = message.thread = under
        place.said.append(message)
        return message

    def _modal(self, told: dict[str, Any]) -> Modal:
        source = told.pop("source")
        found = next((m for m in self.messages.values() if m.id == source), None)
        return Modal(channel=self.world.channel(PLACE), source=found, **told)


def custom_ids(value: object) -> list[str]:
    """Give the custom ids in components, in order."""
    if isinstance(value, list):
        return [id_ for one in value for id_ in custom_ids(one)]
    if isinstance(value, dict):
        own = str(value.get("custom_id", ""))
        return [own] * own.startswith("council:") + custom_ids(list(value.values()))
    return []
