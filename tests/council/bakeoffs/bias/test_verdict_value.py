"""What a verdict was worth: how often people and grades agreed with it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from council.bakeoffs.bias.verdict_value import preferred_answers, verdict_values
from council.bakeoffs.intervals import wilson_interval
from council.bakeoffs.records import STRENGTHS, CouncilRecord, Record
from council.feedback import HumanVote
from council.tally.verdict import Strength
from tests.council.bakeoffs.record_builders import a_record, of

AT = datetime(2026, 11, 2, tzinfo=UTC)
CLEAR = CouncilRecord(winner="ada", strength=STRENGTHS.index(Strength.CLEAR), is_sure=True)
CLOSE = CouncilRecord(winner="ada", strength=STRENGTHS.index(Strength.CLOSE), is_sure=False)


def vote(
    member: str, by: str = "slack:U1", *, blind: bool = True, round_id: str = "r"
) -> HumanVote:
    return HumanVote(round_id, by, "K", member, AT, blind=blind)


def a_round(number: int, whole: CouncilRecord, **correct: bool | None) -> Record:
    shares = {"ada": 1.0, "bob": 0.5, "cyd": 0.25, "dee": 0.25}
    return a_record(shares, number=number, whole=whole, correct={**correct})


def test_people_prefer_what_most_blind_votes_are_for() -> None:
    votes = [vote("ada"), vote("bob", "slack:U2"), vote("bob", "slack:U3")]

    assert preferred_answers(votes) == {"r": "bob"}
    assert preferred_answers(votes[:2]) == {}
    assert preferred_answers([vote("ada", blind=False), vote("ada", "web:1")]) == {}


def test_people_agree_where_they_prefer_the_answer_in_first_place() -> None:
    rounds = of(*(a_round(number, CLEAR) for number in (1, 2, 3)), a_round(4, CLOSE))

    clear, close = verdict_values(
        rounds, {"run0.1": "ada", "run0.2": "ada", "run0.3": "bob", "run0.4": "bob"}
    )

    assert (clear.strength, clear.is_sure, clear.source) == ("clear", True, "people")
    assert clear.agreed.n == 3
    assert clear.agreed.value == pytest.approx(2 / 3)
    assert clear.agreed.interval == wilson_interval(2, 3)
    assert clear.chance == pytest.approx(1 / 4)
    assert (close.strength, close.agreed.value) == ("close", 0)


def test_grades_agree_where_the_first_is_right_and_not_all_are() -> None:
    rounds = of(
        a_round(1, CLEAR, ada=True, bob=False),
        a_round(2, CLEAR, ada=False, bob=True, cyd=True, dee=True),
        a_round(3, CLEAR, ada=True, bob=True),
        a_round(4, CLEAR, ada=False, bob=False),
        a_round(5, CLEAR, bob=True, cyd=False),
    )

    (found,) = verdict_values(rounds, {})

    assert (found.source, found.agreed.n, found.agreed.value) == ("grades", 2, 0.5)
    assert found.chance == pytest.approx((1 / 2 + 3 / 4) / 2)


def test_rounds_without_a_verdict_tell_nothing() -> None:
    old = replace(CLEAR, strength=None)
    rounds = of(a_round(1, old), a_round(2, replace(CLEAR, winner=None)))

    assert verdict_values(rounds, {"run0.1": "ada", "run0.2": "ada"}) == ()
