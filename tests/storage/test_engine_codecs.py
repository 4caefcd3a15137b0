"""Every text comes back unchanged, even with NUL, which Postgres cannot store."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.ports import RoundQuery, Store
from council.rounds import Question
from storage.engine import ESCAPE, dump_document, escape_text, load_document, unescape_text
from tests.builders import a_round, an_answer

ODD = st.text(st.sampled_from(["\0", ESCAPE, "0", "1", "a", "\\", "u"]))
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | ODD,
    lambda inner: st.lists(inner) | st.dictionaries(ODD, inner),
)


@given(ODD)
def test_a_text_comes_back_without_ever_holding_nul(text: str) -> None:
    assert "\0" not in escape_text(text)
    assert unescape_text(escape_text(text)) == text


@given(ODD, ODD)
def test_different_texts_are_escaped_differently(one: str, other: str) -> None:
    assert (escape_text(one) == escape_text(other)) is (one == other)


@given(DOCUMENTS)
def test_a_document_comes_back_without_ever_holding_nul(document: object) -> None:
    said = dump_document(document)

    assert "\\u0000" not in said.replace("\\\\", "")
    assert load_document(said) == document


@pytest.mark.parametrize("odd", ["\0", "Why\0?", ESCAPE, f"{ESCAPE}0", "\\u0000"])
async def test_a_store_gives_it_back(store: Store, odd: str) -> None:
    question = Question(odd, odd, odd)
    await store.open(replace(a_round(), question=question))
    answer = replace(an_answer(text=odd or "x"), scrubbed=(odd,))

    await store.save("r1", answer)

    found = await store.load("r1")
    assert (found.question, found.answers) == (question, (answer,))
    assert [line.id for line in await store.list_summaries(wanted=RoundQuery(odd))] == ["r1"]
