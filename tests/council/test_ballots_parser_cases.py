"""The tables of ballot cases are sound, and the parser agrees with every case."""

import pytest

from council.ballots import BallotFault, ParsedBallot, parse_ballot
from tests.council.ballot_cases import (
    ABC,
    HELD_OUT_LEGITIMATE,
    HELD_OUT_TORTURE,
    LEGITIMATE,
    NONCE,
    TORTURE,
    Legitimate,
    Torture,
)

Ranking = tuple[tuple[str, ...], ...]

EVERY: tuple[Torture | Legitimate, ...] = (*TORTURE, *LEGITIMATE)
# Other spellings of JSON, which spoil by older tests, and a remark that says nothing.
UNREAD = {
    "comment-best-first",
    "done",
    "keys-without-quotes",
    "quotes-in-the-reason",
    "single-quotes",
    "smart-quotes-around-labels",
    "smart-quotes-everywhere",
}
HELD_OUT: tuple[Torture | Legitimate, ...] = (*HELD_OUT_TORTURE, *HELD_OUT_LEGITIMATE)


def _sorted_places(ranking: Ranking) -> Ranking:
    return tuple(tuple(sorted(place)) for place in ranking)


def _with_unranked_last(case: Legitimate) -> Ranking:
    ranked = {letter for place in case.ranking for letter in place}
    unranked = tuple(letter for letter in case.letters if letter not in ranked)
    return (*case.ranking, unranked) if unranked else case.ranking


def _is_read_exactly(case: Legitimate) -> bool:
    reading = parse_ballot(case.text, NONCE, case.letters)
    return (
        isinstance(reading, ParsedBallot)
        and _sorted_places(reading.ranking) == _with_unranked_last(case)
        and case.reason in {None, reading.reason}
    )


def test_the_tables_are_long_enough() -> None:
    assert len(TORTURE) >= 75
    assert len(LEGITIMATE) >= 55
    assert len(HELD_OUT_TORTURE) >= 90
    assert len(HELD_OUT_LEGITIMATE) >= 90


@pytest.mark.parametrize("cases", [EVERY, HELD_OUT], ids=["known", "held out"])
def test_no_two_cases_share_an_id(cases: tuple[Torture | Legitimate, ...]) -> None:
    ids = [case.id for case in cases]

    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("cases", [EVERY, HELD_OUT], ids=["known", "held out"])
def test_no_two_cases_share_a_reply(cases: tuple[Torture | Legitimate, ...]) -> None:
    replies = [(case.text, case.letters) for case in cases]

    assert len(replies) == len(set(replies))


@pytest.mark.parametrize("case", [*LEGITIMATE, *HELD_OUT_LEGITIMATE], ids=lambda case: case.id)
def test_an_expected_ranking_names_known_letters_once(case: Legitimate) -> None:
    ranked = [letter for place in case.ranking for letter in place]

    assert ranked
    assert all(case.ranking)
    assert len(ranked) == len(set(ranked))
    assert set(ranked) <= set(case.letters)


@pytest.mark.parametrize("case", [*LEGITIMATE, *HELD_OUT_LEGITIMATE], ids=lambda case: case.id)
def test_a_legitimate_ballot_echoes_its_nonce(case: Legitimate) -> None:
    assert NONCE in case.text


@pytest.mark.parametrize("case", TORTURE, ids=lambda case: case.id)
def test_an_ambiguous_reply_spoils_the_ballot(case: Torture) -> None:
    assert isinstance(parse_ballot(case.text, NONCE, case.letters), BallotFault)


@pytest.mark.parametrize("case", LEGITIMATE, ids=lambda case: case.id)
def test_a_clear_ballot_is_parsed_exactly(case: Legitimate) -> None:
    assert _is_read_exactly(case)


def test_of_the_held_out_clear_ballots_only_broken_json_is_not_read() -> None:
    missed = {case.id for case in HELD_OUT_LEGITIMATE if not _is_read_exactly(case)}

    assert missed == UNREAD
    assert len(missed) <= len(HELD_OUT_LEGITIMATE) / 10


def test_no_held_out_ambiguous_reply_is_counted() -> None:
    readings = {case.id: parse_ballot(case.text, NONCE, ABC) for case in HELD_OUT_TORTURE}

    assert [id_ for id_, reading in readings.items() if isinstance(reading, ParsedBallot)] == []
