from dataclasses import replace

import pytest

from council.bakeoffs.council_value import (
    CouncilValue,
    CouncilValueLine,
    Payoff,
    compare_with_drafts,
    draft_of,
    measure_council_value,
    measure_voted_value,
)
from council.bakeoffs.grade_comparison import question_numbers
from council.bakeoffs.record_arrays import Columns
from council.bakeoffs.records import CouncilRecord, Record
from council.feedback import HumanVote
from tests.builders import ASKED_AT
from tests.council.bakeoffs.record_builders import a_record, of


def _graded(
    number: int,
    council: bool,
    *,
    run: int = 0,
    winner: str | None = "ada",
    costs: tuple[float | None, float] = (0.5, 0.1),
    **correct: bool,
) -> Record:
    """Return a graded round; costs are the whole round's and each answer's."""
    round_cost, own = costs
    return a_record(
        {"ada": 1.0, "bob": 0.5, "cyd": 0.0},
        number=number,
        run=run,
        correct={"ada": False, "bob": False, "cyd": False, **correct},
        cost_usd=dict.fromkeys(("ada", "bob", "cyd"), own),
        seconds=dict.fromkeys(("ada", "bob", "cyd"), 2.0),
        whole=CouncilRecord(
            winner=winner,
            council_correct=council,
            cost_usd=round_cost,
            seconds=9,
            synthesis_usd=0.25,
            synthesis_seconds=3,
        ),
    )


def _lines(columns: Columns) -> dict[str, CouncilValueLine]:
    return {line.name: line for line in measure_council_value(columns).rows}


def test_without_references_there_is_no_value() -> None:
    assert measure_council_value(of(a_record({"ada": 1.0, "bob": 0.0}))) == CouncilValue()


def test_council_and_winner_are_compared_with_the_best_member_by_question() -> None:
    rounds = [_graded(i, council=i <= 9, ada=i <= 3, bob=i <= 6) for i in range(1, 13)]

    found = measure_council_value(of(*rounds))

    council, winner = found.rows
    assert (council.name, council.graded, council.accuracy) == ("Council", 12, 0.75)
    assert (winner.name, winner.accuracy) == ("Winner", 0.25)
    assert found.best is not None
    assert (found.best.member, found.best.accuracy) == ("bob", 0.5)
    assert council.difference == pytest.approx(0.25)
    assert winner.difference == pytest.approx(-0.25)


def test_with_two_runs_the_best_is_picked_on_the_other_one() -> None:
    # ada is right in run 0 alone, bob in run 1 alone: each is picked where it is wrong.
    rounds = [_graded(i, council=True, run=0, ada=True) for i in range(1, 7)]
    rounds += [_graded(i, council=True, run=1, bob=True) for i in range(1, 7)]

    found = measure_council_value(of(*rounds))

    assert found.best is not None
    assert found.best.is_picked_elsewhere
    assert found.best.accuracy == 0
    assert found.rows[0].difference == 1


@pytest.mark.parametrize(
    ("questions", "council", "ada", "verdict"),
    [
        pytest.param(20, 10, 10, Payoff.NOT_WORTH_IT, id="right-no-more-often"),
        pytest.param(20, 20, 10, Payoff.WORTH_IT, id="right-far-more-often"),
        pytest.param(12, 7, 6, Payoff.OPEN, id="a-small-gain-on-few-questions"),
        # One question of 400 gained: .0025, and its interval ends below .05.
        pytest.param(400, 201, 200, Payoff.NOT_WORTH_IT, id="a-gain-below-a-twentieth"),
    ],
)
def test_a_council_that_costs_more_is_worth_it_if_it_is_more_often_right(
    questions: int, council: int, ada: int, verdict: Payoff
) -> None:
    rounds = [_graded(i, council=i <= council, ada=i <= ada) for i in range(1, questions + 1)]

    assert _lines(of(*rounds))["Council"].verdict is verdict


@pytest.mark.parametrize(
    ("costs", "verdict"),
    [
        pytest.param((0.05, 0.1), Payoff.OPEN, id="cheaper"),
        pytest.param((0.1, 0.1), Payoff.NOT_WORTH_IT, id="the-same-but-slower"),
        pytest.param((None, 0.1), Payoff.NOT_WORTH_IT, id="not-known"),
    ],
)
def test_only_what_costs_more_is_not_worth_its_cost(
    costs: tuple[float | None, float], verdict: Payoff
) -> None:
    rounds = [_graded(i, council=False, costs=costs) for i in range(1, 13)]

    assert _lines(of(*rounds))["Council"].verdict is verdict


def test_a_cost_is_unknown_if_that_of_any_round_is() -> None:
    unknown = _graded(1, council=True, costs=(None, 0.1))
    failed = replace(_graded(2, council=False, winner=None), whole=CouncilRecord(None, False, 0, 9))

    known = _lines(of(failed, *(_graded(i, council=True) for i in (1, 3))))
    mixed = _lines(of(unknown, failed))

    assert known["Council"].cost_usd == pytest.approx(1 / 3)
    assert known["Winner"].cost_usd == pytest.approx(0.5 / 3)  # without the synthesis, .25 each
    assert (mixed["Council"].cost_usd, mixed["Winner"].cost_usd) == (None, None)


def test_below_ten_graded_rounds_there_is_no_verdict() -> None:
    found = measure_council_value(of(*(_graded(i, council=False) for i in range(1, 10))))

    assert [line.verdict for line in found.rows] == [None, None]


def test_the_winner_is_had_without_the_synthesis() -> None:
    found = _lines(of(_graded(1, council=True), _graded(2, council=True, winner=None)))

    assert (found["Council"].cost_usd, found["Council"].seconds) == (0.5, 9)
    assert (found["Winner"].cost_usd, found["Winner"].seconds) == (0.25, 6)


def test_who_gave_no_answer_was_not_right() -> None:
    absent = a_record(
        {"ada": None, "bob": 1.0},
        correct={"bob": False},
        whole=CouncilRecord(winner="bob", council_correct=True),
    )

    found = measure_council_value(of(absent))

    assert found.best is not None
    assert (found.best.accuracy, found.rows[0].difference) == (0, 1)


def test_a_round_with_an_ungraded_answer_does_not_count() -> None:
    rounds = [_graded(i, council=True, ada=True) for i in range(1, 4)]
    tied = replace(
        rounds[0], authored=(replace(rounds[0].authored[0], correct=None), *rounds[0].authored[1:])
    )

    found = measure_council_value(of(tied, *rounds[1:]))

    assert [line.graded for line in found.rows] == [2, 2]
    assert not found.is_decided


def test_members_that_did_not_sit_in_every_round_are_no_candidates() -> None:
    one = a_record({"ada": 1.0}, correct={"ada": True}, whole=CouncilRecord(council_correct=True))
    two = a_record(
        {"bob": 1.0}, number=2, correct={"bob": True}, whole=CouncilRecord(council_correct=True)
    )

    found = measure_council_value(of(one, two))

    assert found.best is None
    assert found.rows[0].accuracy == 1
    assert (found.rows[0].difference, found.rows[0].verdict) == (None, None)


def test_of_equally_good_members_the_cheapest_is_the_best() -> None:
    record = a_record(
        {"ada": 1.0, "bob": 0.0, "cyd": 0.5},
        correct={"ada": True, "bob": True, "cyd": True},
        cost_usd={"ada": 0.5, "bob": 0.25},
        whole=CouncilRecord(winner="ada", council_correct=True),
    )

    best = measure_council_value(of(record)).best

    assert best is not None
    assert best.member == "bob"


def test_a_question_put_twice_counts_once() -> None:
    shares = {"ada": 1.0, "bob": 0.0}
    columns = of(
        a_record(shares, number=1, run=0),
        a_record(shares, number=1, run=1),
        a_record(shares, number=2, run=0),
    )

    found = zip(columns.rows, question_numbers(columns).tolist(), strict=True)

    assert [(row.number, question) for row, question in found] == [(1, 0), (2, 1), (1, 0)]


# --- Drafts of the best member


def _drafts(number: int, *, council: bool | None, members: tuple[str, ...]) -> Record:
    shares = {member: place / len(members) for place, member in enumerate(members)}
    whole = CouncilRecord(council_correct=council, cost_usd=0.2, seconds=4)
    return a_record(shares, number=number, run=7, whole=whole)


def test_a_draft_has_the_key_of_its_model() -> None:
    assert [draft_of(key) for key in ("gpt", "gpt #2", "gpt #x")] == ["gpt", "gpt", "gpt #x"]


def test_the_council_is_compared_with_drafts_of_the_best_member_by_question() -> None:
    now = of(*(_graded(i, council=i <= 9) for i in range(1, 13)))
    drafts = [_drafts(i, council=i <= 6, members=("ada", "ada #2")) for i in range(1, 13)]
    other = [_drafts(i, council=True, members=("ada", "bob")) for i in range(1, 13)]

    found = compare_with_drafts(now, of(*drafts, *other), "ada")

    assert found is not None
    assert (found.times, found.questions, found.accuracy) == (2, 12, 0.5)
    assert (found.cost_usd, found.seconds) == pytest.approx((0.2, 4))
    assert found.lead == pytest.approx(0.25)  # right on 9 of 12 against 6 of 12
    assert found.lead_ci[0] < found.lead < found.lead_ci[1]


def test_without_comparable_drafts_there_is_no_comparison() -> None:
    now = of(*(_graded(i, council=True) for i in range(1, 4)))
    ungraded = of(_drafts(1, council=None, members=("ada", "ada #2")))
    elsewhere = of(_drafts(9, council=True, members=("ada", "ada #2")))
    drafts = of(_drafts(1, council=True, members=("ada", "ada #2")))

    assert compare_with_drafts(now, of(), "ada") is None
    assert compare_with_drafts(now, ungraded, "ada") is None
    assert compare_with_drafts(now, elsewhere, "ada") is None
    assert compare_with_drafts(drafts, drafts, "ada") is None


# --- Votes of people


def _vote(number: int, member: str, by: str = "U1") -> HumanVote:
    return HumanVote(f"run0.{number}", by, "K", member, ASKED_AT)


def test_without_grades_the_winner_is_compared_by_what_people_chose() -> None:
    rounds = of(*(_graded(i, council=False, winner="ada") for i in range(1, 13)))
    votes = [_vote(i, "ada" if i <= 9 else "bob") for i in range(1, 13)]

    found = measure_voted_value(rounds, votes)

    (winner,) = found.rows
    assert found.is_voted
    assert (winner.name, winner.graded, winner.accuracy) == ("Winner", 12, 0.75)
    assert found.best
    assert (found.best.member, found.best.accuracy) == ("ada", 0.75)


def test_votes_of_several_people_on_a_round_count_as_shares() -> None:
    rounds = of(_graded(1, council=False, winner="ada"), _graded(2, council=False, winner="ada"))
    votes = [_vote(1, "ada"), _vote(1, "bob", "U2"), _vote(9, "cyd")]

    (winner,) = measure_voted_value(rounds, votes).rows

    assert (winner.graded, winner.accuracy) == (1, 0.5)


def test_without_votes_or_a_member_of_every_round_there_is_no_best() -> None:
    elsewhere = of(a_record({"ada": 1.0}, number=1), a_record({"dee": 1.0}, number=2))

    assert measure_voted_value(elsewhere, []) == CouncilValue()
    assert measure_voted_value(elsewhere, [_vote(1, "ada"), _vote(2, "dee")]).best is None
