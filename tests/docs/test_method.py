"""The worked example of a verdict in the method counts as it says."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from council.labels import Label
from council.tally import Strength, count_ballots
from council.tally.borda import pair_matrix
from council.tally.chance import null_distribution
from council.tally.chance_rule import DEFAULT_RULE
from tests.builders import a_ballot

TEXT = (Path(__file__).parents[2] / "docs" / "research" / "method.md").read_text(encoding="utf-8")
EXAMPLE = TEXT.partition("**Worked example.** Five members")[2].partition("## Audit")[0]
RANKINGS = {
    "A": ["C > D > B > E"],
    "B": ["A > C > D > E"],
    "C": ["A > D > B > E"],
    "D": ["A > B > E > C"],
    "E": ["A > D > C > B"],
    "X": ["A > B > C > D > E", "C > A > B > D > E"],
}


def number(pattern: str) -> float:
    """Return the number that the example has in this place."""
    found = re.search(pattern, EXAMPLE)
    assert found, pattern
    return float(found[1].replace(",", ""))


def test_the_worked_example_of_a_verdict_is_what_the_program_counts() -> None:
    ballots = [
        replace(a_ballot(ranking.replace(" >", ""), by=judge), pass_number=number)
        for judge, rankings in RANKINGS.items()
        for number, ranking in enumerate(rankings, start=1)
    ]
    labels = [*map(Label, "ABCDE")]

    tally = count_ballots(labels, ballots, "")

    for judge, rankings in RANKINGS.items():
        assert f"{judge}: {', then '.join(rankings)}" in EXAMPLE
    first, second, *_ = tally.standings
    assert first.share == number(r"\| A \|.*?\| (\.\d+) \|")
    assert second.share == number(r"\| C \|.*?\| (\.\d+) \|")
    assert pair_matrix(ballots)[labels[0], labels[2]] * 4 == 3.5
    lead = first.share - second.share
    assert lead == number(r"leads C by (\.\d+)\.\n")
    shown = [tuple(x for x in labels if x != own) for own in labels]
    outcomes = null_distribution([*shown, tuple(labels)], "", DEFAULT_RULE, (), [1] * 5 + [2])
    assert outcomes.counts is not None
    assert outcomes.leads is not None
    assert outcomes.finer
    of_coarse = replace(outcomes, finer=None).p_value(first.share, lead)
    fine = outcomes.finer()
    above, reached, with_lead = (
        number(r"in ([\d,]+) some answer has a higher"),
        number(r"in ([\d,]+) the same"),
        number(r"([\d,]+) of these with such a lead"),
    )
    assert of_coarse == pytest.approx(number(r"draws give (\.\d+),"), abs=5e-5)
    assert tally.verdict.p == pytest.approx((1 + above + with_lead) / 200_001)
    assert tally.verdict.p == pytest.approx(number(r"/ 200,001 = (\.\d+);"), abs=5e-4)
    without = fine.p_value(first.share, 0.0)
    assert without == pytest.approx((1 + above + reached) / 200_001)
    assert without == pytest.approx(number(r"it would be (\.\d+)\."), abs=5e-4)
    assert tally.verdict.strength is Strength.CLEAR
