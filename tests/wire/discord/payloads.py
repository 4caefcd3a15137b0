"""Payloads of users, members, channels and guilds."""

from typing import Any

from tests.wire.discord.permissions import EVERYTHING
from tests.wire.discord.sample_world import BOT
from tests.wire.discord.state import State, iso
from tests.wire.discord.world import TYPES, Channel, Guild, Member, Role, User

Payload = dict[str, Any]

JOINED = iso(1_700_000_000)
CONTENT_FLAG, MEMBERS_FLAG, PRESENCE_FLAG = 1 << 19, 1 << 15, 1 << 13
_NOTHING = (
    "icon",
    "description",
    "home_header",
    "splash",
    "discovery_splash",
    "banner",
    "afk_channel_id",
    "system_channel_id",
    "widget_channel_id",
    "rules_channel_id",
    "safety_alerts_channel_id",
    "public_updates_channel_id",
    "application_id",
    "vanity_url_code",
    "max_presences",
    "incidents_data",
)
_ZERO = (
    "system_channel_flags",
    "verification_level",
    "default_message_notifications",
    "mfa_level",
    "explicit_content_filter",
    "premium_tier",
    "nsfw_level",
)


def user(one: User) -> Payload:
    shown: Payload = {
        "id": one.id,
        "username": one.name,
        "discriminator": "0" if not one.is_bot else "0001",
        "global_name": None if one.is_bot else one.name.title(),
        "avatar": None,
        "public_flags": 0,
        "flags": 0,
        "primary_guild": None,
    }
    return {**shown, "bot": True} if one.is_bot else shown


def me(one: User) -> Payload:
    return {**user(one), "mfa_enabled": False, "locale": "en-US", "verified": True, "email": None}


def member(one: Member, *, with_user: bool = True) -> Payload:
    """Return a member; inside a message, without the user."""
    shown: Payload = {
        "avatar": None,
        "banner": None,
        "communication_disabled_until": None,
        "flags": 0,
        "joined_at": JOINED,
        "nick": one.nick,
        "pending": False,
        "premium_since": None,
        "roles": list(one.roles),
        "mute": False,
        "deaf": False,
    }
    return {**shown, "user": user(one.user)} if with_user else shown


def role(one: Role, place: int) -> Payload:
    return {
        "id": one.id,
        "name": one.name,
        "permissions": str(int(one.permissions)),
        "position": place,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": one.managed,
        "mentionable": False,
        "icon": None,
        "unicode_emoji": None,
        "flags": 0,
    }


def channel(state: State, one: Channel) -> Payload:
    last = one.said[-1].id if one.said else None
    shown: Payload = {"id": one.id, "type": TYPES[one.kind], "flags": 0, "last_message_id": last}
    if one.kind == "dm":
        people = [user(state.world.users[id_]) for id_ in sorted(one.people - {BOT})]
        return {**shown, "recipients": people}
    if one.kind == "group":
        people = [user(state.world.users[id_]) for id_ in sorted(one.people)]
        more: Payload = {"name": one.name, "icon": None, "owner_id": one.owner}
        return {**shown, **more, "recipients": people}
    assert one.guild is not None
    shown |= {"guild_id": one.guild.id, "name": one.name, "rate_limit_per_user": one.slow_mode}
    if one.is_thread:
        return {**shown, **_thread(one)}
    overwrites = [
        {
            "id": id_,
            "type": 0 if id_ in one.guild.roles else 1,
            "allow": str(int(overwrite.allow)),
            "deny": str(int(overwrite.deny)),
        }
        for id_, overwrite in one.overwrites.items()
    ]
    more = {"position": 0, "parent_id": None, "topic": None, "nsfw": False}
    if one.kind == "forum":
        more |= {"available_tags": [], "default_reaction_emoji": None, "default_sort_order": None}
        more |= {"default_forum_layout": 0}
    return {**shown, **more, "permission_overwrites": overwrites}


def _thread(one: Channel) -> Payload:
    assert one.parent is not None
    metadata: Payload = {
        "archived": one.archived,
        "archive_timestamp": iso(one.created),
        "auto_archive_duration": one.auto_archive,
        "locked": one.locked,
        "create_timestamp": iso(one.created),
    }
    if one.kind == "private_thread":
        metadata["invitable"] = True
    shown: Payload = {
        "parent_id": one.parent.id,
        "owner_id": one.owner,
        "thread_metadata": metadata,
        "message_count": len(one.said),
        "total_message_sent": len(one.said),
        "member_count": len(one.people),
    }
    if BOT in one.people:
        shown["member"] = thread_member(one, BOT)
    return shown


def thread_member(thread: Channel, id_: str) -> Payload:
    joined = iso(thread.created)
    return {"id": thread.id, "user_id": id_, "join_timestamp": joined, "flags": 1}


def guild(one: Guild) -> Payload:
    return {
        "id": one.id,
        "name": one.name,
        "owner_id": one.owner,
        "region": "deprecated",
        "features": [],
        "emojis": [],
        "stickers": [],
        "roles": [role(each, place) for place, each in enumerate(one.roles.values())],
        "afk_timeout": 300,
        "widget_enabled": False,
        "max_members": 500_000,
        "max_stage_video_channel_users": 50,
        "max_video_channel_users": 25,
        "premium_subscription_count": 0,
        "preferred_locale": "en-US",
        "premium_progress_bar_enabled": False,
        "nsfw": False,
        **dict.fromkeys(_NOTHING),
        **dict.fromkeys(_ZERO, 0),
    }


def guild_create(state: State, one: Guild) -> Payload:
    """Return a guild as the gateway announces it: with the places the bot may see."""
    places = list(one.channels.values())
    threads = [each for place in places for each in state.world.threads_of(place)]
    seen = [each for each in threads if not each.archived and state.held(each)]
    return {
        **guild(one),
        "joined_at": JOINED,
        "large": False,
        "unavailable": False,
        "member_count": len(one.members),
        "members": [member(one.members[BOT])],
        "channels": [channel(state, each) for each in places],
        "threads": [channel(state, each) for each in seen],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def application(state: State) -> Payload:
    flags = 0
    pairs = ((1 << 15, CONTENT_FLAG), (1 << 1, MEMBERS_FLAG), (1 << 8, PRESENCE_FLAG))
    for intent, bit in pairs:
        flags |= bit if state.app.privileged & intent else 0
    owner = state.world.user("UADMIN")
    unset = ("icon", "role_connections_verification_url", "team")
    counts = ("user_install", "user_authorization")
    return {
        "id": BOT,
        "name": state.app.name,
        "description": "",
        "type": None,
        "bot": user(state.bot),
        "bot_public": state.app.is_public,
        "bot_require_code_grant": state.app.needs_code_grant,
        "verify_key": "0" * 64,
        "flags": flags,
        "flags_new": str(flags),
        "redirect_uris": [],
        "owner": user(owner),
        "explicit_content_filter": 0,
        "eligible_oauth2_scopes": [],
        "interactions_endpoint_url": state.app.interactions_url,
        "approximate_guild_count": state.app.servers,
        **dict.fromkeys(unset),
        **{f"approximate_{each}_count": 1 for each in counts},
    }


def permissions(state: State, place: Channel, id_: str) -> str:
    """Return what someone may do in a place, as a string of a number."""
    if place.guild is None:
        return str(int(EVERYTHING))
    return str(int(state.held(place, id_)))
