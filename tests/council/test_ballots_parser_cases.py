"""The tables of ballot cases are sound, and the parser agrees with every case."""

import pytest

from council.ballots import BallotFault, ParsedBallot, parse_ballot
from tests.council.ballot_cases import LEGITIMATE, NONCE, TORTURE, Legitimate, Torture

Ranking = tuple[tuple[str, ...], ...]

EVERY: tuple[Torture | Legitimate, ...] = (*TORTURE, *LEGITIMATE)


def _sorted_places(ranking: Ranking) -> Ranking:
    return tuple(tuple(sorted(place)) for place in ranking)


def _with_unranked_last(case: Legitimate) -> Ranking:
    ranked = {letter for place in case.ranking for letter in place}
    unranked = tuple(letter for letter in case.letters if letter not in ranked)
    return (*case.ranking, unranked) if unranked else case.ranking


def test_the_tables_are_long_enough() -> None:
    assert len(TORTURE) >= 75
    assert len(LEGITIMATE) >= 55


def test_no_two_cases_share_an_id() -> None:
    ids = [case.id for case in EVERY]

    assert len(ids) == len(set(ids))


def test_no_two_cases_share_a_reply() -> None:
    replies = [(case.text, case.letters) for case in EVERY]

    assert len(replies) == len(set(replies))


@pytest.mark.parametrize("case", LEGITIMATE, ids=lambda case: case.id)
def test_an_expected_ranking_names_known_letters_once(case: Legitimate) -> None:
    ranked = [letter for place in case.ranking for letter in place]

    assert ranked
    assert all(case.ranking)
    assert len(ranked) == len(set(ranked))
    assert set(ranked) <= set(case.letters)


@pytest.mark.parametrize("case", LEGITIMATE, ids=lambda case: case.id)
def test_a_legitimate_ballot_echoes_its_nonce(case: Legitimate) -> None:
    assert NONCE in case.text


@pytest.mark.parametrize("case", TORTURE, ids=lambda case: case.id)
def test_an_ambiguous_reply_spoils_the_ballot(case: Torture) -> None:
    assert isinstance(parse_ballot(case.text, NONCE, case.letters), BallotFault)


@pytest.mark.parametrize("case", LEGITIMATE, ids=lambda case: case.id)
def test_a_clear_ballot_is_parsed_exactly(case: Legitimate) -> None:
    reading = parse_ballot(case.text, NONCE, case.letters)

    assert isinstance(reading, ParsedBallot)
    assert _sorted_places(reading.ranking) == _with_unranked_last(case)
    assert case.reason is None or reading.reason == case.reason
