"""Records of rounds that outside judges graded by a rubric."""

from dataclasses import replace

from council.bakeoffs.models import Bakeoff, Grading, Reference, Suite, SuiteQuestion
from council.bakeoffs.records import Record, build_record
from council.errors import GatewayError
from council.panel import Panel
from council.places import NOWHERE
from council.rounds import Round
from tests.builders import ASKED_AT, DEEPSEEK, GROK
from tests.council.pipeline.helpers import run_with_fakes
from tests.council.test_rubric_grader import (
    RUBRIC,
    GradingGateway,
    a_rubric_round,
    meets_no,
    meets_yes,
)


def a_rubric_bakeoff(panel: Panel) -> Bakeoff:
    asked = SuiteQuestion("Is it?", reference=Reference(Grading.JUDGE, RUBRIC))
    return Bakeoff("b", Suite("s", (asked,)), panel, NOWHERE, "U1", ASKED_AT)


def record_of(round_: Round) -> Record:
    return build_record(replace(round_, id="b.1"), a_rubric_bakeoff(round_.panel))


async def test_the_majority_says_what_is_correct_and_a_tie_decides_nothing() -> None:
    gateway = GradingGateway({DEEPSEEK: meets_yes, GROK: meets_no})
    agreed = await run_with_fakes(
        a_rubric_round(), GradingGateway({DEEPSEEK: meets_yes, GROK: meets_yes})
    )

    split = await run_with_fakes(a_rubric_round(), gateway)

    assert [one.correct for one in record_of(agreed).authored] == [True, False, False]
    assert record_of(agreed).whole.council_correct is True
    assert [one.correct for one in record_of(split).authored] == [None, False, False]
    assert record_of(split).whole.council_correct is None


async def test_without_usable_grades_nothing_is_correct_or_wrong() -> None:
    gateway = GradingGateway({DEEPSEEK: GatewayError("is out of credit"), GROK: "Both are fine."})

    round_ = await run_with_fakes(a_rubric_round(), gateway)

    assert [one.correct for one in record_of(round_).authored] == [None] * 3
    assert record_of(round_).whole.council_correct is None
