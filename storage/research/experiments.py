"""The experiment store in a SQL database: each answer and each mark is stored once."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Integer, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import SQLModel, col

from council.research.experiment import (
    Experiment,
    ExperimentAnswer,
    ExperimentState,
    GradeReply,
)
from storage.bakeoffs.bakeoffs import insert_body, run_columns, suite_and_panel, with_bodies
from storage.bakeoffs.tables import (
    ExperimentAnswerRow,
    ExperimentMarkRow,
    ExperimentRow,
)
from storage.engine import SqlStore
from storage.row_mapping import from_row, skip_invalid, translate_validation_errors, validate
from storage.tables import by_letter
from storage.transactions import (
    WriteBatcher,
    fetch_rows,
    insert,
    is_own_write,
    retried_and_shielded,
)

ANSWER = TypeAdapter(ExperimentAnswer)
MARK = TypeAdapter(GradeReply)
VERSIONS = TypeAdapter(dict[str, str])
KIND = "Experiment"


class SqlExperiments(SqlStore):
    """The experiment store on SQLite and Postgres."""

    def __init__(self, engine: AsyncEngine) -> None:
        super().__init__(engine)
        self._saves = WriteBatcher(self._save)

    @retried_and_shielded
    async def open(self, experiment: Experiment) -> bool:
        """Store a new experiment with its suite's content; return False if its id is taken."""
        async with self._write() as connection:
            versions = dict(experiment.versions)
            row = ExperimentRow(**run_columns(experiment), versions=versions)
            if not await insert(connection, [row]):
                return await is_own_write(connection, row, ("at", "asked_by", "suite_version"))
            await insert_body(connection, experiment.suite)
            return True

    @retried_and_shielded
    async def limit(self, experiment_id: str, cap_micro: int | None) -> None:
        """Set the spending cap of an experiment; None removes it."""
        statement = update(ExperimentRow).where(col(ExperimentRow.id) == experiment_id)
        await self._execute(statement.values(cap_micro=cap_micro))

    @retried_and_shielded
    async def list_recent(self) -> tuple[Experiment, ...]:
        """Return all experiments, newest first, without those that cannot be read."""
        newest_first = (col(ExperimentRow.at).desc(), by_letter(ExperimentRow.id))
        rows = await self._fetch(with_bodies(ExperimentRow).order_by(*newest_first))
        return tuple(skip_invalid(_experiment_from_row, rows))

    @retried_and_shielded
    async def load_state(self, experiment_id: str) -> ExperimentState:
        """Return the stored answers and marks of an experiment; raise StoreError if invalid."""
        async with self._read() as connection:
            answers, marks = [
                await fetch_rows(connection, _parts_query(table, experiment_id))
                for table in (ExperimentAnswerRow, ExperimentMarkRow)
            ]
        with translate_validation_errors(KIND, experiment_id):
            return ExperimentState(
                tuple(map(_answer_from_row, answers)), tuple(map(_mark_from_row, marks))
            )

    @retried_and_shielded
    async def save(self, experiment_id: str, part: ExperimentAnswer | GradeReply) -> None:
        """Store an answer or a mark unless it is stored; simultaneous saves share a transaction."""
        await self._saves.add(_part_row(experiment_id, part))

    async def _save(self, rows: Sequence[SQLModel]) -> None:
        async with self._write() as connection:
            for _, same_table in groupby(rows, key=type):
                await insert(connection, [*same_table])


def _parts_query(table: type[SQLModel], experiment_id: str) -> Any:  # noqa: ANN401
    """Return the query for an experiment's rows of a table, ordered by the primary key."""
    key = SQLModel.metadata.tables[str(table.__tablename__)].primary_key
    in_order = [c if isinstance(c.type, Integer) else by_letter(c) for c in key]
    id_: Any = key.columns["experiment_id"]
    return select(table).where(id_ == experiment_id).order_by(*in_order)


def _experiment_from_row(values: dict[str, Any]) -> Experiment:
    body = values.pop("body")
    row = ExperimentRow(**values)
    with translate_validation_errors(KIND, row.id):
        versions = validate("experiment.versions", VERSIONS.validate_python, row.versions)
        in_order = tuple(sorted(versions.items()))  # JSONB does not preserve order
        return from_row(Experiment, row, versions=in_order, **suite_and_panel(row, body))


def _part_row(experiment_id: str, part: ExperimentAnswer | GradeReply) -> SQLModel:
    values = {"experiment_id": experiment_id, **asdict(part)}
    if isinstance(part, ExperimentAnswer):
        return ExperimentAnswerRow(**values)
    cell = values.pop("cell")
    return ExperimentMarkRow(**values, **cell)


def _answer_from_row(row: dict[str, Any]) -> ExperimentAnswer:
    return validate("experiment_answer", ANSWER.validate_python, row)


def _mark_from_row(row: dict[str, Any]) -> GradeReply:
    return validate("experiment_mark", MARK.validate_python, {**row, "cell": row})
