"""Tables of suites, bake-offs, schedules, records, experiments, and shared limits and locks."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Index, LargeBinary, UniqueConstraint
from sqlmodel import Field, SQLModel

from storage.tables import Json, UtcDateTime

SOURCE_COLUMNS = ("panel", "scope", "bakeoff", "suite", "suite_version", "category", "shape")


class _WithPlace(SQLModel):
    chat: str
    workspace: str
    channel: str
    thread: str | None = None
    private: bool = False


class SuiteRow(SQLModel, table=True):
    """A version of a suite; the one with the highest `nth` is the current one."""

    __tablename__ = "suite"
    scope: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    version: str = Field(primary_key=True)
    nth: int
    questions: int
    graded: int
    by: str
    kept_at: datetime = Field(sa_type=UtcDateTime)
    removed: bool = False


class SuiteBodyRow(SQLModel, table=True):
    """The content of a version, shared by all suites, bake-offs and experiments that have it."""

    __tablename__ = "suite_body"
    version: str = Field(primary_key=True)
    body: dict[str, Any] = Field(sa_type=Json)


class BakeoffRow(_WithPlace, table=True):
    """A bake-off; `panel` is a copy of the whole panel, `ended_at` is null while it runs."""

    __tablename__ = "bakeoff"
    id: str = Field(primary_key=True)
    suite: str
    suite_scope: str
    suite_version: str
    panel_name: str
    panel: dict[str, Any] = Field(sa_type=Json)
    scope: str
    asked_by: str
    at: datetime = Field(sa_type=UtcDateTime, index=True)
    cap_micro: int | None = Field(default=None, sa_type=BigInteger)
    schedule: str = Field(index=True)
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    failure: str | None = None


class ScheduleRow(_WithPlace, table=True):
    """A schedule; `last_slot` is the newest slot it has taken."""

    __tablename__ = "schedule"
    __table_args__ = (UniqueConstraint("scope", "name", name="uq_schedule_scope_name"),)
    id: str = Field(primary_key=True)
    name: str
    suite: str
    panel: str
    cron: str
    zone: str
    words: str
    made_by: str
    made_at: datetime = Field(sa_type=UtcDateTime)
    scope: str
    paused: bool = False
    cap_micro: int | None = Field(default=None, sa_type=BigInteger)
    last_slot: str = ""
    subscribers: list[str] = Field(sa_type=Json)


class SourceRow(SQLModel, table=True):
    """The values that many records share: panel, scope, bake-off, suite, category and shape."""

    __tablename__ = "source"
    __table_args__ = (UniqueConstraint(*SOURCE_COLUMNS, name="uq_source"),)
    id: int | None = Field(default=None, primary_key=True)
    panel: str
    scope: str
    bakeoff: str
    suite: str
    suite_version: str
    category: str
    shape: str


class _PackedNumbers(SQLModel):
    round_id: str = Field(primary_key=True, foreign_key="round.id", ondelete="CASCADE")
    asked_micro: int = Field(sa_type=BigInteger)
    number: int
    source_id: int = Field(foreign_key="source.id", index=True)
    numbers: bytes = Field(sa_type=LargeBinary)
    version: int


class RecordRow(_PackedNumbers, table=True):
    """The statistics of a closed round; `asked_micro` is microseconds since 1970, fast to read."""

    __tablename__ = "record"
    __table_args__ = (Index("ix_record_asked_micro_round_id", "asked_micro", "round_id"),)


class VotesRow(_PackedNumbers, table=True):
    """The rankings of a closed round, stored as its statistics are."""

    __tablename__ = "votes"
    __table_args__ = (Index("ix_votes_asked_micro_round_id", "asked_micro", "round_id"),)


class ExperimentRow(SQLModel, table=True):
    """An experiment; `panel` is a copy of the whole panel."""

    __tablename__ = "experiment"
    id: str = Field(primary_key=True)
    suite: str
    suite_scope: str
    suite_version: str
    panel: dict[str, Any] = Field(sa_type=Json)
    asked_by: str
    at: datetime = Field(sa_type=UtcDateTime, index=True)
    cap_micro: int | None = Field(default=None, sa_type=BigInteger)
    versions: dict[str, str] = Field(sa_type=Json)


class _OfExperiment(SQLModel):
    experiment_id: str = Field(primary_key=True, foreign_key="experiment.id", ondelete="CASCADE")
    number: int = Field(primary_key=True)


class ExperimentAnswerRow(_OfExperiment, table=True):
    """A member's answer to the question with this number."""

    __tablename__ = "experiment_answer"
    member: str = Field(primary_key=True)
    reply: dict[str, Any] = Field(sa_type=Json)


class ExperimentMarkRow(_OfExperiment, table=True):
    """A judge's reply when asked to grade an answer; `raw`, the grade, is null if it is spoiled."""

    __tablename__ = "experiment_mark"
    author: str = Field(primary_key=True)
    framing: str = Field(primary_key=True)
    judge: str = Field(primary_key=True)
    attempt: int = Field(primary_key=True)
    raw: int | None = None
    fault: str
    reply: dict[str, Any] = Field(sa_type=Json)


class TurnRow(SQLModel, table=True):
    """A rate limiter's ticket, in the database's time; once begun it counts for a whole minute."""

    __tablename__ = "turn"
    id: str = Field(primary_key=True)
    gate: str = Field(index=True)
    holder: str
    asked_at: datetime = Field(sa_type=UtcDateTime)
    begun_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    until: datetime = Field(sa_type=UtcDateTime)


class AdmittedRow(SQLModel, table=True):
    """A round that was admitted under a lock's name; it may be deleted before the row is."""

    __tablename__ = "admitted"
    round_id: str = Field(primary_key=True)
    name: str = Field(index=True)
    until: datetime = Field(sa_type=UtcDateTime)
