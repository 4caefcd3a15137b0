"""Times are the same moments and texts in the same order in every database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import Dialect, make_url, select
from sqlmodel import col

from council.ports import Store
from storage.tables import RoundRow, UtcDateTime, by_letter
from tests.builders import ASKED_AT, a_round

SQLITE, POSTGRES = (make_url(f"{name}://").get_dialect()() for name in ("sqlite", "postgresql"))
BERLIN = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    "moment", [ASKED_AT, ASKED_AT.astimezone(BERLIN), ASKED_AT.replace(microsecond=1)]
)
def test_a_time_is_stored_in_utc(moment: datetime) -> None:
    bound = UtcDateTime().process_bind_param(moment, SQLITE)

    assert bound == moment
    assert bound.tzinfo is UTC


@pytest.mark.parametrize(
    ("given", "dialect"),
    [
        pytest.param(ASKED_AT.replace(tzinfo=None), SQLITE, id="sqlite-without-a-zone"),
        pytest.param(ASKED_AT, POSTGRES, id="postgres-in-utc"),
        pytest.param(ASKED_AT.astimezone(BERLIN), POSTGRES, id="postgres-in-the-session's-zone"),
    ],
)
def test_a_time_is_read_in_utc(given: datetime, dialect: Dialect) -> None:
    found = UtcDateTime().process_result_value(given, dialect)

    assert found == ASKED_AT
    assert found.tzinfo is UTC


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        UtcDateTime().process_bind_param(ASKED_AT.replace(tzinfo=None), SQLITE)


def test_no_time_stays_none() -> None:
    assert UtcDateTime().process_bind_param(None, SQLITE) is None
    assert UtcDateTime().process_result_value(None, SQLITE) is None


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
