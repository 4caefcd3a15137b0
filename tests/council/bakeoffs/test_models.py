"""Bake-offs, their rounds, progress and queries."""

from dataclasses import replace

import pytest

from council.bakeoffs.costs import estimate_run
from council.bakeoffs.models import (
    Bakeoff,
    BakeoffProgress,
    Ending,
    FailedQuestion,
    Grading,
    Reference,
    Suite,
    SuiteQuestion,
    slot_at,
    split_round_id,
    with_method,
)
from council.bakeoffs.ports import RecordQuery
from council.bakeoffs.record_arrays import pack_record
from council.budget import estimate_round
from council.money import Price, Spending
from council.places import NOWHERE, Place
from council.rounds import Question
from tests.builders import ASKED_AT, CLAUDE, GEMINI, GPT, a_panel, a_round
from tests.council.bakeoffs.builders import a_schedule
from tests.council.bakeoffs.record_builders import a_record
from tests.fakes.gateway import FakeGateway

SUITE = Suite("sql", tuple(map(SuiteQuestion, ("Why?", "How?", "When?"))))
HELD = Bakeoff("bo:1", SUITE, a_panel(), Place("slack", "T1", "C1"), "U1", ASKED_AT)


def test_a_round_of_a_bakeoff_names_it_and_its_question() -> None:
    assert HELD.round_id(2) == "bo:1.2"
    assert split_round_id(HELD.round_id(2)) == ("bo:1", 2)
    assert HELD.seed(1) != HELD.seed(2)


def test_a_slot_of_a_schedule_makes_one_bakeoff() -> None:
    slot = slot_at(ASKED_AT)

    assert a_schedule("s1").bakeoff_id(slot) == f"sched:s1@{slot}"


def test_questions_are_over_under_way_or_waiting() -> None:
    begun = BakeoffProgress(
        HELD, over=1, failed=(FailedQuestion(1, "nobody answered"),), under_way=1, stored=2
    )

    assert (begun.questions, begun.waiting) == (3, 1)
    assert (begun.is_queued, begun.is_complete) == (True, False)
    assert not BakeoffProgress(HELD).is_queued
    assert BakeoffProgress(HELD, spent_micro=5, unknown_calls=2).spending == Spending(5, 2)
    assert replace(begun, over=3, under_way=0).is_complete


def test_an_end_leaves_nothing_under_way() -> None:
    ending = Ending(ASKED_AT, "cancelled")

    ended = BakeoffProgress(HELD, over=1, under_way=2, seconds_left=9.0).ended(ending)

    assert (ended.bakeoff.ending, ended.under_way, ended.seconds_left) == (ending, 0, None)


@pytest.mark.parametrize(
    ("wanted", "is_among"),
    [
        (RecordQuery(), True),
        (RecordQuery(panel="house", scope=""), True),
        (RecordQuery(suite="another"), False),
    ],
)
def test_records_are_found_by_what_they_are_of(wanted: RecordQuery, *, is_among: bool) -> None:
    assert wanted.admits(pack_record(a_record({"ada": 1.0, "bob": 0.0}))) is is_among


PRICES = {CLAUDE: Price(3e-6, 15e-6), GPT: Price(1e-6, 8e-6), GEMINI: None}
QUESTIONS = (SuiteQuestion("Why?"), SuiteQuestion("How long, and why?", context="It is long."))


async def test_a_run_costs_what_its_rounds_cost() -> None:
    gateway, panel = FakeGateway(prices=PRICES), a_panel()
    each = [
        await estimate_round(a_round(question=Question(q.text, context=q.context)), gateway)
        for q in QUESTIONS
    ]

    run = await estimate_run(Suite("sql", QUESTIONS), panel, gateway)

    assert run.micro == sum(one.micro for one in each) > 0
    assert run.unknown == (GEMINI,)


async def test_no_round_of_it_costs_more_than_the_panel_allows() -> None:
    panel = a_panel(terms=replace(a_panel().terms, max_round_usd=0.001))

    run = await estimate_run(Suite("sql", QUESTIONS), panel, FakeGateway(prices=PRICES))

    assert run.micro == 2 * 1_000


async def test_a_reference_that_judges_see_is_paid_for() -> None:
    graded = (replace(QUESTIONS[0], reference=Reference(Grading.EXACT, "Because. " * 50)),)
    hidden, seen = Suite("sql", graded), Suite("sql", graded, judges_see_references=True)
    gateway = FakeGateway(prices=PRICES)

    costs = [(await estimate_run(one, a_panel(), gateway)).micro for one in (hidden, seen)]

    assert costs[0] < costs[1]


def test_a_suite_under_methods_asks_each_question_once_for_each() -> None:
    suite = Suite("s", (SuiteQuestion("One?"), SuiteQuestion("Two?")))

    under = suite.under(("blind-ranking", "both-orders"))

    asked = [(one.text, one.method) for one in under.questions]
    assert asked[:2] == [("One?", "blind-ranking"), ("One?", "both-orders")]
    assert under.methods == ("blind-ranking", "both-orders")
    assert under.version != suite.version
    assert under.as_stored == suite
    assert suite.as_stored == suite
    assert suite.methods == ()


def test_a_question_is_put_to_the_panel_under_its_method() -> None:
    suite = Suite("s", (SuiteQuestion("One?"),)).under(("blind-ranking", "both-orders"))
    bakeoff = Bakeoff("bo:1", suite, a_panel(3), NOWHERE, "U1", ASKED_AT)

    assert [bakeoff.panel_of(number).terms.method for number in (1, 2)] == [*suite.methods]
    assert with_method(a_panel(3), "") == a_panel(3)


def test_a_missing_grader_is_no_known_answer() -> None:
    lost = SuiteQuestion("Six?", reference=Reference(Grading.MISSING, "assert x", checks="1 of 2"))

    assert (lost.is_graded, lost.known_answer, lost.checks) == (False, "", "1 of 2")
    assert (SuiteQuestion("Six?").is_graded, SuiteQuestion("Six?").checks) == (False, "")


def test_checks_make_another_version_and_a_suite_without_them_keeps_its_own() -> None:
    whole, part = (
        Suite(
            "sums", (SuiteQuestion("6 × 7?", reference=Reference(Grading.NUMBER, "42", 0, checks)),)
        )
        for checks in ("", "1 of 2")
    )

    assert whole.version == "05070e15009e"  # as release 0.2 computed it
    assert part.version != whole.version


def test_progress_tells_spent_money_and_calls_of_unknown_cost_apart() -> None:
    progress = BakeoffProgress(HELD, spent_micro=1_000, unknown_calls=34)

    assert progress.spending == Spending(1_000, 34)


def test_a_suite_is_graded_if_any_of_its_questions_is() -> None:
    graded = SuiteQuestion("b", reference=Reference(Grading.EXACT, "4"))

    assert not Suite("plain", (SuiteQuestion("a"),)).is_graded
    assert Suite("mixed", (SuiteQuestion("a"), graded)).is_graded
    assert Suite("a", (graded,)).version != Suite("a", (graded,), method="both-orders").version


def test_other_answers_make_another_version_and_are_shown_to_judges() -> None:
    one = Reference(Grading.EXACT, "Rome")
    several = replace(one, others=("Oslo",))

    versions = {Suite("s", (SuiteQuestion("?", "", x),)).version for x in (one, several)}

    assert len(versions) == 2
    assert SuiteQuestion("?", "", several).known_answer == "Rome | Oslo"


def test_the_right_answer_closest_in_length_is_compared() -> None:
    reference = Reference("similar", "A long right answer.", others=("Short.", "Brief."))

    assert reference.closest("Tiny.") == "Short."
    assert reference.closest("A rather long given answer.") == "A long right answer."


def test_nobody_types_the_id_of_a_scheduled_run() -> None:
    assert HELD.typed_name == "bo:1"
    assert replace(HELD, id="sched:e181@now-fd56").typed_name == "sql"
