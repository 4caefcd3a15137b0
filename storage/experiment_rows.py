"""The tables of experiments: each with its answers, and the marks given to them.

Rows carry no behaviour and are not validated; what they hold comes from the council's own values.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger
from sqlmodel import Field, SQLModel

from storage.types import Json, UtcDateTime


class ExperimentRow(SQLModel, table=True):
    """An experiment; `panel` is the whole panel as it sat."""

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
    """What a member answered to the question of this number."""

    __tablename__ = "experiment_answer"
    member: str = Field(primary_key=True)
    reply: dict[str, Any] = Field(sa_type=Json)


class ExperimentMarkRow(_OfExperiment, table=True):
    """What a judge replied when it was asked to grade an answer; `raw` is null where spoiled."""

    __tablename__ = "experiment_mark"
    author: str = Field(primary_key=True)
    framing: str = Field(primary_key=True)
    judge: str = Field(primary_key=True)
    attempt: int = Field(primary_key=True)
    raw: int | None = None
    fault: str
    reply: dict[str, Any] = Field(sa_type=Json)
