import json
from dataclasses import replace
from math import comb

import numpy as np
import pytest

from council.bakeoffs.packed_tables import SINGLE, Table, unpack_tables
from council.bakeoffs.record_arrays import count_repeats, pack_record, record_columns
from council.bakeoffs.records import (
    AUTHOR_FIELDS,
    FIRST_VERSION,
    JUDGE_FIELDS,
    ROUND_FIELDS,
    VERSION,
    AuthorRecord,
    CouncilRecord,
    JudgeRecord,
    Margin,
    PackedRecord,
)
from council.tally.consistency import Repeats
from tests.council.bakeoffs.record_builders import a_record, of

WRITTEN = AuthorRecord(
    "a", 0.75, 2, True, refused=True, words=90, tokens_out=120, cost_usd=0.25, seconds=1.5
)
ABSENT = AuthorRecord('ç"c', absent=True)
JUDGED = JudgeRecord("j", valid=True, spoiled=1, tau_b=-0.5, first_slot=0.75, kept=2, pairs=3)


def test_columns_hold_every_number_of_a_record() -> None:
    whole = CouncilRecord("a", council_correct=False, cost_usd=0.5, seconds=9, synthesis_usd=0.125)
    record = replace(a_record({}), authored=(WRITTEN, ABSENT), judged=(JUDGED,), whole=whole)

    found = of(replace(record, margins=(Margin("a", 'ç"c', 0.5, 2, None),)))

    for name in AUTHOR_FIELDS:
        assert found.author(name)[0] == _numbers(name, WRITTEN, ABSENT)
    for name in JUDGE_FIELDS:
        assert found.judge(name)[0] == _numbers(name, JUDGED)
    for name in ROUND_FIELDS[1:]:
        assert found.round(name) == _numbers(name, whole)
    assert found.round("winner") == [0]
    assert found.margin("a", 'ç"c') == [0.5]
    assert np.isnan(found.won("a", 'ç"c'))


def _numbers(name: str, *records: object) -> object:
    numbers = [getattr(record, name) for record in records]
    return pytest.approx(
        [np.nan if number is None else float(number) for number in numbers], nan_ok=True
    )


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
        replace(
            a_record({"ada": 0.0, "cyd": 1.0}, number=2, judged=[JudgeRecord("kim", valid=True)]),
            chairman="kim",
        ),
        a_record({"ada": 0.25, "bob": 0.75}, number=3, judged=[JudgeRecord("jo", spoiled=2)]),
    ).only(np.array([False, True, True]))

    assert [row.number for row in found.rows] == [2, 3]
    assert found.chairmen == ("kim", "")
    assert found.judges == ("jo", "kim")
    assert np.array_equal(found.judge("spoiled"), [[np.nan, 0], [2, np.nan]], equal_nan=True)
    assert np.array_equal(found.margin("ada", "bob"), [np.nan, -0.5], equal_nan=True)
    assert found.only(np.array([False, True])).members == ("ada", "bob")


# Fields that were added after records had begun to name theirs.
ADDED = ("grade", "chair_slot", "drawn_on", "strength", "is_sure", "departs")


def stored_without(packed: PackedRecord, *unknown: str) -> PackedRecord:
    """Return a record as a program would have stored it that did not know some fields."""
    members, judges, layout, _ = json.loads(packed.shape)
    rows = {"m": len(members), "j": len(judges), "p": comb(len(members), 2), "": 1}
    kept, numbers = [], np.frombuffer(packed.numbers, "<f4")
    for axes, _, fields in layout:
        own, numbers = np.split(numbers, [rows[axes] * len(fields)])
        known = [i for i, name in enumerate(fields) if name not in unknown]
        kept.append(own.reshape(-1, len(fields))[:, known].tobytes())
        fields[:] = [fields[i] for i in known]
    shape = json.dumps([members, judges, layout])
    return packed._replace(shape=shape, numbers=b"".join(kept))


@pytest.mark.parametrize("field", ["share", "words", AUTHOR_FIELDS[-1]])
def test_a_record_from_before_a_field_was_added_has_every_other_number(field: str) -> None:
    new = a_record({"ada": 1.0, "bob": 0.0}, number=1, words={"ada": 9, "bob": 8})
    old = pack_record(a_record({"ada": 0.75, "bob": 0.25}, number=2, words={"ada": 7, "bob": 6}))

    found = record_columns([pack_record(new), stored_without(old, field)])

    expected = record_columns([pack_record(new), old])
    assert len(found.rows) == 2
    for name in AUTHOR_FIELDS:
        known = expected.author(name) if name != field else [expected.author(name)[0], [np.nan] * 2]
        assert np.array_equal(found.author(name), known, equal_nan=True)
    assert np.array_equal(found.margin("ada", "bob"), [1, 0.5])


def test_a_record_of_a_later_program_is_read_by_the_fields_that_are_known() -> None:
    packed = pack_record(a_record({"ada": 1.0, "bob": 0.0}))
    members, judges, layout, chairman = json.loads(packed.shape)
    layout.append(["m", "<f4", ["sparkle"]])
    more = packed._replace(
        shape=json.dumps([members, judges, layout, chairman, {}]),
        numbers=packed.numbers + bytes(8),
        version=VERSION + 1,
    )

    assert np.array_equal(record_columns([more]).author("share"), [[1, 0]])


def test_records_that_did_not_name_their_fields_are_still_read() -> None:
    named = pack_record(a_record({"ada": 1.0, "bob": 0.0}, judged=[JUDGED]))
    packed = stored_without(named, *ADDED)
    unnamed = packed._replace(shape=json.dumps(json.loads(packed.shape)[:2]), version=FIRST_VERSION)

    found = record_columns([unnamed])

    assert np.array_equal(found.author("share"), [[1, 0]])
    assert np.array_equal(found.judge("first_slot"), [[0.75]])
    assert found.chairmen == ("",)


def test_records_from_before_the_first_release_are_left_out() -> None:
    old = pack_record(a_record({"ada": 1.0, "bob": 0.0}))._replace(version=FIRST_VERSION - 1)

    assert record_columns([old]).rows == ()


def test_no_records_are_columns_of_no_length() -> None:
    found = record_columns([])

    assert (found.rows, found.members, found.judges) == ((), (), ())
    assert found.author("share").shape == (0, 0)


def test_numbers_of_another_length_than_their_layout_are_refused() -> None:
    layout = (Table("m", SINGLE, ("share",)),)

    with pytest.raises(ValueError, match="12 bytes a round, where the layout has 8"):
        unpack_tables(layout, {"m": 2}, [b"0" * 12])


def test_repeats_are_the_ballots_that_say_how_many_pairs_were_kept() -> None:
    steady = JudgeRecord("ada", valid=True, kept=3, pairs=3)
    half = JudgeRecord("ada", valid=True, kept=1, pairs=2)
    once = JudgeRecord("bob", valid=True)
    shares = {"ada": 1.0, "bob": 0.0}
    rounds = [a_record(shares, judged=[steady, once]), a_record(shares, number=2, judged=[half])]

    found = count_repeats(record_columns(map(pack_record, rounds)))

    # (3/3 + 1/2) / 2, each ballot alike; bob was never asked again.
    assert found == {"ada": Repeats(2, 0.75)}


# ada puts x first, bob ties x and y, cyd puts y first, dee did not vote.
