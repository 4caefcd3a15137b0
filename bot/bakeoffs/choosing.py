"""Which records a leaderboard counts, one version of a suite at a time. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence

from bot.bakeoffs.sought import Sought
from bot.render.leaderboard_tables import Coverage
from council.bakeoffs.records import Packed


def chosen(records: Sequence[Packed], sought: Sought) -> tuple[Sequence[Packed], Coverage]:
    """Give the records that count among those wanted, oldest first, and what they are.

    Of a suite one version counts: the one that is named, else the one that was held last.
    """
    version, rounds = sought.version, Counter(record.suite_version for record in records)
    if sought.suite:
        held = records[-1].suite_version if records else ""
        version = next((one for one in rounds if version and one.startswith(version)), version)
        version = version or held
        counted = [record for record in records if record.suite_version == version]
        left_out = tuple((one, number) for one, number in rounds.items() if one != version)
    else:
        counted, left_out = [*records], ()
    return counted, _coverage(counted, sought, version, left_out)


def choices_of(every: Sequence[Packed], suite: str = "") -> Mapping[str, tuple[str, ...]]:
    """Give by option what can be chosen among records; versions and categories are a suite's."""
    kinds = {(x.suite, x.suite_version, x.panel, x.category) for x in every}
    choices = {
        "suite": {name for name, _, _, _ in kinds},
        "version": {v for name, v, _, _ in kinds if suite and name == suite},
        "panel": {panel for _, _, panel, _ in kinds},
        "category": {c for name, _, _, c in kinds if suite in {"", name}},
    }
    return {name: tuple(sorted(values - {""})) for name, values in choices.items()}


def _coverage(
    counted: Sequence[Packed],
    sought: Sought,
    version: str,
    left_out: tuple[tuple[str, int], ...],
) -> Coverage:
    suites = Counter((record.suite, record.suite_version) for record in counted)
    return Coverage(
        rounds=len(counted),
        suite=sought.suite,
        version=version,
        panel=sought.panel,
        category=sought.category,
        first=counted[0].asked_at if counted else None,
        last=counted[-1].asked_at if counted else None,
        panels=tuple(sorted({record.panel for record in counted})),
        suites=tuple((*key, number) for key, number in sorted(suites.items())),
        left_out=left_out,
        since=sought.since,
        before=sought.before,
    )
