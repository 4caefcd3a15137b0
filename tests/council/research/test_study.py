"""Arms, picks and paired intervals of a study, against a computation by hand."""

from dataclasses import replace
from math import sqrt

import pytest

from council.answers import Reply, Role
from council.errors import ContextOverflowError, GatewayError, UncoveredError
from council.research.study import (
    Arm,
    Fault,
    Given,
    Part,
    QuestionResult,
    Slot,
    StoredCall,
    arms_of,
    make_plan,
    mean_usd,
    measure_arms,
    measure_gains,
)
from tests.builders import CLAUDE, GEMINI, GPT
from tests.council.research.study_builders import (
    COUNCIL,
    FUSION,
    Pupils,
    a_study,
    run_live,
)

HALVES = {1: 2, 2: 2, 3: 1, 4: 2, 5: 1, 6: 1}  # of six questions, by the seed of a_study
T5 = 2.5705818366147395  # the .975-quantile of Student's t with 5 degrees of freedom
Z2 = 1.959963984540054**2


async def test_arms_and_paired_intervals_are_those_computed_by_hand() -> None:
    right = {CLAUDE: {1, 2, 3}, GPT: {3, 4, 5}, GEMINI: {6}}
    right |= {COUNCIL: {1, 2, 3, 4, 5}, FUSION: {1, 2, 6}}
    costs = {CLAUDE: 0.01, GPT: 0.02, GEMINI: 0.01}

    study = a_study(6)
    run, *_ = await run_live(study, Pupils(right=right, costs=costs, more=0.005))
    draws = {number: drawn for (_, number), drawn in run.draws.items()}
    by_arm = arms_of(study, run.plans["house"], run.of_panel("house"), draws)
    arms = {line.arm: line for line in measure_arms(by_arm)}
    gains = {gain.over: gain for gain in measure_gains(by_arm)}

    # On half 2 Claude has 1 and 2, GPT has 4; on half 1 GPT has 3 and 5, Claude has 3.
    assert study.halves == HALVES
    assert run.plans["house"].picks == {1: CLAUDE, 2: GPT}
    # So the best member is right on 3 (Claude) and on 4 (GPT).
    assert {number for number, one in by_arm[Arm.BEST].items() if one.right} == {3, 4}
    # A round: answers .04, three ballots and one synthesis .02; Claude's answer .01, GPT's .02.
    assert run.plans["house"].draws == {CLAUDE: 6, GPT: 3}
    assert arms[Arm.COUNCIL].cost_usd == pytest.approx(0.06)
    assert arms[Arm.BEST].cost_usd == pytest.approx((3 * 0.01 + 3 * 0.02) / 6)
    assert arms[Arm.DRAWS].cost_usd == pytest.approx(0.06)
    assert arms[Arm.FUSION].cost_usd == pytest.approx(0.045)
    assert arms[Arm.BEST].of_council == pytest.approx(0.25)
    assert arms[Arm.DRAWS].of_council == pytest.approx(1)
    assert [arms[arm].right for arm in Arm] == [2, 2, 3, 5]
    assert [arms[arm].mean for arm in Arm] == [2 / 6, 2 / 6, 3 / 6, 5 / 6]
    # Wilson: (k + z²/2 ± z·√(k(n − k)/n + z²/4)) / (n + z²).
    half = sqrt(Z2) * sqrt(5 * 1 / 6 + Z2 / 4)
    assert arms[Arm.COUNCIL].ci == pytest.approx(
        ((5 + Z2 / 2 - half) / (6 + Z2), (5 + Z2 / 2 + half) / (6 + Z2))
    )
    # Council minus best: 1, 1, 0, 0, 1, 0. Mean 1/2, variance (6 · 1/4)/5 = .3.
    error = T5 * sqrt(0.3 / 6)
    assert gains[Arm.BEST].mean == pytest.approx(0.5)
    assert gains[Arm.BEST].ci == pytest.approx((0.5 - error, min(1.0, 0.5 + error)))
    # Council minus fusion: 0, 0, 1, 1, 1, −1. Mean 1/3, variance (4 − 6/9)/5 = 2/3.
    error = T5 * sqrt(2 / 3 / 6)
    assert gains[Arm.FUSION].mean == pytest.approx(1 / 3)
    assert gains[Arm.FUSION].ci == pytest.approx((1 / 3 - error, min(1.0, 1 / 3 + error)))
    assert (gains[Arm.FUSION].right, gains[Arm.FUSION].other_right) == (5, 3)


def a_result(number: int, council: float | None, own: float | None, calls: int) -> QuestionResult:
    answers = {CLAUDE: Given(True, own), GPT: Given(None), GEMINI: Given(False, 0.5)}
    return QuestionResult("house", number, answers, {}, Given(True, council), calls)


@pytest.mark.parametrize(
    ("council", "own", "times"),
    [(0.35, 0.1, 3), (0.3, 0.1, 3), (0.05, 0.1, 1), (99.0, 0.1, 9), (None, 0.1, 7), (0.0, 0.0, 7)],
)
def test_a_member_is_drawn_as_often_as_the_council_pays_for_else_as_often_as_it_calls(
    council: float | None, own: float | None, times: int
) -> None:
    study = a_study(4, most_draws=9)
    results = [a_result(number, council, own, 7) for number in range(1, 5)]

    assert make_plan(study, study.panels[0], results).draws == {CLAUDE: times}


def test_of_equally_good_members_the_cheaper_is_picked_then_the_first() -> None:
    study = a_study(4)
    panel = study.panels[0]

    def plan(claude: float | None, gpt: float | None) -> str:
        answers = {CLAUDE: Given(True, claude), GPT: Given(True, gpt), GEMINI: Given(False)}
        results = [
            QuestionResult("house", number, answers, {}, Given(True), 7) for number in range(1, 5)
        ]
        return make_plan(study, panel, results).picks[1]

    assert plan(0.2, 0.1) == GPT
    assert plan(0.1, 0.1) == CLAUDE
    assert plan(None, 0.1) == GPT


def test_an_unknown_cost_leaves_the_arm_without_a_cost() -> None:
    by_arm = {
        Arm.BEST: {1: Given(True, None), 2: Given(False, 0.1)},
        Arm.COUNCIL: {1: Given(True, 0.5), 2: Given(True, 0.5)},
        Arm.FUSION: {},
    }

    best, council = measure_arms(by_arm)

    assert (best.cost_usd, best.of_council) == (None, None)
    assert (council.cost_usd, council.of_council) == (0.5, 1.0)
    assert [gain.over for gain in measure_gains(by_arm)] == [Arm.BEST]
    assert mean_usd([]) is None


def test_a_stored_fault_is_raised_as_it_was() -> None:
    slot = Slot("house", 1, Part.ROUND, Role.ANSWER, CLAUDE)
    raised = {
        Fault.FAILED: GatewayError,
        Fault.TOO_LONG: ContextOverflowError,
        Fault.REFUSED: UncoveredError,
    }

    for fault, error in raised.items():
        with pytest.raises(error, match="why"):
            StoredCall(slot, "", fault=fault, why="why").outcome()
    assert StoredCall(slot, "", Reply("Yes.")).outcome().text == "Yes."


def test_an_arm_that_the_study_lacks_has_no_answers() -> None:
    study = a_study(4, arms=(Arm.BEST, Arm.COUNCIL))
    result = a_result(1, 0.1, 0.1, 7)

    assert arms_of(study, None, [result], {}) == {Arm.BEST: {}, Arm.COUNCIL: {1: result.council}}


def test_the_digest_covers_the_digests_of_the_files() -> None:
    study = a_study(4)

    assert study.digest != replace(study, files=(("study.toml", "1"),)).digest
    assert study.digest == replace(study, name="other").digest
