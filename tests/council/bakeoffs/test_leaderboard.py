from dataclasses import replace

import numpy as np
import pytest

from council.bakeoffs.intervals import share_interval
from council.bakeoffs.leaderboard import (
    Board,
    HumanAgreement,
    JudgeLine,
    build_judge_board,
    build_leaderboard,
)
from council.bakeoffs.pairwise import RunOff
from council.bakeoffs.records import JudgeRecord, Margin
from tests.council.bakeoffs.record_builders import (
    a_record,
    of,
)


def _places(board: Board) -> dict[str, int | None]:
    return {line.member: line.place for line in board.rows}


def test_no_rounds_are_a_board_without_rows() -> None:
    found = build_leaderboard(of())

    assert (found.rows, found.run_off, found.rounds) == ((), None, 0)


def test_a_share_is_the_mean_over_the_rounds_a_member_was_ranked_in() -> None:
    found = build_leaderboard(
        of(
            a_record({"ada": 1.0, "bob": 0.0, "cyd": 0.5}),
            a_record({"ada": 0.5, "bob": 0.25, "cyd": None}, number=2),
        )
    )

    assert [(line.member, line.share, line.rounds) for line in found.rows] == [
        ("ada", 0.75, 2),
        ("cyd", 0.5, 1),
        ("bob", 0.125, 2),
    ]
    assert found.rows[1].ci == (0, 1)


def test_places_are_shared_where_nothing_is_claimed() -> None:
    found = build_leaderboard(
        of(*(a_record({"ada": 1.0, "bob": 0.0}, number=i) for i in range(1, 10)))
    )

    assert _places(found) == {"ada": 1, "bob": 1}
    assert found.claims == ()


def test_a_member_behind_the_first_has_the_place_that_it_is_listed_at() -> None:
    shares = {"ada": 1.0, "bob": 0.75, "cyd": 0.0}
    found = build_leaderboard(of(*(a_record(shares, number=i) for i in range(1, 31))))

    assert _places(found) == {"ada": 1, "bob": 2, "cyd": 3}
    assert len(found.claims) == 3


def test_members_are_listed_by_the_share_they_show_and_places_follow_that_order() -> None:
    # Over ten rounds against ada, bob is behind beyond chance; cyd met them once.
    both = [a_record({"ada": 1.0, "bob": 0.5}, number=i) for i in range(1, 31)]
    found = build_leaderboard(of(*both, a_record({"ada": 1.0, "bob": 0.5, "cyd": 0.0}, number=31)))

    assert [(line.member, line.place) for line in found.rows] == [
        ("ada", 1),
        ("bob", 2),
        ("cyd", 2),
    ]
    assert [line.is_tied for line in found.rows] == [False, True, True]
    assert found.is_ahead("ada", "bob")
    assert not found.is_ahead("bob", "ada")


def test_a_member_that_was_never_ranked_comes_last_without_a_place() -> None:
    found = build_leaderboard(of(a_record({"ada": None, "bob": 0.0, "cyd": 1.0})))

    assert [line.member for line in found.rows] == ["cyd", "bob", "ada"]
    assert (found.rows[2].place, found.rows[2].share, found.rows[2].absences) == (None, None, 1)


def test_judges_who_are_neither_of_the_first_two_change_no_order() -> None:
    # As their own ballots count too, ada leads by share; judges who are neither say bob does.
    record = a_record({"ada": 0.75, "bob": 0.5, "cyd": 0.0})
    turned = Margin("ada", "bob", -0.25, 1, 0.0)

    found = build_leaderboard(
        of(*(replace(record, number=i, margins=(turned,)) for i in range(1, 4)))
    )

    assert [line.member for line in found.rows] == ["ada", "bob", "cyd"]
    assert found.run_off == RunOff("bob", "ada", 0.25, 3, changed=True)


def test_without_a_judge_who_saw_both_there_is_no_run_off() -> None:
    found = build_leaderboard(
        of(a_record({"ada": 1.0, "bob": None}), a_record({"bob": 0.5}, number=2))
    )

    assert found.run_off is None
    assert [line.member for line in found.rows] == ["ada", "bob"]


def test_a_line_says_what_answers_cost_and_how_long_they_were() -> None:
    found = build_leaderboard(
        of(
            a_record(
                {"ada": 1.0, "bob": 0.0},
                cost_usd={"ada": 0.5},
                seconds={"ada": 2.0},
                tokens_out={"ada": 100},
                words={"ada": 80},
                first_votes={"ada": 2},
                ballots={"ada": 3},
                refused={"ada": True},
                named_itself={"ada": True},
                correct={"ada": True},
            ),
            a_record({"ada": 0.0, "bob": 1.0}, number=2, seconds={"ada": 4.0}, words={"ada": 40}),
            a_record({"ada": None, "bob": 1.0}, number=3),
        )
    )

    line = next(line for line in found.rows if line.member == "ada")
    assert (line.cost_usd, line.seconds, line.tokens_out) == (0.5, 3, 100)
    assert (line.answers, line.absences, line.refusals, line.named_itself) == (2, 1, 1, 1)
    assert (line.first_votes, line.ballots) == (2, 3)
    assert (line.accuracy, line.graded) == (1, 1)
    assert line.accuracy_ci == pytest.approx((0.2065, 1), abs=1e-4)  # Wilson: 1/(1 + 1.96²)


def test_where_panels_differed_strength_is_known_but_changes_no_order() -> None:
    # cyd is above dee, who loses to everybody; ada and bob hold their own against each other.
    easy = [a_record({"cyd": 0.75, "dee": 0.25}, number=i) for i in range(1, 21)]
    hard = [a_record({"ada": 1.0, "bob": 0.5, "dee": 0.0}, number=i) for i in range(21, 41)]
    link = [a_record({"bob": 1.0, "cyd": 0.0}, number=i) for i in range(41, 61)]

    found = build_leaderboard(of(*easy, *hard, *link))

    assert found.is_mixed
    shares = [line.share or 0.0 for line in found.rows]
    assert shares == sorted(shares, reverse=True)
    strengths = {line.member: line.strength for line in found.rows}
    assert sorted(strengths, key=lambda member: -(strengths[member] or 0)) == [
        "ada",
        "bob",
        "cyd",
        "dee",
    ]
    assert not build_leaderboard(of(*easy)).is_mixed


def _line(*judged: JudgeRecord) -> JudgeLine:
    rounds = (
        a_record({"ada": 1.0, "bob": 0.0}, number=i, judged=[one])
        for i, one in enumerate(judged, 1)
    )
    return build_judge_board(of(*rounds)).rows[0]


def test_a_line_counts_how_often_people_and_a_judge_agree() -> None:
    agreement = HumanAgreement(same=12, ballots=16)

    assert agreement.share == 0.75
    assert agreement.ci == pytest.approx((0.505, 0.898), abs=1e-3)  # Wilson, by hand


def test_agreement_is_the_mean_with_an_interval() -> None:
    found = _line(*(JudgeRecord("jo", valid=True, tau_b=tau) for tau in (1.0, 0.5, 0.0)))

    assert found.agreement == pytest.approx(0.5)
    assert found.agreement_ci is not None
    low, high = share_interval(np.array([1.0, 0.75, 0.5]))
    assert found.agreement_ci == pytest.approx((2 * low - 1, 2 * high - 1))


def test_the_spoiled_rate_is_of_all_ballots_sent() -> None:
    found = _line(JudgeRecord("jo", valid=True, spoiled=1), JudgeRecord("jo", spoiled=2))

    assert (found.valid, found.spoiled, found.spoiled_rate, found.rounds) == (1, 3, 0.75, 2)


def test_a_judge_that_sent_nothing_has_no_rates() -> None:
    found = _line(JudgeRecord("jo"))

    assert (found.rounds, found.spoiled_rate, found.agreement, found.position) == (1,) + (None,) * 3
    assert (found.agreement_ci, found.position_ci, found.consistency) == (None, None, None)
    assert found.cost_usd is None


def test_spoiled_ballots_make_valid_ones_dearer() -> None:
    found = _line(
        JudgeRecord("jo", valid=True, cost_usd=0.25),
        JudgeRecord("jo", spoiled=2, cost_usd=0.5),
        JudgeRecord("jo", valid=True, cost_usd=0.25),
    )

    assert found.cost_usd == 0.5


def test_ballots_of_unknown_cost_do_not_make_a_judge_cheaper() -> None:
    found = _line(
        JudgeRecord("jo", valid=True, cost_usd=0.25),
        JudgeRecord("jo", valid=True),
        JudgeRecord("jo", spoiled=1, cost_usd=0.25),
    )

    assert found.cost_usd == 0.5
    assert _line(JudgeRecord("jo", spoiled=1, cost_usd=0.25)).cost_usd is None


def test_orders_kept_are_of_all_orders_repeated() -> None:
    found = _line(
        JudgeRecord("jo", kept=2, pairs=3), JudgeRecord("jo"), JudgeRecord("jo", kept=1, pairs=3)
    )

    assert (found.kept, found.pairs, found.consistency) == (3, 6, 0.5)


def test_the_position_is_the_mean_share_of_the_first_slot_minus_one_half() -> None:
    fond = _line(*(JudgeRecord("jo", valid=True, first_slot=1.0) for _ in range(10)))
    fair = _line(*(JudgeRecord("jo", valid=True, first_slot=slot) for slot in (0.0, 1.0) * 10))

    assert (fond.position, fair.position) == (0.5, 0)


def test_judges_are_ordered_by_agreement_and_those_without_votes_come_last() -> None:
    found = build_judge_board(
        of(
            a_record(
                {"ada": 1.0, "bob": 0.0},
                judged=[
                    JudgeRecord("ann"),
                    JudgeRecord("jo", valid=True, tau_b=-0.5),
                    JudgeRecord("kim", valid=True, tau_b=0.5),
                ],
            )
        )
    )

    assert [line.judge for line in found.rows] == ["kim", "jo", "ann"]
    assert found.rounds == 1


def test_a_member_of_few_graded_answers_has_no_place_by_grades() -> None:
    right = {"ada": True, "bob": False}
    rounds = [a_record({"ada": 0.0, "bob": 1.0}, number=n, correct=right) for n in range(1, 13)]
    late = a_record({"ada": 0.5, "cyd": 0.5}, number=12, run=1, correct={"ada": True, "cyd": True})

    found = build_leaderboard(of(*rounds, late))

    assert _places(found) == {"ada": 1, "bob": 2, "cyd": None}


def test_grades_of_two_members_are_found_in_either_order() -> None:
    right = {"ada": True, "bob": False}
    rounds = [a_record({"ada": 0.0, "bob": 1.0}, number=n, correct=right) for n in range(1, 13)]
    found = build_leaderboard(of(*rounds))

    assert (found.ranked_by, [line.member for line in found.rows]) == ("grades", ["ada", "bob"])
    assert found.compared("bob", "ada") == found.compared("ada", "bob") == found.graded[0]
    assert found.compared("ada", "cyd") is None
    assert found.is_ahead("ada", "bob")
