"""Which leaderboard is wanted, and how a window of time is named. Pure: knows no store."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from council.bakeoffs.ports import WantedRecords
from council.errors import CouncilError
from council.research.judge_weights import NAMES

_AGO = re.compile(r"(\d{1,5})\s*(h|d|w|m|y)[a-z]*", re.IGNORECASE)
_UNITS = {
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
    "m": timedelta(days=30),
    "y": timedelta(days=365),
}


class SoughtError(CouncilError):
    """A leaderboard that cannot be given as it is asked for."""


@dataclass(frozen=True, slots=True)
class Sought:
    """Which rounds a leaderboard should count, whether it is of judges, and how these weigh.

    Without a version it is the one that was held last. `scope` None is every workspace's. Without
    `weights` there is nothing beside the official count.
    """

    suite: str = ""
    version: str = ""
    panel: str = ""
    category: str = ""
    since: datetime | None = None
    before: datetime | None = None
    as_judge: bool = False
    scope: str | None = None
    weights: str = ""

    @property
    def wanted(self) -> WantedRecords:
        """Give the records among which it is, every version of the suite among them."""
        return WantedRecords(
            scope=self.scope,
            suite=self.suite,
            panel=self.panel,
            category=self.category,
            since=self.since,
            before=self.before,
        )


def sought_by(given: Mapping[str, str], now: datetime) -> Sought:
    """Give what options mean, wherever they were chosen; those that are "" mean nothing.

    They are suite (`sql` or `sql@3f2a`), version, panel, category, since, until, as and weights.
    Raises SoughtError.
    """
    view = (given.get("as") or "author").lower()
    if view not in {"author", "judge"}:
        raise SoughtError(f"A leaderboard is as:author or as:judge, not as:{view}.")
    weights = given.get("weights", "").strip().lower()
    if weights not in {"", *NAMES}:
        raise SoughtError(f"Judges weigh by {', '.join(NAMES)}, not by {weights[:20]!r}.")
    suite, version = suite_and_version(given.get("suite", ""))
    since, until = given.get("since", ""), given.get("until", "")
    return Sought(
        suite,
        version or given.get("version", "").strip().lower(),
        given.get("panel", ""),
        given.get("category", ""),
        since_of(since, now) if since else None,
        before_of(until, now) if until else None,
        as_judge=view == "judge",
        weights=weights,
    )


def suite_and_version(text: str) -> tuple[str, str]:
    """Read `sql`, or `sql@3f2a` for one version of it."""
    name, _, version = text.partition("@")
    return name.strip(), version.strip().lower()


def since_of(text: str, now: datetime) -> datetime:
    """Give the start of a window: "30d", "2w", "12h" before now, or a day or moment.

    Days are UTC where no zone is named. Raises SoughtError.
    """
    if ago := _AGO.fullmatch(text.strip()):
        try:
            return now - int(ago[1]) * _UNITS[ago[2].lower()]
        except OverflowError:
            raise _unread(text) from None
    return _moment(text)


def before_of(text: str, now: datetime) -> datetime:
    """Give the end of a window; a day is within it to its last moment. Raises SoughtError."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return since_of(text, now)
    return datetime.combine(day, time(), UTC) + timedelta(days=1)


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise _unread(text) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _unread(text: str) -> SoughtError:
    return SoughtError(
        f"{text!r} is no time I can read: say 30d, 2w, 12h, 2026-11-21 or 2026-11-21T09:00."
    )
