"""Texts have the same order in every database and in Python."""

from dataclasses import replace

import pytest
from sqlalchemy import make_url, select
from sqlmodel import col

from council.ports import Store
from storage.tables import RoundRow, by_letter
from tests.builders import a_round

IDS = sorted(["A", "B-1", "B1", "_", "a", "b", "Ä", "ä", "é", "z", "日", "🧠"])


@pytest.mark.parametrize(
    ("database", "expected"),
    [
        pytest.param("postgresql", 'ORDER BY round.id COLLATE "C" DESC', id="postgres"),
        pytest.param("sqlite", "ORDER BY round.id DESC", id="sqlite"),
    ],
)
def test_the_order_is_explicit_whatever_the_servers_language(database: str, expected: str) -> None:
    query = select(col(RoundRow.id)).order_by(by_letter(RoundRow.id).desc())

    compiled = str(query.compile(dialect=make_url(f"{database}://").get_dialect()()))

    assert compiled.endswith(expected)


async def test_rounds_of_the_same_time_are_sorted_by_code_point(store: Store) -> None:
    for round_id in reversed(IDS):
        await store.open(replace(a_round(), id=round_id))

    assert [*await store.ids()] == IDS
    assert [line.id for line in await store.list_summaries()] == IDS
