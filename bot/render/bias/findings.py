"""What a report comes to, in plain sentences: what was found first, then what nobody can say."""

from collections.abc import Iterator
from datetime import timedelta

from bot.render.bias.branding import brand_lines
from bot.render.bias.effects import rounds_and_ballots
from bot.render.bias.found import NOTHING, found_lines
from bot.render.bias.shown import ShownBias
from bot.render.bias.unsettled import none_lines, open_lines, sign_lines
from bot.render.boards.coverage import Coverage, nothing
from bot.render.figures import listed

HOW = (
    "Found is what stays beyond chance when all that is tested is taken into account "
    "(p at most .05, after Holm). Shares are of rivals beaten: 0 is last, 1 is first."
)


def findings(shown: ShownBias) -> tuple[str, ...]:
    """Give every finding, the sure ones first."""
    found = [*found_lines(shown), *brand_lines(shown)] or [NOTHING]
    return (*found, *sign_lines(shown), *none_lines(shown), *open_lines(shown))


def covers(shown: ShownBias) -> str:
    """Say what was looked at; where nothing fits, what to do."""
    coverage, report = shown.coverage, shown.report
    if not report.rounds:
        return nothing(coverage)
    said = [f"Over {rounds_and_ballots(report.rounds, report.ballots)}", *_narrowed(coverage)]
    return f"{', '.join(said)}."


def _narrowed(coverage: Coverage) -> Iterator[str]:
    if coverage.suite:
        yield f"suite {coverage.suite} in all its versions"
    if coverage.category:
        yield f"category {coverage.category}"
    if coverage.panel:
        yield f"panel {coverage.panel}"
    window = []
    if coverage.since:
        window.append(f"since {coverage.since:%Y-%m-%d}")
    if coverage.before:
        window.append(f"until {coverage.before - timedelta(microseconds=1):%Y-%m-%d}")
    if window:
        yield f"asked {listed(window)}"
