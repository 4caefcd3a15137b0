"""A datetime is the same moment in every database and time zone."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import Dialect, make_url

from storage.tables import UtcDateTime
from tests.builders import ASKED_AT

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
