"""Column types that mean the same on SQLite and Postgres."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator, TypeEngine


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: aware in, stored as UTC, aware out. SQLite alone would drop the offset."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse a naive moment; it could mean any."""
        if value is not None and value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        return value and value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the moment back in UTC; Postgres gives it in the session's time zone."""
        if value is None or value.tzinfo:
            return value and value.astimezone(UTC)
        return value.replace(tzinfo=UTC)


class Json(TypeDecorator[object]):
    """A JSON document; JSONB where there is one."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Give the type the database has for it."""
        chosen = JSONB() if dialect.name == "postgresql" else JSON()
        return dialect.type_descriptor(chosen)
