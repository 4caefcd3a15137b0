"""Rounds in a SQL database: one transaction for each artefact, each kept at most once."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Any

from sqlalchemy import literal_column
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession
from sqlmodel import SQLModel, col, select, update

from council.ballots import Ballot
from council.errors import RoundNotFoundError
from council.ports import RoundLine
from council.rounds import Artefact, Closing, Round, Stage
from storage.faults import told_kindly
from storage.finding import PAST_ROUNDS, the_one
from storage.reading import PARTS, Parts, ballot_from, round_from
from storage.rows import BallotRow, LabelRow, RoundRow, VerdictRow
from storage.writing import artefact_rows, closing_values, round_row


class SqlStore:
    """Rounds as rows; the same on SQLite and Postgres."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def open(self, round_: Round) -> bool:
        """Keep a new round; give False if its id is kept already."""
        async with self._transaction() as session:
            return await self._insert(session, round_row(round_))

    async def save(self, round_id: str, artefact: Artefact) -> None:
        """Keep what a round has come to, once."""
        async with self._transaction() as session:
            if isinstance(artefact, Closing):
                await session.execute(_close(round_id, artefact))
                return
            for row in artefact_rows(artefact, round_id):
                await self._insert(session, row)

    async def load(self, round_id: str) -> Round:
        """Give a round with its parts in panel order."""
        async with self._transaction() as session:
            row = await session.get(RoundRow, round_id)
            if row is None:
                raise RoundNotFoundError(f"There is no round {round_id!r}.")
            found = {}
            for table in PARTS:
                rows = await session.execute(select(table).where(table.round_id == round_id))
                found[table] = rows.scalars().all()
            return round_from(row, Parts(found))

    async def find(self, start: str) -> str:
        """Give the one round id that starts so."""
        query = select(RoundRow.id).where(col(RoundRow.id).startswith(start, autoescape=True))
        async with self._transaction() as session:
            return the_one(start, (await session.execute(query)).scalars().all())

    async def recent(self, limit: int | None = None) -> tuple[RoundLine, ...]:
        """Give the stored rounds, newest first."""
        query = (
            select(RoundRow, _has(LabelRow), _has(VerdictRow))
            .order_by(col(RoundRow.asked_at).desc(), col(RoundRow.id))
            .limit(limit)
        )
        async with self._transaction() as session:
            found = (await session.execute(query)).all()
        return tuple(
            RoundLine(row.id, row.question, row.asked_at, _stage(row, drawn, ranked))
            for row, drawn, ranked in found
        )

    async def past_ballots(self, panel: str) -> tuple[Sequence[Ballot], ...]:
        """Give the counted ballots of the panel's last closed rounds."""
        last = (
            select(RoundRow.id)
            .where(RoundRow.panel_name == panel, col(RoundRow.seconds).is_not(None))
            .order_by(col(RoundRow.asked_at).desc())
            .limit(PAST_ROUNDS)
        )
        query = (
            select(BallotRow)
            .where(col(BallotRow.round_id).in_(last), BallotRow.audit == "")
            .order_by(BallotRow.round_id)
        )
        async with self._transaction() as session:
            rows = (await session.execute(query)).scalars().all()
        grouped = groupby(rows, key=lambda row: row.round_id)
        return tuple(tuple(map(ballot_from, ballots)) for _, ballots in grouped)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncSession]:
        with told_kindly():
            async with (
                AsyncSession(self._engine, expire_on_commit=False) as session,
                session.begin(),
            ):
                yield session

    async def _insert(self, session: AsyncSession, row: SQLModel) -> bool:
        """Insert a row unless its key is taken; say whether it was inserted."""
        dialect = postgresql if self._engine.dialect.name == "postgresql" else sqlite
        insert = dialect.insert(type(row)).values(**row.model_dump()).on_conflict_do_nothing()
        # Row counts differ between drivers; what is returned does not.
        inserted = await session.execute(insert.returning(literal_column("1")))
        return inserted.first() is not None


def _close(round_id: str, closing: Closing) -> Any:  # noqa: ANN401
    row = update(RoundRow).where(col(RoundRow.id) == round_id, col(RoundRow.seconds).is_(None))
    return row.values(**closing_values(closing))


def _has(table: type[LabelRow] | type[VerdictRow]) -> Any:  # noqa: ANN401
    return select(table.round_id).where(table.round_id == RoundRow.id).exists()


def _stage(row: RoundRow, drawn: bool, ranked: bool) -> Stage:
    if row.seconds is not None:
        return Stage.CLOSED
    if ranked:
        return Stage.RANKED
    return Stage.ANSWERED if drawn else Stage.OPEN
