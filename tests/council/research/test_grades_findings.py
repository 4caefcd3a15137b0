"""Findings in grades, and missing data."""

import random

import pytest

from council.research.grades import FindingKind, Grade, build_grade_report, findings
from tests.council.research.grade_tables import POS, over_items


def drawn(own: float = 0.0, strict: float = 0.0, items: int = 60) -> list[Grade]:
    """Return four judges' grades, of whom a prefers its own work and c is strict."""
    chance = random.Random(5)
    return [
        Grade(str(item), POS, judge, author, int(mean + chance.random()))
        for item in range(items)
        for judge in "abcd"
        for author in "abcd"
        for mean in [3.5 + own * (judge == author == "a") - strict * (judge == "c")]
    ]


def kinds(grades: list[Grade]) -> set[tuple[FindingKind, str]]:
    return {(finding.kind, finding.row.judge) for finding in findings(build_grade_report(grades))}


def test_a_preference_is_found_in_its_judge_only() -> None:
    found = kinds(drawn(own=1.0))

    assert {name for kind, name in found if kind is FindingKind.PREFERENCE} == {"a"}


def test_nothing_is_found_without_bias() -> None:
    assert kinds(drawn()) == set()


@pytest.mark.parametrize(
    ("grades", "kind"),
    [
        pytest.param([Grade("1", POS, "a", "b", 4.0)], FindingKind.NO_OWN, id="no-own-work"),
        pytest.param(over_items(["4 3/2 3"] * 5), FindingKind.NO_PEERS, id="two-judges"),
        pytest.param(over_items(["4 3 2/2 3 4/4 3 3"] * 2), FindingKind.TOO_FEW, id="two-items"),
        pytest.param(over_items(["3 3 3/3 3 3/3 3 3"] * 9), FindingKind.ALIKE, id="all-ties"),
    ],
)
def test_missing_data_is_named(grades: list[Grade], kind: FindingKind) -> None:
    found = findings(build_grade_report(grades))

    assert {finding.kind for finding in found} == {kind}
    assert not any(finding.is_found for finding in found)
