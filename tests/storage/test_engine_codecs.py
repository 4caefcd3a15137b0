"""NUL on Postgres: refused in one sentence, and read where version 0.1 has stored it escaped."""

from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from council.errors import StoreError
from council.rounds import Question
from storage.rounds import SqlRoundStore
from tests.builders import a_round, an_answer

STORED = {"a\uffff0b": "a\0b", "a\uffff1b": "a\uffffb", "\uffff10": "\uffff0", "\\\uffff0": "\\\0"}


@pytest.mark.parametrize("stored", STORED, ids=ascii)
async def test_an_escaped_text_is_restored(server_engine: AsyncEngine, stored: str) -> None:
    store = SqlRoundStore(server_engine)
    await store.open(a_round())
    await store.save("r1", replace(an_answer(), scrubbed=("GPT",)))
    async with server_engine.begin() as connection:
        await connection.execute(text("UPDATE round SET question = :stored"), {"stored": stored})
        scrubbed = text("UPDATE answer SET scrubbed = jsonb_build_array(CAST(:stored AS text))")
        await connection.execute(scrubbed, {"stored": stored})

    found = await store.load("r1")

    assert found.question.text == STORED[stored]
    assert found.answers[0].scrubbed == (STORED[stored],)


async def test_a_text_with_nul_is_refused_in_one_sentence(server_engine: AsyncEngine) -> None:
    store = SqlRoundStore(server_engine)
    await store.open(a_round())

    with pytest.raises(StoreError, match="^A text contains NUL"):
        await store.open(replace(a_round(question=Question("Why\0?")), id="r2"))
    with pytest.raises(StoreError, match="^A text contains NUL"):
        await store.save("r1", replace(an_answer(), scrubbed=("\0",)))
