"""Who may ask the council where, and with which panels. Pure: knows no store and no clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.chat import Asker, IncomingMessage
from council.bakeoffs.models import Bakeoff
from council.bakeoffs.ports import BakeoffQuery
from council.errors import CouncilError, RoundNotFoundError
from council.panel import Panel
from council.places import HOUSE, Place
from council.ports import RoundQuery, RoundSummary, Store
from council.rounds import Question, Round, Stage

# --- Who may ask the council where, and with which panels. Pure: knows no store and no clock.


class AccessDeniedError(CouncilError):
    """The council is not open to somebody, or not in this way."""


@dataclass(frozen=True, slots=True)
class ChannelRules:
    """What goes for one channel: its panel, and whose models may sit; none named is all."""

    panel: str | None = None
    vendors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Access:
    """Where the council is open in the chats, to whom, and how often a round may be asked.

    `channels` are all it is open in; None is every one that is neither shared with other
    organisations nor a direct message. `admins` may do with rounds of others what their askers may.
    Where `roles` are named, only who has one of them may ask, in chats that know roles. Admins are
    named by their own ids or by a role's.
    `rounds_at_once` are the most under way in one workspace; `workspaces` are those of single ones,
    by their ids, in its place.
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
    workspaces: Mapping[str, int] = field(default_factory=dict)

    def rules_in(self, place: Place) -> ChannelRules:
        """Give what goes for a place's channel."""
        return self.rules.get(place.within, ChannelRules())

    def most_at_once(self, place: Place) -> int | None:
        """Give the most rounds under way at once in a place's workspace; None is any number."""
        if not place.workspace:
            return None
        return self.workspaces.get(place.workspace, self.rounds_at_once)

    def is_admin(self, asker: Asker) -> bool:
        """Say whether somebody is an admin, by name or by a role."""
        return not {asker.id, *(asker.roles or ())}.isdisjoint(self.admins)


def admitted(access: Access, said: IncomingMessage) -> None:
    """Raise AccessDeniedError, which says where to turn, unless this may be said here.

    The terminal and the page are open to whoever can reach them.
    """
    if said.place.chat in HOUSE:
        return
    admin = _admin(access)
    if said.asker.is_guest and not access.guests:
        raise AccessDeniedError(
            f"The council is not open to guests: have a member ask for you, or ask {admin}."
        )
    if access.roles and said.asker.roles is not None:
        _check_roles(access, said, admin)
    if said.is_shared and not access.shared_channels:
        raise AccessDeniedError(
            "The council is not open in channels shared with other organisations: ask in a channel "
            f"of your own, or ask {admin}."
        )
    if said.place.within in (access.channels or ()):
        return
    if said.is_direct and not access.direct_messages:
        raise AccessDeniedError(
            f"The council is not open in direct messages: ask in a channel, or ask {admin}."
        )
    if not said.is_direct and access.channels is not None:
        raise AccessDeniedError(
            "The council is not open in this channel: ask in one of those it is open in, or ask "
            f"{admin}."
        )


def _check_roles(access: Access, said: IncomingMessage, admin: str) -> None:
    if said.is_direct and not said.asker.roles:
        raise AccessDeniedError(
            "The council is open to certain roles, and in direct messages nobody has any: ask in a "
            "channel."
        )
    if set(access.roles).isdisjoint(said.asker.roles or ()):
        raise AccessDeniedError(
            f"The council is open to certain roles, and you have none of them: ask {admin}."
        )


def _admin(access: Access) -> str:
    return "one of its admins" if access.admins else "whoever runs it"


def allows(access: Access, place: Place, panel: Panel) -> bool:
    """Say whether every seat of a panel is of a provider that may be used in a place."""
    return not _others(access, place, panel)


def check_panel(access: Access, place: Place, panel: Panel) -> None:
    """Raise AccessDeniedError for a panel with a seat that may not be used in a place."""
    if others := _others(access, place, panel):
        vendors = ", ".join(access.rules_in(place).vendors)
        raise AccessDeniedError(
            f"Only models of {vendors} may be used in this channel, and panel {panel.name!r} also "
            f"seats {', '.join(others)}: name another panel, `/council panel` lists those there "
            "are here."
        )


def _others(access: Access, place: Place, panel: Panel) -> tuple[str, ...]:
    """Give the providers of a panel that may not be used in a place."""
    vendors = access.rules_in(place).vendors
    seats = (*panel.judges, *panel.chairmen)
    providers = dict.fromkeys(seat.model_id.partition("/")[0] for seat in seats)
    return tuple(name for name in providers if vendors and name not in vendors)


# --- How many rounds one person may ask for, counted from the rounds that are stored.

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_MINUTE, _MOMENT = timedelta(minutes=1), timedelta(microseconds=1)


class RoundLimitError(AccessDeniedError):
    """Somebody has asked for as many rounds as are allowed."""


async def check_pace(access: Access, store: Store, question: Question, now: datetime) -> None:
    """Raise RoundLimitError, which says when the next round is free, if there is none now.

    What nobody asked, what was asked in the terminal or on the page, and rounds of bake-offs go by
    no limit.
    """
    if not is_paced(access, question):
        return
    # The day's limit comes first: where both are reached, it lasts longer.
    limits = (("24 hours", _DAY, access.rounds_per_day), ("hour", _HOUR, access.rounds_per_hour))
    for words, window, most in limits:
        if most is None:
            continue
        asked = RoundQuery(
            chats=(question.place.chat,),
            asked_by=question.asked_by,
            bakeoff="",
            since=now - window + _MOMENT,
        )
        lines = await store.recent(most, asked)
        if len(lines) == most:
            free = _when(lines[-1].asked_at + window, now)
            raise RoundLimitError(
                f"You have asked {most} round{'s' * (most > 1)} in the last {words}, as many as "
                f"are allowed: the next one is free {free}."
            )


def is_paced(access: Access, question: Question) -> bool:
    """Say whether a question goes by a limit of its asker's at all."""
    is_limited = access.rounds_per_hour is not None or access.rounds_per_day is not None
    return is_limited and question.place.chat not in HOUSE and bool(question.asked_by)


def _when(moment: datetime, now: datetime) -> str:
    """Give the first whole minute from a moment on, with its day where that is not today."""
    minute = (moment + _MINUTE - _MOMENT).replace(second=0, microsecond=0)
    day = "" if minute.date() == now.date() else f"on {minute.day} {minute:%B} "
    return f"{day}at {minute:%H:%M} UTC"


# --- Who may read which rounds, and whose they are.


class NotYoursError(CouncilError):
    """Something that only the one who asked for a round may do, or an admin."""


def readable(said: IncomingMessage, containing: str = "") -> RoundQuery:
    """Give the rounds that somebody may read in a place, and whose question contains a text.

    In the terminal sits the operator, who has the database at hand anyway. On the page everybody
    reads what was asked on this machine, save the private rounds of others. In a chat everybody
    reads what was asked in their workspace, private rounds in their own channel only; guests, and
    where people of other organisations read along, nothing but the channel's own.
    """
    here = said.place
    if here.chat == "terminal":
        return RoundQuery(containing)
    if here.chat in HOUSE:
        return RoundQuery(containing, chats=HOUSE, asker=said.asker.id)
    return RoundQuery(
        containing,
        chats=(here.chat,),
        workspace=here.workspace,
        here=here,
        only_here=said.asker.is_guest or said.is_shared,
    )


def listable(said: IncomingMessage, containing: str = "") -> RoundQuery:
    """Give the rounds that are listed for somebody: readable ones that somebody asked by itself.

    The many rounds of bake-offs are found by their bake-offs.
    """
    return replace(readable(said, containing), bakeoff="")


def check_own(access: Access, round_: Round, asker: Asker, what: str) -> None:
    """Raise NotYoursError unless this is the one who asked for the round, or an admin."""
    if asker.id != round_.question.asked_by and not access.is_admin(asker):
        whose = "the one who asked, or an admin," if access.admins else "the one who asked"
        raise NotYoursError(f"Only {whose} can {what}.")


def check_readable(round_: Round, said: IncomingMessage) -> None:
    """Raise RoundNotFoundError for a round that is not for this reader, as if there were none."""
    if not readable(said).admits(RoundSummary.of(round_)):
        raise RoundNotFoundError(f"There is no round {round_.id!r}.")


# --- Who may ask where, with which panels and how often, and who may read which rounds.


# --- Who may read which bake-offs, and whose they are: as rounds are, by where they report.


def listed_bakeoffs(said: IncomingMessage) -> BakeoffQuery:
    """Give which bake-offs to look through for somebody; each is to be checked."""
    return BakeoffQuery(scope=None if said.place.chat == "terminal" else said.place.scope)


def reads_bakeoff(said: IncomingMessage, bakeoff: Bakeoff) -> bool:
    """Say whether somebody may read a bake-off's rounds where they are."""
    line = RoundSummary(bakeoff.id, "", bakeoff.at, Stage.OPEN, bakeoff.asked_by, bakeoff.place)
    return readable(said).admits(line)


def check_own_bakeoff(access: Access, bakeoff: Bakeoff, asker: Asker, what: str) -> None:
    """Raise NotYoursError unless this is the one who began it, an admin, or the operator."""
    if asker.id in {bakeoff.asked_by, "terminal"} or access.is_admin(asker):
        return
    whose = "the one who began it, or an admin," if access.admins else "the one who began it"
    raise NotYoursError(f"Only {whose} can {what}.")
