import numpy as np
import pytest

from council.bakeoffs.intervals import share_interval
from council.bakeoffs.leaderboard import JudgeLine, build_judge_board
from council.bakeoffs.records import JudgeRecord
from tests.council.bakeoffs.record_builders import a_record, of


def _line(*judged: JudgeRecord) -> JudgeLine:
    rounds = (
        a_record({"ada": 1.0, "bob": 0.0}, number=i, judged=[one])
        for i, one in enumerate(judged, 1)
    )
    return build_judge_board(of(*rounds)).rows[0]


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
    assert not found.is_position_biased


def test_spoiled_ballots_make_valid_ones_dearer() -> None:
    found = _line(
        JudgeRecord("jo", valid=True, cost_usd=0.25),
        JudgeRecord("jo", spoiled=2, cost_usd=0.5),
        JudgeRecord("jo", valid=True, cost_usd=0.25),
    )

    assert found.cost_usd == 0.5


def test_orders_kept_are_of_all_orders_repeated() -> None:
    found = _line(
        JudgeRecord("jo", kept=2, pairs=3), JudgeRecord("jo"), JudgeRecord("jo", kept=1, pairs=3)
    )

    assert (found.kept, found.pairs, found.consistency) == (3, 6, 0.5)


def test_a_first_slot_bias_is_flagged_if_it_is_beyond_chance() -> None:
    fond = _line(*(JudgeRecord("jo", valid=True, first_slot=1.0) for _ in range(10)))
    fair = _line(*(JudgeRecord("jo", valid=True, first_slot=slot) for slot in (0.0, 1.0) * 10))
    once = _line(JudgeRecord("jo", valid=True, first_slot=1.0))

    assert (fond.position, fond.is_position_biased) == (0.5, True)
    assert (fair.position, fair.is_position_biased) == (0, False)
    assert (once.position, once.is_position_biased) == (0.5, False)


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
