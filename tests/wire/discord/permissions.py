"""Permissions: the bits of the API, and what a user may do in a channel. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntFlag


class Permission(IntFlag):
    """The bits this fake looks at; all others are carried along unread."""

    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38
    USE_EXTERNAL_APPS = 1 << 50


NOTHING = Permission(0)
EVERYTHING = Permission((1 << 52) - 1)
SPEAKING = Permission.SEND_MESSAGES | Permission.SEND_MESSAGES_IN_THREADS
IN_MESSAGES = Permission.EMBED_LINKS | Permission.ATTACH_FILES | Permission.MENTION_EVERYONE
INVITED = (
    Permission.VIEW_CHANNEL
    | SPEAKING
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.CREATE_PUBLIC_THREADS
)  # what a bot of ours asks for when it is invited: 309237763072
USUAL = (
    INVITED
    | Permission.ADD_REACTIONS
    | Permission.USE_APPLICATION_COMMANDS
    | Permission.USE_EXTERNAL_APPS
)


@dataclass(frozen=True, slots=True)
class Overwrite:
    """What a channel allows and denies one role or one member."""

    allow: Permission = NOTHING
    deny: Permission = NOTHING


def in_channel(
    base: Permission,
    everyone: str,
    roles: Iterable[str],
    member: str,
    overwrites: Mapping[str, Overwrite],
) -> Permission:
    """Lay a channel's overwrites over base permissions: everyone's, the roles', the member's."""
    if base & Permission.ADMINISTRATOR:
        return EVERYTHING
    own = [overwrites[role] for role in roles if role in overwrites and role != everyone]
    allow = deny = NOTHING
    for one in own:
        allow, deny = allow | one.allow, deny | one.deny
    result = base
    layers = (overwrites.get(everyone), Overwrite(allow, deny), overwrites.get(member))
    for layer in layers:
        if layer is not None:
            result = result & ~layer.deny | layer.allow
    return result


def implied(held: Permission, *, in_thread: bool) -> Permission:
    """Take away what is worth nothing: all without sight, files and embeds without a voice."""
    if not held & Permission.VIEW_CHANNEL:
        return NOTHING
    voice = Permission.SEND_MESSAGES_IN_THREADS if in_thread else Permission.SEND_MESSAGES
    return held if held & voice else held & ~IN_MESSAGES
