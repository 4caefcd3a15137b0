"""A flag is stored as the sentence it always was, and read back as the same value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from council.integrity.seal import plain_json
from council.tally import Flag, FlagKind
from council.tally.flags import parse_flag

SEATS = ("gpt", "my model", "my model named Ada")
# As rounds have stored them since the first release with flags of the kind.
STORED = {
    "2 of 3 seats are of the openai family": Flag(
        FlagKind.FAMILY_MAJORITY, detail=("2", "3", "openai")
    ),
    "my model sits in for GPT 5": Flag(FlagKind.STAND_IN, "my model", ("GPT 5",)),
    "my model did not answer": Flag(FlagKind.NO_ANSWER, "my model"),
    "gpt has no ballot that counts": Flag(FlagKind.NO_BALLOT, "gpt"),
    "gpt did not revise its draft": Flag(FlagKind.DRAFT_KEPT, "gpt"),
    "gpt did not put the canary last": Flag(FlagKind.CANARY_NOT_LAST, "gpt"),
    "my model named Ada in its reason": Flag(FlagKind.MODEL_NAMED, "my model", ("Ada",)),
    "my model named Ada named GPT in its reason": Flag(
        FlagKind.MODEL_NAMED, "my model named Ada", ("GPT",)
    ),
    "gpt may have followed an instruction in an answer": Flag(FlagKind.INSTRUCTION_FOLLOWED, "gpt"),
    "gpt rose far above earlier rounds": Flag(FlagKind.JUMP, "gpt"),
    "gpt changed its ranking in the discussion": Flag(FlagKind.RANKING_CHANGED, "gpt"),
    "A and B tied, so a lot drawn from the seed decided that A went on": Flag(
        FlagKind.TIE_BY_LOT, detail=("A", "B", "A")
    ),
    "nobody judged A and B in both orders, so a lot drawn from the seed decided that B went on": (
        Flag(FlagKind.UNJUDGED_PAIR_BY_LOT, detail=("A", "B", "B"))
    ),
    "my model wrote in verse": Flag(FlagKind.OTHER, "my model", ("wrote in verse",)),
    "it rained": Flag(FlagKind.OTHER, detail=("it rained",)),
}


@pytest.mark.parametrize(("text", "flag"), STORED.items())
def test_a_flag_is_stored_as_its_sentence(text: str, flag: Flag) -> None:
    assert str(flag) == text
    assert parse_flag(text, SEATS) == flag


def test_every_stored_kind_is_among_them() -> None:
    assert {flag.kind for flag in STORED.values()} == {*FlagKind} - {FlagKind.SUSPICIOUS_TEXT}


WORDS = st.sampled_from([*SEATS, *(kind.value for kind in FlagKind), " ", "named", "{}", "{0}"])


@given(st.text() | st.lists(WORDS | st.text(max_size=3)).map(" ".join))
def test_whatever_was_stored_stays_as_it_was(text: str) -> None:
    assert str(parse_flag(text, SEATS)) == text


def test_exports_and_seals_have_the_sentence() -> None:
    flag = Flag(FlagKind.NO_ANSWER, "my model")
    adapter = TypeAdapter(tuple[Flag, ...])

    exported = adapter.dump_json((flag,))

    assert exported == b'["my model did not answer"]'
    assert [str(one) for one in adapter.validate_json(exported)] == [str(flag)]
    assert plain_json((flag,)) == [str(flag)]
