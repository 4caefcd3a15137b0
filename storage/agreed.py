"""What every way of keeping suites, bake-offs and schedules agrees on."""

from council.bakeoffs.models import Schedule
from council.bakeoffs.ports import KeptSuite, SuiteLine
from council.errors import BakeoffError, ScheduleError, SuiteError


def line_of(kept: KeptSuite) -> SuiteLine:
    """Give a kept suite in one line."""
    suite = kept.suite
    graded = sum(question.reference is not None for question in suite.questions)
    counts = (len(suite.questions), graded)
    return SuiteLine(suite.name, suite.scope, suite.version, *counts, kept.at, kept.by)


def newest_slot(before: Schedule, after: Schedule) -> str:
    """Give the slot a changed schedule has taken last: in one zone it never goes back."""
    if before.zone != after.zone:
        return after.last_slot
    return max(before.last_slot, after.last_slot)


def no_suite(name: str, version: str = "") -> SuiteError:
    """Give the error for a suite that is not there."""
    which = f"version {version!r} of suite {name!r}" if version else f"suite {name!r}"
    return SuiteError(f"There is no {which}: `/council suite` lists those there are.")


def no_bakeoff(bakeoff_id: str) -> BakeoffError:
    """Give the error for a bake-off that is not there."""
    return BakeoffError(
        f"There is no bake-off {bakeoff_id!r}: `/council bakeoff` lists those there are."
    )


def name_taken(name: str) -> ScheduleError:
    """Give the error for a schedule whose name another has."""
    return ScheduleError(f"There is a schedule {name!r} already: give this one another name.")
