"""The bias report finds exactly what is planted in simulated judges."""

from dataclasses import replace

import pytest

from council.bakeoffs.records import PackedRecord
from council.bias.measurement import measure_bias
from council.bias.report import BiasReport, JudgeBias
from council.bias.vote_arrays import pack_votes, vote_blocks
from council.research.simulated_judges import (
    Biases,
    SimulatedPanel,
    simulated_rounds,
    uniform_panel,
)
from tests.builders import ASKED_AT
from tests.fakes.simulated_votes import kept_votes

RECORD = PackedRecord("r", ASKED_AT, "house", "", "", 0, "", "", "", "[]", b"", 1)
MAKERS = ("openai", "openai", "google", "xai", "mistral")


def report(biases: Biases, rounds: int = 900, seed: str = "seed") -> BiasReport:
    """Measure a panel in which the first judge is swayed and the others are not."""
    plain = replace(Biases(), noise=biases.noise)
    panel = SimulatedPanel(MAKERS, (biases, *[plain] * 4))
    held = simulated_rounds(panel, rounds, seed)
    return measure_bias(vote_blocks([pack_votes(votes, RECORD) for votes in kept_votes(held)]))


def found(judge: JudgeBias) -> set[str]:
    """Name what was found of a judge."""
    effects = {
        "own": judge.own,
        "family": judge.family,
        "named": judge.named,
        "position": judge.position,
        "length": judge.length,
    }
    return {name for name, effect in effects.items() if effect.is_found}


@pytest.mark.parametrize(
    ("biases", "planted"),
    [
        pytest.param(Biases(own=3.0), {"own"}, id="self-preference"),
        pytest.param(Biases(family=1.5), {"family"}, id="family"),
        pytest.param(Biases(brand=3.0), {"named"}, id="brand"),
        pytest.param(Biases(position=1.0), {"position"}, id="position"),
        pytest.param(Biases(letter=1.0), {"position"}, id="letter"),
        pytest.param(Biases(length=1.0), {"length"}, id="length"),
    ],
)
def test_what_is_planted_in_one_judge_is_found_in_it_alone(
    biases: Biases, planted: set[str]
) -> None:
    swayed, *others = sorted(report(biases).judges, key=lambda one: one.judge != "openai/1")

    assert swayed.judge == "openai/1"
    assert found(swayed) == planted
    assert [found(one) for one in others] == [set()] * 4


def test_nothing_is_found_where_nothing_is_planted() -> None:
    assert [found(one) for one in report(Biases()).judges] == [set()] * 5


def test_every_round_has_an_audit_and_all_kinds_and_judges_take_turns() -> None:
    held = simulated_rounds(uniform_panel(3), 18, "seed")

    audits = [votes.audit for votes in kept_votes(held)]

    seen = {(audit.kind, audit.judge) for audit in audits if audit}
    assert len(seen) == 9
    assert all(audit and audit.vote for audit in audits)
