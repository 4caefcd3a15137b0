"""The tables of what processes on one server share for a while; every moment in them is its own."""

from datetime import datetime

from sqlmodel import Field, SQLModel

from storage.types import UtcDateTime


class TurnRow(SQLModel, table=True):
    """A ticket of one process at a provider's address: it waits until it has begun.

    Every moment is the database's. After `until` nobody holds it any more; it counts as begun for
    the rest of its minute.
    """

    __tablename__ = "turn"
    id: str = Field(primary_key=True)
    gate: str = Field(index=True)
    holder: str
    asked_at: datetime = Field(sa_type=UtcDateTime)
    begun_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    until: datetime = Field(sa_type=UtcDateTime)


class AdmittedRow(SQLModel, table=True):
    """A round that was let in under a name and may not be carried yet, until a moment.

    The moment is the database's. It belongs to no row of `round`, which may be dropped meanwhile.
    """

    __tablename__ = "admitted"
    round_id: str = Field(primary_key=True)
    name: str = Field(index=True)
    until: datetime = Field(sa_type=UtcDateTime)
