"""Stored records and votes are compared with those of their round, number by number."""

import json
from dataclasses import replace

import numpy as np
import pytest

from council.answers import Exchange, LateReply, Prompt, Reply, Role
from council.bakeoffs.bias import votes
from council.bakeoffs.bias.number_verification import verify_record, verify_votes
from council.bakeoffs.bias.vote_arrays import pack_votes
from council.bakeoffs.models import Bakeoff, Grading, Reference, Suite, SuiteQuestion
from council.bakeoffs.record_arrays import pack_record
from council.bakeoffs.records import FIRST_VERSION, PackedRecord, build_record
from council.integrity.erasure import forget
from council.places import NOWHERE
from council.rounds import REVISION, Closing, Round
from tests.builders import ASKED_AT, CLAUDE, a_panel, a_round, with_answers, with_ballots

SUITE = Suite("sums", (SuiteQuestion("Why?", "", Reference(Grading.CONTAINS, "Answer")),))
BAKEOFF = Bakeoff("bo:1", SUITE, a_panel(4), NOWHERE, "U1", ASKED_AT)
CLOSED = with_ballots(with_answers(a_round(a_panel(4)))).with_(Closing(12.5))
ASKED = replace(CLOSED, id="bo:1.1", bakeoff="bo:1")
FORGOTTEN = forget(ASKED, ASKED_AT, "salt")
RECORD = pack_record(build_record(ASKED, BAKEOFF))
VOTES = pack_votes(votes.build_votes(ASKED), RECORD)


def with_number(packed: PackedRecord, index: int, number: float) -> PackedRecord:
    numbers = np.frombuffer(packed.numbers, "<f4").copy()
    numbers[index] = number
    return packed._replace(numbers=numbers.tobytes())


def fields(found: object) -> list[str]:
    assert isinstance(found, tuple)
    return [difference.field for difference in found]


@pytest.mark.parametrize("round_", [ASKED, FORGOTTEN], ids=["remembered", "forgotten"])
def test_numbers_of_the_round_itself_do_not_differ(round_: Round) -> None:
    assert verify_record(RECORD, round_, BAKEOFF) == ()
    assert verify_votes(VOTES, round_) == ()


@pytest.mark.parametrize("round_", [ASKED, FORGOTTEN], ids=["remembered", "forgotten"])
def test_an_edited_number_is_named(round_: Round) -> None:
    edited = with_number(RECORD, 0, 0.123)

    (found,) = verify_record(edited, round_, BAKEOFF)

    assert (found.field, found.stored) == (f"members[{CLAUDE}].share", pytest.approx(0.123))


@pytest.mark.parametrize("round_", [ASKED, FORGOTTEN], ids=["remembered", "forgotten"])
def test_an_edited_vote_is_named(round_: Round) -> None:
    edited = VOTES._replace(numbers=bytes([9]) + VOTES.numbers[1:])

    assert fields(verify_votes(edited, round_)) == [f"votes[{CLAUDE}, {CLAUDE}].doubled"]


def test_a_number_that_only_the_texts_tell_is_compared_while_they_are_there() -> None:
    refused = with_number(RECORD, 3, 1)

    assert fields(verify_record(refused, ASKED, BAKEOFF)) == [f"members[{CLAUDE}].refused"]
    assert verify_record(refused, FORGOTTEN, BAKEOFF) == ()


def test_edited_names_and_sources_are_named() -> None:
    members, *rest = json.loads(RECORD.shape)
    renamed = RECORD._replace(shape=json.dumps([["x", *members[1:]], *rest]), suite="law")
    makers = json.loads(VOTES.shape)
    makers[1][0] = "nobody"

    found = fields(verify_record(renamed, ASKED, BAKEOFF))

    assert found[0] == "suite"
    assert {"members[x].share", f"members[{CLAUDE}].share"} <= {*found}
    found = fields(verify_votes(VOTES._replace(shape=json.dumps(makers), panel="other"), ASKED))
    assert found == ["panel", f"judges[{CLAUDE}].maker"]


def test_grades_and_suite_are_not_compared_once_the_bakeoff_was_deleted() -> None:
    assert verify_record(RECORD, ASKED, None) == ()
    assert fields(verify_record(with_number(RECORD, 0, 0.1), ASKED, None))


def test_a_round_of_no_bakeoff_has_no_suite() -> None:
    own = pack_record(build_record(CLOSED))

    assert verify_record(own, CLOSED, None) == ()
    assert fields(verify_record(own._replace(suite="law"), CLOSED, None)) == ["suite"]


def test_numbers_that_cannot_be_read_are_named() -> None:
    for shape in ("broken", "[]", "[[],[],1]"):
        assert fields(verify_record(RECORD._replace(shape=shape), ASKED, BAKEOFF)) == ["numbers"]
    for numbers in (b"0", VOTES.numbers + b"0"):
        assert fields(verify_votes(VOTES._replace(numbers=numbers), ASKED)) == ["numbers"]


def test_a_field_from_after_the_record_was_stored_is_no_difference() -> None:
    members, judges, layout, _ = json.loads(RECORD.shape)
    assert layout[2][2].pop() == "won"
    layout[2][2].append("forgone")
    older = RECORD._replace(shape=json.dumps([members, judges, layout]))

    found = {field.rpartition(".")[2] for field in fields(verify_record(older, ASKED, BAKEOFF))}

    assert found == {"forgone"}


def test_an_old_record_is_left_to_be_computed_again_but_not_that_of_a_forgotten_round() -> None:
    old, old_votes = RECORD._replace(version=FIRST_VERSION - 1), VOTES._replace(version=0)

    assert verify_record(old, ASKED, BAKEOFF) == verify_votes(old_votes, ASKED) == ()
    assert fields(verify_record(old, FORGOTTEN, BAKEOFF)) == ["version"]
    assert fields(verify_votes(old_votes, FORGOTTEN)) == ["version"]


def test_a_reply_after_the_end_is_no_difference_in_cost() -> None:
    late = LateReply(CLAUDE, Role.ANSWER, Prompt("", ""), Reply("Late.", cost_usd=1.0))

    assert verify_record(RECORD, replace(ASKED, late=(late,)), BAKEOFF) == ()


def test_names_masked_in_revisions_are_not_compared() -> None:
    revision = Exchange(REVISION, CLAUDE, Prompt("", ""), Reply("Answer 0."))
    revised = replace(ASKED, exchanges=(revision,))
    record = pack_record(build_record(revised, BAKEOFF))

    assert verify_record(with_number(record, 11, 1), revised, BAKEOFF) == ()
