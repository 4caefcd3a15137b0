"""Who spends, under which caps, and what to say where a cap is reached."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from council.money import about, dollars
from council.places import Place
from council.rounds import Round

# --- Who spends, under which caps, and what to say where a cap is reached.

_SCHEDULED = "sched:"  # how the id of a scheduled round begins: sched:<schedule>@<slot>
_LONGER_THAN_A_MONTH = timedelta(days=32)


class Scope(StrEnum):
    """Over what a cap counts."""

    USER_DAY = "user_day"
    CHANNEL_DAY = "channel_day"
    WORKSPACE_DAY = "workspace_day"
    SCHEDULE_DAY = "schedule_day"
    DAY = "day"
    MONTH = "month"


_BUDGETS = {
    Scope.USER_DAY: "your budget of {cap} a day",
    Scope.CHANNEL_DAY: "this channel's budget of {cap} a day",
    Scope.WORKSPACE_DAY: "this workspace's budget of {cap} a day",
    Scope.SCHEDULE_DAY: "this schedule's budget of {cap} a day",
    Scope.DAY: "the budget of {cap} a day",
    Scope.MONTH: "the budget of {cap} a month",
}


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that may be spent over each scope; None is no cap.

    `channels` and `workspaces` are the caps of single ones a day, by their own ids, in place of the
    general ones. `unknown_prices` says whether a seat may sit whose price nobody knows.
    """

    user_day: int | None = None
    channel_day: int | None = None
    workspace_day: int | None = None
    schedule_day: int | None = None
    day: int | None = None
    month: int | None = None
    unknown_prices: bool = True
    channels: Mapping[str, int] = field(default_factory=dict)
    workspaces: Mapping[str, int] = field(default_factory=dict)

    def under(self, account: "Account") -> "Caps":
        """Give the caps that hold for an account: a place's own cap replaces the general one."""
        channel, workspace = _own(account.channel), _own(account.workspace)
        return replace(
            self,
            channel_day=self.channels.get(channel, self.channel_day),
            workspace_day=self.workspaces.get(workspace, self.workspace_day),
        )

    def of(self, scope: Scope) -> int | None:
        """Give a scope's cap, or None where it has none."""
        return {
            Scope.USER_DAY: self.user_day,
            Scope.CHANNEL_DAY: self.channel_day,
            Scope.WORKSPACE_DAY: self.workspace_day,
            Scope.SCHEDULE_DAY: self.schedule_day,
            Scope.DAY: self.day,
            Scope.MONTH: self.month,
        }[scope]


@dataclass(frozen=True, slots=True)
class Account:
    """Under whom a round's money is counted on one day; empty is nobody, and no cap of theirs."""

    round_id: str
    day: date
    asker: str = ""
    channel: str = ""
    schedule: str = ""

    @classmethod
    def of(cls, round_: Round, now: datetime) -> "Account":
        """Give the account of a round that spends now."""
        asked = round_.question
        day = now.astimezone(UTC).date()
        return cls(round_.id, day, asked.asked_by, channel_of(asked.place), schedule_of(round_.id))

    @property
    def workspace(self) -> str:
        """The name a workspace's money is counted under; "" for a channel that is of none."""
        workspace = self.channel.rpartition("/")[0]
        return workspace if _own(workspace) else ""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Every scope the account falls under."""
        own = {
            Scope.USER_DAY: self.asker,
            Scope.CHANNEL_DAY: self.channel,
            Scope.WORKSPACE_DAY: self.workspace,
            Scope.SCHEDULE_DAY: self.schedule,
        }
        return tuple(scope for scope in Scope if own.get(scope, "everybody"))

    @property
    def month(self) -> tuple[date, date]:
        """The first day of the account's month, and of the month after."""
        first = self.day.replace(day=1)
        return first, (first + _LONGER_THAN_A_MONTH).replace(day=1)

    def shares(self, scope: Scope, other: "Account") -> bool:
        """Say whether another account counts under the same cap of this scope."""
        if scope is Scope.MONTH:
            first, after = self.month
            return first <= other.day < after
        own = {
            Scope.USER_DAY: (self.asker, other.asker),
            Scope.CHANNEL_DAY: (self.channel, other.channel),
            Scope.WORKSPACE_DAY: (self.workspace, other.workspace),
            Scope.SCHEDULE_DAY: (self.schedule, other.schedule),
        }
        mine, theirs = own.get(scope, ("", ""))
        return self.day == other.day and mine == theirs


def channel_of(place: Place) -> str:
    """Give the name a channel's money is counted under; "" for no place at all."""
    return "/".join((place.chat, place.workspace, place.within)) if place.chat else ""


def _own(name: str) -> str:
    """Give the id that the name of a channel or a workspace ends with."""
    return name.rpartition("/")[2]


def schedule_of(round_id: str) -> str:
    """Give the schedule that asked for a round; "" where somebody asked."""
    begins, _, rest = round_id.partition(_SCHEDULED)
    return "" if begins or not rest else rest.rpartition("@")[0]


@dataclass(frozen=True, slots=True)
class CapUsage:
    """What of a scope is gone: spent, and reserved beyond that for rounds under way.

    `unknown_calls` are those whose cost nobody told.
    """

    spent: int = 0
    reserved: int = 0
    unknown_calls: int = 0

    @property
    def total(self) -> int:
        """What nobody else can have."""
        return self.spent + self.reserved


@dataclass(frozen=True, slots=True)
class CapRefusal:
    """The cap under which an amount does not fit."""

    scope: Scope
    cap: int
    used: CapUsage

    @property
    def budget(self) -> str:
        """The cap in words."""
        return _BUDGETS[self.scope].format(cap=dollars(self.cap))

    def sentence(self, wanted: int, day: date) -> str:
        """Say what a round may cost, what is left, and when there is more."""
        left = dollars(max(0, self.cap - self.used.total))
        return (
            f"This round may cost {about(wanted)}, and {left} is left of {self.budget}: "
            f"ask again {self._when(day)}."
        )

    def _when(self, day: date) -> str:
        if self.scope is Scope.MONTH:
            first = Account("", day).month[1]
            after = f"on {first.day} {first:%B} (UTC)"
        else:
            after = "after midnight UTC"
        return f"once a round under way has ended, or {after}" if self.used.reserved else after


def refusal(caps: Caps, used: Mapping[Scope, CapUsage], wanted: int) -> CapRefusal | None:
    """Give the first cap that would be exceeded by so much more; None if all hold."""
    for scope, gone in used.items():
        cap = caps.of(scope)
        if cap is not None and gone.total + wanted > cap:
            return CapRefusal(scope, cap, gone)
    return None


# --- Messages on their way out: claimed before they are sent, marked after.


@dataclass(frozen=True, slots=True)
class Claim:
    """A message somebody has undertaken to send; `message` is the chat's id once it is sent.

    `is_new` says that nobody had claimed it before. `age_seconds` is how long ago it was claimed,
    by one clock for all: that of whoever keeps the claims. The moment itself only tells claims
    apart.
    """

    key: str
    claimed_at: datetime
    message: str | None = None
    is_new: bool = False
    age_seconds: float = 0.0
