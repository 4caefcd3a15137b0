"""Access control: who may ask where, with which panels, how often, and read which rounds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from bot.admin_settings import (
    ADMIN_ROLES,
    ADMINS,
    CHANNELS,
    COUNTS,
    OFF,
    ON,
    OPEN,
    OPEN_CHANNELS,
    PANEL,
    ROLES,
    SWITCHES,
    VENDORS,
    VOTES_FIRST,
    channel_key,
    has_settings,
    workspace_key,
)
from bot.api_keys import KEY_ASKER
from bot.chat import Asker, IncomingMessage
from council.errors import CouncilError, RoundNotFoundError
from council.panel import Panel
from council.places import LOCAL_CHATS, Place
from council.ports import RoundQuery, Store
from council.rounds import Question, Round


class AccessDeniedError(CouncilError):
    """The person may not use the council here, or not in this way."""


@dataclass(frozen=True, slots=True)
class ChannelRules:
    """Rules of one channel: its panel, and the allowed providers; no providers means all.

    `is_open` says whether one may ask there; None leaves that to the workspace. With `votes_first`,
    names are shown after people voted, unless somebody asks otherwise.
    """

    panel: str | None = None
    vendors: tuple[str, ...] = ()
    is_open: bool | None = None
    votes_first: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """Where the bot answers in the chats, to whom, and its rate limits.

    `channels` are the allowed channels; None allows every channel that is neither shared with other
    organisations nor a direct message. `admins` are ids of people or roles; they may do with the
    rounds of others what the askers may. If `roles` are given, only people with one of them may
    ask, in chats that have roles. `rounds_at_once` limits the running rounds of a workspace.
    `workspaces` are the policies of single workspaces, by id; each is complete. `fixed` names what
    `council.toml` sets. `chosen` are the values that admins chose for a workspace or a channel, by
    its key; they count where nothing is fixed.
    """

    channels: tuple[str, ...] | None = None
    admins: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    shared_channels: bool = False
    guests: bool = False
    direct_messages: bool = True
    rounds_per_hour: int | None = None
    rounds_per_day: int | None = None
    rules: Mapping[str, ChannelRules] = field(default_factory=dict)
    rounds_at_once: int | None = None
    workspaces: Mapping[str, "Access"] = field(default_factory=dict)
    fixed: frozenset[str] = field(default=frozenset(), compare=False)
    chosen: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def at(self, place: Place) -> "Access":
        """Return the policy of a place's workspace, with the rules of its channel.

        Everything that decides who may do what asks here, so this is what holds.
        """
        policy = self.workspaces.get(place.workspace, self)
        if not self.chosen or not has_settings(place):
            return policy
        policy = _with_choices(policy, self.chosen.get(workspace_key(place), {}))
        rules = policy.rules.get(place.within, ChannelRules())
        here = _with_channel_choices(policy, rules, self.chosen.get(channel_key(place), {}))
        return replace(policy, rules={**policy.rules, place.within: here}, chosen={})

    def fixed_at(self, place: Place) -> frozenset[str]:
        """Return the names that `council.toml` sets for a place's workspace or channel."""
        policy = self.workspaces.get(place.workspace, self)
        rules = policy.rules.get(place.within, ChannelRules())
        here = {VENDORS: rules.vendors, PANEL: rules.panel}
        return policy.fixed | {name for name, value in here.items() if value}

    def with_chosen(self, chosen: Mapping[str, Mapping[str, str]]) -> "Access":
        """Return the policy after these values were chosen, by the key of their place."""
        new = {key: values for key, values in chosen.items() if values != self.chosen.get(key, {})}
        return replace(self, chosen={**self.chosen, **new}) if new else self

    def rules_in(self, place: Place) -> ChannelRules:
        """Return the rules of a place's channel."""
        return self.at(place).rules.get(place.within, ChannelRules())

    def max_running_rounds(self, place: Place) -> int | None:
        """Return the limit of running rounds in a place's workspace; None is no limit."""
        return self.at(place).rounds_at_once if place.workspace else None

    def is_admin(self, asker: Asker) -> bool:
        """Return whether somebody is an admin: by the chat's own word, by id or by role."""
        own = {asker.id, *(asker.roles or ())}
        return asker.is_admin or not own.isdisjoint(self.admins)


def _with_choices(policy: Access, chosen: Mapping[str, str]) -> Access:
    """Return a policy with what admins chose for its workspace."""
    free = {name: value for name, value in chosen.items() if name not in policy.fixed}
    changes: dict[str, Any] = {name: free[name] == ON for name in SWITCHES if name in free}
    changes |= {name: int(free[name]) for name in COUNTS if name in free}
    if free.get(CHANNELS) == OPEN_CHANNELS:
        changes[CHANNELS] = ()
    if ROLES in free:
        changes[ROLES] = tuple(free[ROLES].split())
    if ADMINS not in policy.fixed:
        added = f"{free.get(ADMINS, '')} {free.get(ADMIN_ROLES, '')}".split()
        changes[ADMINS] = (*policy.admins, *added)
    return replace(policy, **changes)


def _with_channel_choices(
    policy: Access, rules: ChannelRules, chosen: Mapping[str, str]
) -> ChannelRules:
    """Return the rules of a channel with what was chosen for it."""
    is_open = {ON: True, OFF: False}.get(chosen.get(OPEN, ""))
    return replace(
        rules,
        vendors=rules.vendors or tuple(chosen.get(VENDORS, "").split()),
        is_open=None if CHANNELS in policy.fixed else is_open,
        votes_first=chosen.get(VOTES_FIRST) == ON,
    )


def check_admitted(access: Access, message: IncomingMessage) -> None:
    """Raise AccessDeniedError, which says whom to ask, unless this person may use the bot here.

    The terminal and the web page are open to everybody who can reach them.
    """
    if message.place.chat in LOCAL_CHATS:
        return
    access = access.at(message.place)
    admin = _admin(access)
    if message.asker.is_guest and not access.guests:
        raise AccessDeniedError(
            f"Guests can't use the council. Ask a member to ask for you, or contact {admin}."
        )
    if access.roles and message.asker.roles is not None:
        _check_roles(access, message, admin)
    if message.is_shared and not access.shared_channels:
        raise AccessDeniedError(
            "The council is off in channels shared with other organisations. Use a channel of "
            f"your own, or contact {admin}."
        )
    is_open = access.rules_in(message.place).is_open
    if is_open or message.place.within in (access.channels or ()):
        return
    if message.is_direct and not access.direct_messages:
        raise AccessDeniedError(
            f"The council is off in direct messages. Ask in a channel, or contact {admin}."
        )
    if not message.is_direct and (access.channels is not None or is_open is False):
        raise AccessDeniedError(
            "The council is off in this channel. Ask in a channel where it is on, or contact "
            f"{admin}."
        )


def _check_roles(access: Access, message: IncomingMessage, admin: str) -> None:
    if message.is_direct and not message.asker.roles:
        raise AccessDeniedError(
            "Only certain roles can use the council, and direct messages have no roles. Ask in "
            "a channel."
        )
    if set(access.roles).isdisjoint(message.asker.roles or ()):
        raise AccessDeniedError(
            f"Only certain roles can use the council, and you have none of them. Contact {admin}."
        )


def _admin(access: Access) -> str:
    return "one of its admins" if access.admins else "the person who runs it"


def why_not_admitted(access: Access, message: IncomingMessage) -> str:
    """Return why this person may not use the bot here; "" if they may."""
    try:
        check_admitted(access, message)
    except AccessDeniedError as error:
        return str(error)
    return ""


def may_administer(access: Access, message: IncomingMessage) -> bool:
    """Return whether this is an admin; on the page and in the terminal, everybody is."""
    is_admin = access.at(message.place).is_admin(message.asker)
    return is_admin or message.place.chat in LOCAL_CHATS


def check_admin(access: Access, message: IncomingMessage, what: str) -> None:
    """Raise AccessDeniedError unless this is an admin."""
    if not may_administer(access, message):
        raise AccessDeniedError(f"Only admins can {what}. Ask an admin to do it, or to add you.")


def allows_panel(access: Access, place: Place, panel: Panel) -> bool:
    """Return whether every seat of a panel is of a provider that is allowed in a place."""
    return not _forbidden_providers(access, place, panel)


def check_panel(access: Access, place: Place, panel: Panel) -> None:
    """Raise AccessDeniedError if a panel has a seat whose provider is not allowed in a place."""
    if forbidden := _forbidden_providers(access, place, panel):
        vendors = ", ".join(access.rules_in(place).vendors)
        raise AccessDeniedError(
            f"Only models from {vendors} may be used in this channel, but panel {panel.name!r} "
            f"also includes {', '.join(forbidden)}. Pick another panel; `/council panel` lists "
            "them."
        )


def _forbidden_providers(access: Access, place: Place, panel: Panel) -> tuple[str, ...]:
    vendors = access.rules_in(place).vendors
    return tuple(name for name in providers_of(panel) if vendors and name not in vendors)


def providers_of(panel: Panel) -> tuple[str, ...]:
    """Return the providers of a panel's seats, each once: what is before the `/` of a model id."""
    return tuple(dict.fromkeys(seat.model_id.partition("/")[0] for seat in panel.seats))


# --- Rate limit of one asker, counted from the stored rounds

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_MINUTE, _MOMENT = timedelta(minutes=1), timedelta(microseconds=1)


class RoundLimitError(AccessDeniedError):
    """A limit of rounds is reached.

    `retry_at` is when the next one is free, if that is known; `reason` does not say it.
    """

    def __init__(self, message: str, retry_at: datetime | None = None, reason: str = "") -> None:
        super().__init__(message)
        self.retry_at = retry_at
        self.reason = reason


async def check_rate_limit(access: Access, store: Store, question: Question, now: datetime) -> None:
    """Raise RoundLimitError, which says when the next round is free, at the asker's limit.

    A decision counts like a round. Questions without an asker, from the terminal or the page, and
    of bake-offs are not limited; those that come with a named API key are.
    """
    if not is_rate_limited(access, question):
        return
    access = access.at(question.place)
    # The day's limit comes first: if both are reached, it lasts longer.
    limits = (("24 hours", _DAY, access.rounds_per_day), ("hour", _HOUR, access.rounds_per_hour))
    for words, window, most in limits:
        if most is None:
            continue
        chat, by, since = question.place.chat, question.asked_by, now - window + _MOMENT
        query = RoundQuery(chats=(chat,), asked_by=by, bakeoff="", since=since)
        lines = await store.list_summaries(most, query)
        decided = await store.list_decided(chat, by, since)
        times = sorted((*(line.asked_at for line in lines), *decided), reverse=True)[:most]
        if len(times) == most:
            free = times[-1] + window
            rounds = f"{most} round{'s' * (most > 1)}"
            what = f"asked or decided {most} times" if decided else f"asked {rounds}"
            reason = f"You have {what} in the last {words}, which is the limit."
            raise RoundLimitError(
                f"{reason} You can ask again {_format_minute(free, now)}.", free, reason
            )


def is_rate_limited(access: Access, question: Question) -> bool:
    """Return whether a rate limit applies to a question's asker."""
    access = access.at(question.place)
    is_limited = access.rounds_per_hour is not None or access.rounds_per_day is not None
    has_key = question.asked_by.startswith(KEY_ASKER)
    is_local = question.place.chat in LOCAL_CHATS and not has_key
    return is_limited and not is_local and bool(question.asked_by)


def _format_minute(moment: datetime, now: datetime) -> str:
    """Format the first whole minute from a moment on, with its day unless that is today."""
    minute = (moment + _MINUTE - _MOMENT).replace(second=0, microsecond=0)
    day = "" if minute.date() == now.date() else f"on {minute.day} {minute:%B} "
    return f"{day}at {minute:%H:%M} UTC"


# --- Permissions on rounds


class NotYoursError(CouncilError):
    """Only the asker or an admin may do this."""


def readable_rounds(message: IncomingMessage, containing: str = "") -> RoundQuery:
    """Return a query for the rounds that the author of a message may read.

    In the terminal, the operator may read all. On the page, everybody may read what was asked on
    this machine, except the private rounds of others. In a chat, members may read the rounds of
    their workspace, but private rounds only in their own channel; guests, and everybody in a shared
    channel, may read only that channel's rounds.
    """
    here = message.place
    if here.chat == "terminal":
        return RoundQuery(containing)
    if here.chat in LOCAL_CHATS:
        return RoundQuery(containing, chats=LOCAL_CHATS, asker=message.asker.id)
    return RoundQuery(
        containing,
        chats=(here.chat,),
        workspace=here.workspace,
        here=here,
        only_here=message.asker.is_guest or message.is_shared,
    )


def listable_rounds(message: IncomingMessage, containing: str = "") -> RoundQuery:
    """Return a query for the readable rounds that are listed: those that are of no bake-off."""
    return replace(readable_rounds(message, containing), bakeoff="")


def check_own_round(access: Access, round_: Round, asker: Asker, what: str) -> None:
    """Raise NotYoursError unless this is the round's asker or an admin."""
    asked = round_.question
    check_owner(access.at(asked.place), asker, asked.asked_by, "the person who asked", what)


def check_readable(round_: Round, message: IncomingMessage) -> None:
    """Raise RoundNotFoundError, as if it did not exist, for a round this person may not read."""
    question = round_.question
    if not readable_rounds(message).covers(question.place, question.asked_by):
        raise RoundNotFoundError(f"There is no round {round_.id!r}.")


def check_owner(access: Access, asker: Asker, owner: str, who: str, what: str) -> None:
    """Raise NotYoursError unless this is the owner, who is described by `who`, or an admin."""
    if asker.id != owner and not access.is_admin(asker):
        raise NotYoursError(f"Only {who}{', or an admin,' if access.admins else ''} can {what}.")
