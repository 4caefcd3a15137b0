"""Who may ask the council where, and with which panels. Pure: knows no store and no clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.chat import Asker, Said
from council.errors import CouncilError
from council.panel import Panel
from council.places import HOUSE, Place


class NotAdmittedError(CouncilError):
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


def admitted(access: Access, said: Said) -> None:
    """Raise NotAdmittedError, which says where to turn, unless this may be said here.

    The terminal and the page are open to whoever can reach them.
    """
    if said.place.chat in HOUSE:
        return
    admin = _admin(access)
    if said.asker.is_guest and not access.guests:
        raise NotAdmittedError(
            f"The council is not open to guests: have a member ask for you, or ask {admin}."
        )
    if access.roles and said.asker.roles is not None:
        _check_roles(access, said, admin)
    if said.is_shared and not access.shared_channels:
        raise NotAdmittedError(
            "The council is not open in channels shared with other organisations: ask in a channel "
            f"of your own, or ask {admin}."
        )
    if said.place.within in (access.channels or ()):
        return
    if said.is_direct and not access.direct_messages:
        raise NotAdmittedError(
            f"The council is not open in direct messages: ask in a channel, or ask {admin}."
        )
    if not said.is_direct and access.channels is not None:
        raise NotAdmittedError(
            "The council is not open in this channel: ask in one of those it is open in, or ask "
            f"{admin}."
        )


def _check_roles(access: Access, said: Said, admin: str) -> None:
    if said.is_direct and not said.asker.roles:
        raise NotAdmittedError(
            "The council is open to certain roles, and in direct messages nobody has any: ask in a "
            "channel."
        )
    if set(access.roles).isdisjoint(said.asker.roles or ()):
        raise NotAdmittedError(
            f"The council is open to certain roles, and you have none of them: ask {admin}."
        )


def _admin(access: Access) -> str:
    return "one of its admins" if access.admins else "whoever runs it"


def allows(access: Access, place: Place, panel: Panel) -> bool:
    """Say whether every seat of a panel is of a provider that may be used in a place."""
    return not _others(access, place, panel)


def check_panel(access: Access, place: Place, panel: Panel) -> None:
    """Raise NotAdmittedError for a panel with a seat that may not be used in a place."""
    if others := _others(access, place, panel):
        vendors = ", ".join(access.rules_in(place).vendors)
        raise NotAdmittedError(
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
