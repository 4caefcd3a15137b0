"""Budget caps: accounts that spend, caps over them, usage, and the message of a refusal."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

from council.money import format_rounded_usd, format_usd
from council.places import Place
from council.rounds import Round

_RELEASE_TIME = timedelta(minutes=1)  # in which a running round may end
_SCHEDULED = "sched:"  # prefix of the id of a scheduled round: sched:<schedule>@<slot>


class Scope(StrEnum):
    """What a cap limits, and for how long."""

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
class ChosenCaps:
    """Daily caps that the admins of a workspace chose: of all of it, and of each channel in it."""

    workspace_day: int | None = None
    channel_day: int | None = None


@dataclass(frozen=True, slots=True)
class Caps:
    """The cap of each scope in micro-dollars; None is unlimited.

    `channels` and `workspaces` override the daily caps of single channels and workspaces, by id.
    `unknown_prices` allows seats without a known price. `own_channel`: one asker alone spends in
    the channel, whose cap is the asker's.
    """

    user_day: int | None = None
    channel_day: int | None = None
    workspace_day: int | None = None
    schedule_day: int | None = None
    day: int | None = None
    month: int | None = None
    unknown_prices: bool = True
    own_channel: bool = False
    channels: Mapping[str, int] = field(default_factory=dict)
    workspaces: Mapping[str, int] = field(default_factory=dict)

    def for_account(self, account: "Account", chosen: ChosenCaps = ChosenCaps()) -> "Caps":
        """Return the caps of an account, with the overrides of its channel and workspace.

        A cap that its admins chose counts where there is none.
        """
        channel_day = self.channels.get(_last_part(account.channel), self.channel_day)
        workspace_day = self.workspaces.get(_last_part(account.workspace), self.workspace_day)
        return replace(
            self,
            channel_day=chosen.channel_day if channel_day is None else channel_day,
            workspace_day=chosen.workspace_day if workspace_day is None else workspace_day,
        )

    def of(self, scope: Scope) -> int | None:
        """Return a scope's cap, or None without one."""
        cap: int | None = getattr(self, scope)
        return cap


@dataclass(frozen=True, slots=True)
class Account:
    """Whom a round's cost on one day is charged to; an empty field has no cap of its kind."""

    round_id: str
    day: date
    asker: str = ""
    channel: str = ""
    schedule: str = ""

    @classmethod
    def of(cls, round_: Round, now: datetime) -> "Account":
        """Return the account of a round that spends now."""
        question = round_.question
        day = now.astimezone(UTC).date()
        channel, schedule = channel_account(question.place), schedule_of_round(round_.id)
        return cls(round_.id, day, payer(question.asked_by), channel, schedule)

    @property
    def workspace(self) -> str:
        """The workspace part of the channel; "" for a channel outside any workspace."""
        workspace = self.channel.rpartition("/")[0]
        return workspace if _last_part(workspace) else ""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Every scope that includes the account."""
        names = {
            Scope.USER_DAY: self.asker,
            Scope.CHANNEL_DAY: self.channel,
            Scope.WORKSPACE_DAY: self.workspace,
            Scope.SCHEDULE_DAY: self.schedule,
        }
        return tuple(scope for scope in Scope if names.get(scope) != "")

    @property
    def month(self) -> tuple[date, date]:
        """The first day of the account's month, and of the following month."""
        first = self.day.replace(day=1)
        return first, (first + timedelta(days=32)).replace(day=1)


@dataclass(frozen=True, slots=True)
class OwnBudget:
    """Budget of an asker with a limit of its own, such as an API key; amounts in micro-dollars.

    `shared_with` is the account whose daily budget it spends too; "" is nobody's. Then all that the
    asker spends has to be in a channel of its own, where `cap` applies.
    """

    cap: int | None = None
    shared_with: str = ""

    def apply(self, account: Account, caps: Caps) -> tuple[Account, Caps]:
        """Return the account that pays, and its caps: an own cap replaces that of every asker."""
        if self.cap is not None and self.shared_with:
            channel_day = self.cap if caps.channel_day is None else min(self.cap, caps.channel_day)
            caps = replace(caps, channel_day=channel_day, own_channel=True)
        elif self.cap is not None:
            caps = replace(caps, user_day=self.cap)
        return replace(account, asker=self.shared_with or account.asker), caps


def payer(asker_id: str) -> str:
    """Return the account name of an asker: on the page, that of everybody at the same address.

    A visitor of the page is `web:ADDRESS.VISITOR`, and dropping a cookie makes another visitor.
    """
    chat, _, visitor = asker_id.partition(":")
    return f"web:{visitor.rpartition('.')[0]}" if chat == "web" else asker_id


def channel_account(place: Place) -> str:
    """Return the account name of a channel, CHAT/WORKSPACE/CHANNEL; "" without a place."""
    return "/".join((place.chat, place.workspace, payer(place.within))) if place.chat else ""


def schedule_of_round(round_id: str) -> str:
    """Return the id of the schedule that asked for a round; "" if a person asked."""
    before, _, rest = round_id.partition(_SCHEDULED)
    return "" if before or not rest else rest.rpartition("@")[0]


@dataclass(frozen=True, slots=True)
class CapUsage:
    """What a cap has used, in micro-dollars; `reserved` is what is not spent yet."""

    spent: int = 0
    reserved: int = 0
    unknown_calls: int = 0

    @property
    def total(self) -> int:
        """What is not available to other rounds."""
        return self.spent + self.reserved


@dataclass(frozen=True, slots=True)
class CapRefusal:
    """The cap that an amount would exceed."""

    scope: Scope
    cap: int
    used: CapUsage

    @property
    def budget(self) -> str:
        """The cap in words."""
        return _BUDGETS[self.scope].format(cap=format_usd(self.cap))

    def retry_at(self, now: datetime) -> datetime:
        """Return when the cap may have room: in a moment while rounds run, else at its end."""
        if self.used.reserved:
            return now + _RELEASE_TIME
        today = now.astimezone(UTC).date()
        end = today + timedelta(days=1)
        if self.scope is Scope.MONTH:
            end = Account("", today).month[1]
        return datetime.combine(end, time(), UTC)

    def sentence(self, wanted: int, day: date) -> str:
        """Return the message for the asker: the cost, what is left, and when to ask again."""
        left, when = format_usd(max(0, self.cap - self.used.total)), "after midnight UTC"
        if self.scope is Scope.MONTH:
            first = Account("", day).month[1]
            when = f"on {first.day} {first:%B} (UTC)"
        if self.used.reserved:
            when = f"once a running round ends, or {when}"
        return (
            f"This round may cost {format_rounded_usd(wanted)}, but only {left} is left of "
            f"{self.budget}. Ask again {when}."
        )


def find_refusal(caps: Caps, used: Mapping[Scope, CapUsage], wanted: int) -> CapRefusal | None:
    """Return the first cap that `wanted` more micro-dollars would exceed, or None."""
    for scope, usage in used.items():
        cap = caps.of(scope)
        if cap is not None and usage.total + wanted > cap:
            is_own = scope is Scope.CHANNEL_DAY and caps.own_channel
            return CapRefusal(Scope.USER_DAY if is_own else scope, cap, usage)
    return None


def _last_part(account_name: str) -> str:
    return account_name.rpartition("/")[2]
