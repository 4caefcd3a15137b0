"""The sample world of a test: every kind of user and channel that the API distinguishes."""

from itertools import count

from tests.wire.discord.permissions import INVITED, SPEAKING, USUAL, Overwrite, Permission
from tests.wire.discord.world import Channel, Guild, Kind, Member, Role, User, World

BOT = "100000000000000001"  # the bot's user, and the app's id
SEEN = Overwrite(allow=Permission.VIEW_CHANNEL)
HIDDEN = Overwrite(deny=Permission.VIEW_CHANNEL)
SILENCED = Overwrite(deny=SPEAKING)
PLAIN = Overwrite(
    deny=Permission.EMBED_LINKS | Permission.ATTACH_FILES | Permission.CREATE_PUBLIC_THREADS
)

_ids = count(100000000000000100)


def _id() -> str:
    return str(next(_ids))


def add_user(world: World, handle: str, name: str, *, is_bot: bool = False) -> User:
    user = User(handle, BOT if handle == "BOT" else _id(), name, is_bot)
    world.users[user.id] = user
    return user


def add_guild(world: World, handle: str, name: str, owner: str, *people: str) -> Guild:
    """Open a guild with the bot and these people in it."""
    guild = Guild(handle, _id(), name, world.user(owner).id)
    guild.roles[guild.id] = Role(guild.id, "@everyone", USUAL)
    for who in (owner, "BOT", *people):
        user = world.user(who)
        guild.members[user.id] = Member(user)
    invited = add_role(guild, "council", INVITED, "BOT")
    invited.managed = True
    world.guilds[guild.id] = guild
    return guild


def add_role(guild: Guild, name: str, permissions: Permission, *handles: str) -> Role:
    role = Role(_id(), name, permissions)
    guild.roles[role.id] = role
    for member in guild.members.values():
        if member.user.handle in handles:
            member.roles.append(role.id)
    return role


def add_channel(world: World, guild: Guild, handle: str, name: str, kind: Kind = "text") -> Channel:
    channel = Channel(handle, _id(), name, kind, guild)
    guild.channels[channel.id] = channel
    world.channels[channel.id] = channel
    return channel


def add_group(world: World, handle: str, name: str, *people: str) -> Channel:
    """Open a group conversation, which no bot can be in."""
    ids = {world.user(who).id for who in people}
    channel = Channel(handle, _id(), name, "group", people=ids, owner=min(ids))
    world.channels[channel.id] = channel
    return channel


def sample_world() -> World:
    """Return a home guild, and one away."""
    world = World()
    add_user(world, "BOT", "council", is_bot=True)
    people = {"U1": "ada", "U2": "ben", "UADMIN": "cleo", "UGUEST": "dora", "USTRANGER": "eve"}
    for handle, name in people.items():
        add_user(world, handle, name)
    add_user(world, "UOTHERBOT", "robot", is_bot=True)
    _home(world)
    away = add_guild(world, "G2", "Away", "USTRANGER")
    add_channel(world, away, "A1", "lobby")
    return world


def _home(world: World) -> None:
    home = add_guild(world, "G1", "Home", "UADMIN", "U1", "U2", "UGUEST", "UOTHERBOT")
    add_role(home, "testers", Permission(0), "U2")
    add_channel(world, home, "C1", "general")
    closed = add_channel(world, home, "C2", "closed")  # to the bot
    inner = add_channel(world, home, "C3", "inner")
    for place in (closed, inner):
        place.overwrites[home.id] = HIDDEN
        for who in ("U1", "U2"):
            place.overwrites[world.user(who).id] = SEEN
    inner.overwrites[BOT] = SEEN
    add_channel(world, home, "C4", "quiet").overwrites[BOT] = SILENCED
    add_channel(world, home, "C5", "plain").overwrites[BOT] = PLAIN
    add_channel(world, home, "F1", "ideas", "forum")
