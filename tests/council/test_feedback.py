"""What is stored of a person's vote, given their earlier one."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from council.feedback import HumanVote, settle_vote
from tests.builders import ASKED_AT

CAST = HumanVote("r1", "U1", "K", "gpt", ASKED_AT)
BLIND = replace(CAST, blind=True)
LATER = replace(CAST, label="L", at=ASKED_AT + timedelta(minutes=1))


@pytest.mark.parametrize("says", [True, False])
def test_every_vote_before_the_result_is_blind(says: bool) -> None:
    cast = replace(CAST, blind=says)

    assert settle_vote(cast, None, has_result=False, hides_result=False) == BLIND


def test_after_the_result_a_blind_vote_is_believed_only_where_the_result_is_hidden() -> None:
    hidden = settle_vote(BLIND, None, has_result=True, hides_result=True)
    open_ = settle_vote(BLIND, None, has_result=True, hides_result=False)
    seen = settle_vote(CAST, None, has_result=True, hides_result=True)

    assert (hidden.blind, open_.blind, seen.blind) == (True, False, False)


def test_somebody_who_voted_with_the_result_in_view_is_not_blind_again() -> None:
    again = settle_vote(replace(LATER, blind=True), CAST, has_result=True, hides_result=True)

    assert again == LATER


def test_the_newest_vote_stands_but_a_blind_one_outlives_the_result() -> None:
    newer = settle_vote(LATER, BLIND, has_result=False, hides_result=False)
    late = settle_vote(LATER, BLIND, has_result=True, hides_result=False)
    older = settle_vote(CAST, replace(LATER, blind=True), has_result=False, hides_result=False)

    assert newer == replace(LATER, blind=True)
    assert late == BLIND
    assert older == replace(LATER, blind=True)


@pytest.mark.parametrize(
    ("says", "before", "has_result", "hides"),
    [*product((True, False), (None, BLIND, CAST), (True, False), (True, False))],
)
def test_no_blind_vote_is_ever_replaced_by_another_kind(
    says: bool, before: HumanVote | None, has_result: bool, hides: bool
) -> None:
    stored = settle_vote(
        replace(LATER, blind=says), before, has_result=has_result, hides_result=hides
    )

    assert stored.blind or not (before and before.blind)


@pytest.mark.parametrize(
    ("by", "blind", "calibrates"),
    [("U1", True, True), ("U1", False, False), ("web:1a2b", True, False)],
)
def test_a_vote_calibrates_if_it_is_blind_and_its_voter_votes_once(
    by: str, blind: bool, calibrates: bool
) -> None:
    cast = replace(CAST, by=by, blind=blind)

    assert cast.calibrates is calibrates
    assert cast.is_named is (by == "U1")
