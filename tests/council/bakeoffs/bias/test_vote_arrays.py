"""Votes are packed and come back as arrays."""

import json

import numpy as np
import pytest

from council.bakeoffs.bias.vote_arrays import (
    ABSENT,
    AUDIT_KINDS,
    MAX_BLOCK_ROUNDS,
    Block,
    pack_votes,
    vote_blocks,
)
from council.bakeoffs.bias.votes import (
    FIRST_VERSION,
    VERSION,
    AuditVote,
    Check,
    Votes,
    WrittenAnswer,
)
from tests.council.bakeoffs.bias.simulated_blocks import Planted, as_votes, simulated
from tests.council.bakeoffs.bias.vote_builders import (
    PLAIN,
    RECORD,
    a_vote,
    an_audit,
    blocks_of,
    votes,
)

ONE = votes(
    a_vote("a", "c b=d", shown="d c b"),
    a_vote("b", "d a c"),
    audit=an_audit("own", a_vote("a", "a c b d", shown="b a c d")),
    written=(WrittenAnswer("a", True, 120, (2, 0, 1, 300)), WrittenAnswer("c", False, 80, PLAIN)),
)


def test_ranks_and_places_stand_by_judge_and_author() -> None:
    (block,) = blocks_of(ONE)

    # Judge a ranked c first, b and d share places two and three, whose mean is 2.5.
    assert block.doubled[0, 0].tolist() == [0, 5, 2, 5]
    assert block.slots[0, 0].tolist() == [0, 3, 2, 1]
    assert block.doubled[0, 1].tolist() == [4, 0, 6, 2]
    assert not block.doubled[0, 2:].any()


def test_shares_are_borda_shares() -> None:
    (block,) = blocks_of(ONE)

    np.testing.assert_allclose(block.shares[0, 0], [np.nan, 0.25, 1.0, 0.25])
    assert np.isnan(block.shares[0, 3]).all()


def test_a_ballot_over_one_answer_has_no_shares() -> None:
    (block,) = blocks_of(votes(a_vote("a", "b")))

    assert np.isnan(block.shares).all()
    assert not block.ballots.any()
    assert len(block.voted.audit) == 0


def test_an_audit_stands_with_its_kind_judge_and_cost() -> None:
    (block,) = blocks_of(ONE)

    assert AUDIT_KINDS[block.audit[0]] == "own"
    assert block.judges[block.audited_by[0]] == "a"
    assert block.audit_doubled[0].tolist() == [2, 6, 4, 8]
    assert block.usd[0] == 0.5
    assert block.audits("own", 0).tolist() == [True]
    assert block.audits("own", 1).tolist() == [False]


def test_answers_stand_by_author_and_counts_end_before_what_means_nobody() -> None:
    (block,) = blocks_of(ONE)

    assert block.first[0].tolist() == [1, ABSENT, 0, ABSENT]
    assert block.style[0, 0].tolist() == [2, 0, 1, ABSENT - 1]
    np.testing.assert_array_equal(block.lengths[0], [120, np.nan, 80, np.nan])


def test_missing_seats_and_answers_are_marked_absent() -> None:
    seats = Votes(("a", "b", "j"), ("x", "y", "z"), 2, spoiled=(("a", 300),))
    (block,) = blocks_of(seats)

    assert (block.audit[0], block.audited_by[0]) == (0, ABSENT)
    assert block.spoiled[0].tolist() == [ABSENT - 1, ABSENT, ABSENT]
    assert block.doubled.shape == (1, 3, 2)
    assert np.isnan(block.usd).all()


def test_a_spoiled_audit_and_one_of_a_later_kind_are_told_apart() -> None:
    spoiled = Votes(("a", "b"), ("x", "y"), 2, audit=AuditVote("b", "", None, 0.1))
    later = votes(a_vote("a", "b c"), audit=an_audit("loud", a_vote("a", "c b")))

    kinds = [AUDIT_KINDS[block.audit[0]] for block in blocks_of(spoiled, later)]

    assert kinds == ["spoiled", "other"]


def test_rounds_of_other_seats_are_blocks_of_their_own() -> None:
    other = votes(a_vote("x", "y z"), judges=tuple("xyz"), makers=("m", "n", "o"), members=3)

    found = blocks_of(ONE, other, ONE)

    assert [(block.judges, len(block.audit)) for block in found] == [
        (tuple("abcd"), 2),
        (tuple("xyz"), 1),
    ]


def test_very_many_rounds_of_the_same_seats_are_cut_into_blocks() -> None:
    row = pack_votes(ONE, RECORD)

    assert [len(block.audit) for block in vote_blocks([row] * (MAX_BLOCK_ROUNDS + 1))] == [
        MAX_BLOCK_ROUNDS,
        1,
    ]


def test_votes_from_before_the_first_release_are_left_out() -> None:
    row = pack_votes(ONE, RECORD)

    assert row.version == VERSION
    assert vote_blocks([row._replace(version=FIRST_VERSION - 1)]) == ()


@pytest.mark.parametrize("named", [3, 4])
def test_votes_that_did_not_name_their_numbers_are_still_read(named: int) -> None:
    row = pack_votes(ONE, RECORD)
    unnamed = row._replace(shape=json.dumps(json.loads(row.shape)[:named]), version=FIRST_VERSION)

    (found,) = vote_blocks([unnamed])

    (expected,) = vote_blocks([row])
    for name in ("doubled", "slots", "first", "style", "lengths", "usd", "checks"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


def test_votes_from_before_a_number_was_added_have_every_other_one() -> None:
    row = pack_votes(ONE, RECORD)
    *seats, layout = json.loads(row.shape)
    removed = [name for *_, (name, *_) in layout].index("slots")
    sizes = {"j": len(seats[0]), "m": seats[2]}
    start = end = sizes["j"] * sizes["m"]
    assert layout.pop(removed) == ["jm", "u1", ["slots"]]
    numbers = row.numbers[:start] + row.numbers[start + end :]

    (found,) = vote_blocks([row._replace(shape=json.dumps([*seats, layout]), numbers=numbers)])

    (expected,) = vote_blocks([row])
    assert not found.slots.any()
    np.testing.assert_array_equal(found.doubled, expected.doubled)
    np.testing.assert_array_equal(found.style, expected.style)


def test_what_is_packed_comes_back_whole() -> None:
    block = simulated(40, Planted(), seed=3)

    (again,) = blocks_of(*as_votes(block))

    for name in ("doubled", "slots", "audit", "audited_by", "audit_doubled", "spoiled", "first"):
        np.testing.assert_array_equal(getattr(again, name), getattr(block, name), err_msg=name)
    np.testing.assert_array_equal(again.style, block.style)
    np.testing.assert_array_equal(again.lengths, block.lengths)
    np.testing.assert_array_equal(again.usd, block.usd)


def test_only_rounds_in_which_somebody_voted_are_measured() -> None:
    (block,) = blocks_of(ONE, votes(), ONE)

    assert isinstance(block, Block)
    assert len(block.voted.audit) == 2
    assert block.voted.voted is not None
    assert block.voted.judges == block.judges


def test_rounds_with_other_checks_are_in_other_blocks() -> None:
    checked = votes(a_vote("a", "b c d"), checks=(Check("canary", "a", found=True),))

    plain, one = blocks_of(votes(a_vote("a", "b c d")), checked)

    assert plain.checked == ()
    assert plain.checks.shape == (1, 0)
    assert one.checked == (("canary", "a"),)
    assert one.checks.tolist() == [[1]]
    assert one.usd.shape == plain.usd.shape
