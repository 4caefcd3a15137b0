import pytest

from council.bakeoffs.council_value import TruthAgreement, question_numbers, truth_agreement
from council.bakeoffs.record_arrays import Columns
from tests.council.bakeoffs.record_builders import a_record, of


def told(columns: Columns) -> TruthAgreement | None:
    return truth_agreement(columns, question_numbers(columns))


def test_truth_agreement_is_the_chance_that_right_ranks_above_wrong() -> None:
    # ada and bob are right: ada beats cyd and dee, bob ties cyd and beats dee: 3.5 of 4 pairs.
    found = told(
        of(
            a_record(
                {"ada": 1.0, "bob": 0.5, "cyd": 0.5, "dee": 0.0},
                correct={"ada": True, "bob": True, "cyd": False, "dee": False},
            )
        )
    )

    assert found is not None
    assert (found.auc, found.questions, found.ci) == (0.875, 1, (0, 1))
    assert found.lead == pytest.approx(0.75 - 0.25)


def test_answers_that_were_not_ranked_do_not_count() -> None:
    found = told(
        of(
            a_record({"ada": 1.0, "bob": 0.0}, correct={"ada": True, "bob": False}),
            a_record({"ada": None, "bob": 1.0}, number=2, correct={"ada": False, "bob": True}),
        )
    )

    assert found is not None
    assert (found.auc, found.questions) == (1, 1)


def test_a_question_put_twice_counts_once() -> None:
    def put(run: int, number: int, ada: bool) -> object:
        return a_record(
            {"ada": 1.0, "bob": 0.0}, number=number, run=run, correct={"ada": ada, "bob": not ada}
        )

    found = told(of(put(0, 1, True), put(1, 1, True), put(2, 1, True), put(0, 2, False)))  # type: ignore[arg-type]  # records, as of() takes

    assert found is not None
    assert (found.auc, found.questions) == (0.5, 2)
