from dataclasses import replace
from datetime import UTC, datetime
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.bakeoffs.record_arrays import pack_record, record_columns, unpack_record
from council.bakeoffs.records import (
    VERSION,
    AuthorRecord,
    CouncilRecord,
    JudgeRecord,
    Margin,
    Record,
)
from tests.council.bakeoffs.record_builders import a_record, of

SINGLE = st.floats(0, 1, width=32)
MAYBE = st.none() | SINGLE
COUNT = st.integers(0, 10_000)
AUTHORS = st.builds(
    AuthorRecord,
    member=st.just(""),
    share=MAYBE,
    place=st.none() | COUNT,
    correct=st.none() | st.booleans(),
    refused=st.booleans(),
    absent=st.booleans(),
    words=st.none() | COUNT,
    tokens_out=st.none() | COUNT,
    cost_usd=MAYBE,
    seconds=MAYBE,
    first_votes=st.none() | COUNT,
    ballots=st.none() | COUNT,
    named_itself=st.booleans(),
)
JUDGES = st.builds(
    JudgeRecord,
    judge=st.just(""),
    valid=st.booleans(),
    spoiled=COUNT,
    tau_b=MAYBE,
    first_slot=MAYBE,
    kept=COUNT,
    pairs=COUNT,
    cost_usd=MAYBE,
)
WHOLES = st.builds(
    CouncilRecord,
    winner=st.none() | st.sampled_from(["a", "b"]),
    council_correct=st.none() | st.booleans(),
    cost_usd=MAYBE,
    seconds=MAYBE,
    synthesis_usd=MAYBE,
    synthesis_seconds=MAYBE,
)


@st.composite
def _records(draw: st.DrawFn) -> Record:
    members = draw(st.sampled_from([("a", "b"), ("a", "b", 'ç"c'), ("a", "b", "c", "d")]))
    judges = draw(st.lists(st.sampled_from(["a", "b", "j"]), unique=True))
    pairs = [("a", "b"), *((members[0], other) for other in members[2:])]
    return Record(
        round_id="r1",
        asked_at=datetime(2026, 11, 21, tzinfo=UTC),
        panel="house",
        scope="slack/T1",
        authored=tuple(replace(draw(AUTHORS), member=member) for member in members),
        judged=tuple(replace(draw(JUDGES), judge=judge) for judge in judges),
        margins=tuple(
            Margin(*pair, draw(MAYBE), draw(COUNT), draw(MAYBE))
            for pair in sorted(pairs)
            if draw(st.booleans())
        ),
        whole=draw(WHOLES),
        bakeoff="bo:1",
        number=3,
        suite="sql",
        suite_version="abc",
        category="joins",
    )


@given(_records())
def test_a_record_comes_back_as_it_was_packed(record: Record) -> None:
    assert unpack_record(pack_record(record)) == record


def test_columns_hold_the_union_of_members_and_know_nothing_of_who_did_not_sit() -> None:
    found = of(
        a_record({"bob": 1.0, "ada": 0.0}, number=1),
        a_record({"cyd": 0.25, "ada": 0.75}, number=2, seconds={"ada": 2.0}),
    )

    assert found.members == ("ada", "bob", "cyd")
    assert np.array_equal(
        found.author("share"), [[0, 1, np.nan], [0.75, np.nan, 0.25]], equal_nan=True
    )
    assert np.array_equal(found.author("seconds")[:, 0], [np.nan, 2], equal_nan=True)


def test_columns_are_in_the_order_of_asking_whatever_shapes_there_are() -> None:
    rounds = [
        a_record({"ada": 0.1, "bob": 0.9}, run=1),
        a_record({"ada": 0.2, "cyd": 0.8}, run=0),
        a_record({"ada": 0.3, "bob": 0.7}, run=2),
    ]

    found = of(*rounds)

    assert [row.bakeoff for row in found.rows] == ["run0", "run1", "run2"]
    assert found.author("share")[:, 0] == pytest.approx([0.2, 0.1, 0.3])


def test_a_margin_turns_with_its_pair() -> None:
    found = of(a_record({"bob": 0.75, "ada": 0.25}), a_record({"cyd": 1.0, "ada": 0.0}, number=2))

    assert np.array_equal(found.margin("ada", "bob"), [-0.5, np.nan], equal_nan=True)
    assert np.array_equal(found.margin("bob", "ada"), [0.5, np.nan], equal_nan=True)
    assert np.array_equal(found.won("ada", "cyd"), [np.nan, 0], equal_nan=True)
    assert np.array_equal(found.won("cyd", "ada"), [np.nan, 1], equal_nan=True)


def test_winners_are_counted_among_all_members_and_among_those_that_are_left() -> None:
    found = of(
        a_record({"bob": 1.0, "cyd": 0.0}, whole=CouncilRecord(winner="bob")),
        a_record({"ada": 1.0, "cyd": 0.0}, number=2, whole=CouncilRecord(winner="cyd")),
        a_record({"bob": 1.0, "cyd": 0.0}, number=3),
    )

    assert np.array_equal(found.round("winner"), [1, 2, np.nan], equal_nan=True)
    left = found.only(np.array([True, False, True]))
    assert left.members == ("bob", "cyd")
    assert np.array_equal(left.round("winner"), [0, np.nan], equal_nan=True)


def test_rounds_that_are_left_keep_their_pairs_and_judges() -> None:
    found = of(
        a_record({"ada": 1.0, "bob": 0.0}, judged=[JudgeRecord("jo", spoiled=1)]),
        a_record({"ada": 0.0, "cyd": 1.0}, number=2, judged=[JudgeRecord("kim", valid=True)]),
        a_record({"ada": 0.25, "bob": 0.75}, number=3, judged=[JudgeRecord("jo", spoiled=2)]),
    ).only(np.array([False, True, True]))

    assert [row.number for row in found.rows] == [2, 3]
    assert found.judges == ("jo", "kim")
    assert np.array_equal(found.judge("spoiled"), [[np.nan, 0], [2, np.nan]], equal_nan=True)
    assert np.array_equal(found.margin("ada", "bob"), [np.nan, -0.5], equal_nan=True)
    assert found.only(np.array([False, True])).members == ("ada", "bob")


def test_records_of_another_version_are_left_out() -> None:
    old = pack_record(a_record({"ada": 1.0, "bob": 0.0}))._replace(version=VERSION - 1)

    assert record_columns([old]).rows == ()


def test_no_records_are_columns_of_no_length() -> None:
    found = record_columns([])

    assert (found.rows, found.members, found.judges) == ((), (), ())
    assert found.author("share").shape == (0, 0)


@pytest.mark.nightly
def test_a_hundred_thousand_rounds_of_five_are_unpacked_in_less_than_a_second() -> None:
    row = pack_record(
        a_record(dict.fromkeys("abcde", 0.5), judged=[JudgeRecord(name) for name in "abcde"])
    )
    rows = [row._replace(number=i) for i in range(100_000)]

    start = process_time()
    found = record_columns(rows)

    assert len(found.rows) == 100_000
    assert process_time() - start < 1.0
