"""What a leaderboard counts, in one honest sentence: which rounds, and which are left out."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.render.figures import counted, listed

VERSION_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Coverage:
    """The rounds a leaderboard counts.

    `suites` tells how many are of which suite and version, ("", "") of none; `left_out` how many
    there are of other versions of the suite that is meant.
    """

    rounds: int = 0
    suite: str = ""
    version: str = ""
    panel: str = ""
    category: str = ""
    first: datetime | None = None
    last: datetime | None = None
    panels: tuple[str, ...] = ()
    suites: tuple[tuple[str, str, int], ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()
    since: datetime | None = None
    before: datetime | None = None


def covers(coverage: Coverage) -> str:
    """Say what is counted, and what is not."""
    return " ".join([f"{_counted(coverage)}{_when(coverage)}.", *_left_out(coverage)])


def nothing(coverage: Coverage) -> str:
    """Say that there is nothing to count yet, and what to do."""
    narrowed = any((coverage.panel, coverage.category, coverage.since, coverage.before))
    if coverage.left_out:
        versions = listed(version[:VERSION_SHOWN] for version, _ in coverage.left_out)
        return (
            f"No round of suite {coverage.suite} in version {coverage.version} has been held; "
            f"there are rounds of {versions}."
        )
    if narrowed:
        return "No round fits: widen the window, or leave out the panel or the category."
    if coverage.suite:
        return (
            f"No round of suite {coverage.suite} has been held yet: "
            f"`/council bakeoff {coverage.suite}` holds it."
        )
    return "No round has been held yet: ask a question, or hold a suite with `/council bakeoff`."


def _counted(coverage: Coverage) -> str:
    said = counted(coverage.rounds, "round")
    if coverage.suite:
        said += f" of suite {coverage.suite}, version {coverage.version[:VERSION_SHOWN]}"
    elif kinds := [*_kinds(coverage)]:
        said += f": {listed(kinds)}"
    if coverage.category:
        said += f", category {coverage.category}"
    if coverage.panel:
        return f"{said}, panel {coverage.panel}"
    if len(coverage.panels) > 1:
        return f"{said}, panels {listed(coverage.panels)}"
    return f"{said}, panel {coverage.panels[0]}" if coverage.panels else said


def _kinds(coverage: Coverage) -> Iterator[str]:
    """Give what the rounds of a board over everything are, no version mixed in unseen."""
    rounds, versions = Counter[str](), Counter[str]()
    for name, _, number in coverage.suites:
        rounds[name] += number
        versions[name] += 1
    for name, number in rounds.items():
        if name:
            mixed = f" in {versions[name]} versions" if versions[name] > 1 else ""
            yield f"{number} of suite {name}{mixed}"
    if rounds[""] and len(rounds) > 1:
        yield f"{rounds['']} that people asked"


def _when(coverage: Coverage) -> str:
    if not coverage.first or not coverage.last:
        return ""
    if coverage.last - coverage.first < timedelta(days=1):
        return f", {_day(coverage.last)}"
    return f", {_day(coverage.first)} to {_day(coverage.last)}"


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def _left_out(coverage: Coverage) -> Iterator[str]:
    if coverage.left_out:
        number = sum(rounds for _, rounds in coverage.left_out)
        versions = counted(len(coverage.left_out), "other version")
        is_are = "is" if number == 1 else "are"
        yield f"{counted(number, 'round')} of {versions} {is_are} left out."
